// cpu.gather: gathers slices of an array along one axis by an array of indices.
// Threads: a work item is several slices.
// Supports every case of its operator; an index outside the axis throws Error(bad_input).
// Limited by memory bandwidth.

#include <algorithm>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/ops/rearrange/indices.h"
#include "convlab/kernels/registry.h"
#include "convlab/model/shapes.h"

namespace convlab::cpu_gather {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<GatherOp>(step.op)) return "only Gather is supported";
  return std::nullopt;
}

void launch(const Args& args, Stream& stream) {
  const Shape& x = args.step.inputs[0].shape;
  const int64_t axis = normalized_axis(std::get<GatherOp>(args.step.op).axis, std::ssize(x));
  const int64_t size = x[static_cast<size_t>(axis)], indices = element_count(args.step.inputs[1].shape);
  const int64_t inner = element_count({x.begin() + axis + 1, x.end()});
  const int64_t slices = element_count(args.step.outputs[0].shape) / inner;
  stream.threads()->parallel_for(slices, std::max<int64_t>(1, 8192 / inner), [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t place = place_of(args.input(1)[i % indices], size);
      std::copy_n(args.input(0) + (i / indices * size + place) * inner, inner, args.output() + i * inner);
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.gather",
             .device = DeviceKind::cpu,
             .family = Family::rearrangement,
             .idea = "copies whole slices that an array of indices selects along an axis"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_gather
