// cpu.concat: concatenates its inputs along an axis.
// Threads: a work item is an output row, that is, all dimensions from the axis on.
// Supports every case of its operator.
// Limited by memory bandwidth.

#include <algorithm>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_concat {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<ConcatOp>(step.op)) return "only Concat is supported";
  return std::nullopt;
}

void launch(const Args& args, Stream& stream) {
  const Shape& shape = args.step.outputs[0].shape;
  int64_t axis = std::get<ConcatOp>(args.step.op).axis;
  if (axis < 0) axis += static_cast<int64_t>(shape.size());
  const int64_t rows = element_count(Shape(shape.begin(), shape.begin() + axis));
  if (element_count(shape) == 0) return;
  const int64_t width = element_count(shape) / rows;
  stream.threads()->parallel_for(rows, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      float* y = args.output() + row * width;
      for (size_t i = 0; i < args.inputs.size(); ++i) {
        const int64_t part = element_count(args.step.inputs[i].shape) / rows;
        y = std::copy_n(args.input(i) + row * part, part, y);
      }
    }
  });
}

const RegisterKernel registered{{
    .info = {.name = "cpu.concat",
             .device = DeviceKind::cpu,
             .family = Family::rearrangement,
             .idea = "concatenation by copying contiguous rows"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_concat
