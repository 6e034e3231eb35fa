// cpu.scatter_elements: copies an array and replaces or updates elements whose positions along one axis are indices.
// Threads: a work item is 16 lines of indices along the axis. No two lines update the same element; within a line,
// updates are applied in order.
// Supports every case of its operator; an index outside the axis throws Error(bad_input).
// Limited by memory bandwidth.

#include "convlab/kernels/ops/rearrange/indices.h"
#include "convlab/kernels/ops/rearrange/scatter.h"
#include "convlab/kernels/ops/strided_copy.h"
#include "convlab/kernels/registry.h"
#include "convlab/model/shapes.h"

namespace convlab::cpu_scatter_elements {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<ScatterElementsOp>(step.op)) return "only ScatterElements is supported";
  return std::nullopt;
}

void launch(const Args& args, Stream& stream) {
  const auto& op = std::get<ScatterElementsOp>(args.step.op);
  const Shape &x = args.step.outputs[0].shape, &indices = args.step.inputs[1].shape;
  copy_all(args.input(0), args.output(), element_count(x), *stream.threads());
  const auto axis = static_cast<size_t>(normalized_axis(op.axis, std::ssize(x)));
  const std::vector<int64_t> x_strides = dense_strides(x), strides = dense_strides(indices);
  const int64_t count = indices[axis];
  if (element_count(indices) == 0) return;
  stream.threads()->parallel_for(element_count(indices) / count, 16, [&](int64_t begin, int64_t end, int) {
    for (int64_t line = begin; line < end; ++line) {
      int64_t from = 0, to = 0, rest = line;
      for (size_t i = x.size(); i-- > 0;) {
        if (i == axis) continue;
        from += rest % indices[i] * strides[i];
        to += rest % indices[i] * x_strides[i];
        rest /= indices[i];
      }
      for (int64_t i = 0; i < count; ++i, from += strides[axis]) {
        float& element = args.output()[to + place_of(args.input(1)[from], x[axis]) * x_strides[axis]];
        element = scattered(op.reduction, element, args.input(2)[from]);
      }
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.scatter_elements",
             .device = DeviceKind::cpu,
             .family = Family::rearrangement,
             .idea = "copies an array, then updates single elements line by line, so that no two threads share one"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_scatter_elements
