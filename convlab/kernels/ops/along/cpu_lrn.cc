// cpu.lrn: computes local response normalization: divides each element by a power of the sum of squares over adjacent
// channels.
// Threads: a work item is kPixels pixels of one channel; squares are summed in double.
// Supports every case of its operator.
// Limited by pow().

#include <algorithm>
#include <cmath>

#include "convlab/base/checked.h"
#include "convlab/device/thread_pool.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_lrn {
namespace {

constexpr int64_t kPixels = 256;

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<LrnOp>(step.op)) return "only LRN is supported";
  return std::nullopt;
}

void launch(const Args& args, Stream& stream) {
  const auto& op = std::get<LrnOp>(args.step.op);
  const Shape& shape = args.step.outputs[0].shape;
  const int64_t channels = shape[1], maps = shape[0] * channels, pixels = element_count(shape) / maps;
  const int64_t pieces = ceil_div(pixels, kPixels);
  const int64_t before = (op.size - 1) / 2, after = op.size - 1 - before;
  const double factor = static_cast<double>(op.alpha) / static_cast<double>(op.size);
  stream.threads()->parallel_for(maps * pieces, 4, [&](int64_t begin, int64_t end, int) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t map = piece / pieces, channel = map % channels;
      const int64_t first = piece % pieces * kPixels, count = std::min(kPixels, pixels - first);
      double squares[kPixels] = {};
      const int64_t last = std::min(channel + after, channels - 1);
      for (int64_t other = std::max<int64_t>(channel - before, 0); other <= last; ++other) {
        const float* x = args.input(0) + (map - channel + other) * pixels + first;
        for (int64_t i = 0; i < count; ++i) squares[i] += static_cast<double>(x[i]) * x[i];
      }
      const float* x = args.input(0) + map * pixels + first;
      float* y = args.output() + map * pixels + first;
      for (int64_t i = 0; i < count; ++i) {
        y[i] = static_cast<float>(x[i] / std::pow(op.bias + factor * squares[i], static_cast<double>(op.beta)));
      }
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.lrn",
             .device = DeviceKind::cpu,
             .family = Family::normalization,
             .idea =
                 "divides each element by a power of the sum of squares over adjacent channels, 256 pixels at a time"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_lrn
