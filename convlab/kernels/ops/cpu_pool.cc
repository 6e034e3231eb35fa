// cpu.pool: computes maxima or averages of windows over the last two dimensions.
// Threads: a work item is a channel of an image. Maxima use vector code, averages are summed in double: see
// kernels/cpu/simd/pool_rows.h, shared with convolutions with fused pooling.
// A maximum is NaN if any element of its window is NaN. The maximum of a window that covers only padding is -infinity.
// Supports every case of its operator.
// Limited by memory bandwidth.

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/cpu/simd/pool_rows.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_pool {
namespace {

void launch(const Args& args, Stream& stream) {
  const Pool& pool = std::get<PoolOp>(args.step.op).pool;
  const int64_t height = args.step.inputs[0].shape[2], width = args.step.inputs[0].shape[3];
  const Shape& y = args.step.outputs[0].shape;
  stream.threads()->parallel_for(y[0] * y[1], 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t map = begin; map < end; ++map) {
      pool_rows(pool, args.input(0) + map * height * width, {0, height}, height, width, {0, y[2]},
                args.output() + map * y[2] * y[3]);
    }
  });
}

Refusal refuses(const Step& step, const DeviceCaps&) { return refuse_unless_pools(step); }

const RegisterKernel registered{{
    .info = {.name = "cpu.pool",
             .device = DeviceKind::cpu,
             .family = Family::pooling,
             .idea = "max and average pooling of rows: maxima in vectors, averages in double"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_pool
