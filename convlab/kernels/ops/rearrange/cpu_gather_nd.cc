// cpu.gather_nd: gathers slices of an array, each selected by a tuple of indices.
// Threads: a work item is several slices.
// Supports every case of its operator; an index outside its axis throws Error(bad_input).
// Limited by memory bandwidth.

#include <algorithm>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/ops/rearrange/indices.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_gather_nd {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<GatherNdOp>(step.op)) return "only GatherND is supported";
  return std::nullopt;
}

void launch(const Args& args, Stream& stream) {
  const Shape &x = args.step.inputs[0].shape, &indices = args.step.inputs[1].shape;
  const int64_t batch = std::get<GatherNdOp>(args.step.op).batch_dims, length = indices.back();
  const int64_t inner = element_count({x.begin() + batch + length, x.end()});
  const int64_t tuples = element_count(indices) / length;
  const int64_t in_batch = tuples / element_count({x.begin(), x.begin() + batch});
  const int64_t batch_size = element_count({x.begin() + batch, x.end()});
  stream.threads()->parallel_for(tuples, std::max<int64_t>(1, 8192 / inner), [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t slice = 0;
      for (int64_t j = 0; j < length; ++j) {
        const int64_t size = x[static_cast<size_t>(batch + j)];
        slice = slice * size + place_of(args.input(1)[i * length + j], size);
      }
      std::copy_n(args.input(0) + i / in_batch * batch_size + slice * inner, inner, args.output() + i * inner);
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.gather_nd",
             .device = DeviceKind::cpu,
             .family = Family::rearrangement,
             .idea = "copies whole slices, each selected by a tuple of indices"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_gather_nd
