// cpu.slice: copies every n-th element of a range of each axis, forward or backward.
// Threads: a work item is a range of rows; see strided_copy.h.
// Supports every case of its operator.
// Limited by memory bandwidth.

#include "convlab/kernels/ops/strided_copy.h"
#include "convlab/kernels/registry.h"
#include "convlab/model/shapes.h"

namespace convlab::cpu_slice {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<SliceOp>(step.op)) return "only Slice is supported";
  return std::nullopt;
}

void launch(const Args& args, Stream& stream) {
  const Shape& x = args.step.inputs[0].shape;
  const std::vector<SliceRange> ranges = slice_ranges(std::get<SliceOp>(args.step.op), x);
  std::vector<int64_t> strides = dense_strides(x);
  int64_t first = 0;
  for (size_t i = 0; i < strides.size(); ++i) {
    first += ranges[i].start * strides[i];
    strides[i] *= ranges[i].step;
  }
  strided_copy(args.input(0) + first, args.output(), args.step.outputs[0].shape, strides, *stream.threads());
}

const RegisterKernel registered{{
    .info = {.name = "cpu.slice",
             .device = DeviceKind::cpu,
             .family = Family::rearrangement,
             .idea = "copies ranges of each axis with strides, forward or backward"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_slice
