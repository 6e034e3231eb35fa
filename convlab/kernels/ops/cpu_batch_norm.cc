// cpu.batch_norm: computes (x - mean) * scale / sqrt(variance + epsilon) + shift per channel.
// Threads: a work item is 16 planes (a channel of an image each). The factor is computed in double and rounded once.
// Supports every case of its operator.
// Limited by memory bandwidth. Fused plans do not use it: they fold this operator into the weights before it.

#include <cmath>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_batch_norm {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<BatchNormOp>(step.op)) return "only BatchNormalization is supported";
  return std::nullopt;
}

void launch(const Args& args, Stream& stream) {
  const double epsilon = std::get<BatchNormOp>(args.step.op).epsilon;
  const float *scale = args.input(1), *shift = args.input(2), *mean = args.input(3), *variance = args.input(4);
  const Shape& shape = args.step.outputs[0].shape;
  const int64_t channels = shape[1], maps = shape[0] * channels;
  if (maps == 0) return;
  const int64_t size = element_count(shape) / maps;
  stream.threads()->parallel_for(maps, 16, [&](int64_t begin, int64_t end, int) {
    for (int64_t map = begin; map < end; ++map) {
      const int64_t c = map % channels;
      const auto factor = static_cast<float>(scale[c] / std::sqrt(static_cast<double>(variance[c]) + epsilon));
      const float* x = args.input(0) + map * size;
      float* y = args.output() + map * size;
      for (int64_t i = 0; i < size; ++i) y[i] = (x[i] - mean[c]) * factor + shift[c];
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.batch_norm",
             .device = DeviceKind::cpu,
             .family = Family::normalization,
             .idea = "scale and shift of each channel by its statistics, with one multiplication per element"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_batch_norm
