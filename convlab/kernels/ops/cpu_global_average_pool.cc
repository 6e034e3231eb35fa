// cpu.global_average_pool: computes the mean of each channel of each image, over all dimensions after the second.
// Threads: a work item is 16 planes (a channel of an image each). Sums are in double, in order.
// Supports every case of its operator.
// Limited by memory bandwidth, or by the latency of one double addition per element.

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_global_average_pool {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<GlobalAveragePoolOp>(step.op)) return "only GlobalAveragePool is supported";
  return std::nullopt;
}

void launch(const Args& args, Stream& stream) {
  const int64_t maps = element_count(args.step.outputs[0].shape);
  if (maps == 0) return;
  const int64_t size = element_count(args.step.inputs[0].shape) / maps;
  stream.threads()->parallel_for(maps, 16, [&](int64_t begin, int64_t end, int) {
    for (int64_t map = begin; map < end; ++map) {
      double sum = 0;
      for (int64_t i = 0; i < size; ++i) sum += args.input(0)[map * size + i];
      args.output()[map] = static_cast<float>(sum / static_cast<double>(size));
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.global_average_pool",
             .device = DeviceKind::cpu,
             .family = Family::pooling,
             .idea = "mean of each channel of an image, summed in double"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_global_average_pool
