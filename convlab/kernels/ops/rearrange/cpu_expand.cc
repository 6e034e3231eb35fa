// cpu.expand: computes Expand, which broadcasts an array as NumPy does, and Tile, which repeats any axes.
// Threads: a work item is a range of rows; see strided_copy.h.
// Supports every case of its operators.
// Limited by memory bandwidth.

#include "convlab/kernels/ops/cpu_broadcast.h"
#include "convlab/kernels/ops/strided_copy.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_expand {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<ExpandOp>(step.op) && !std::holds_alternative<TileOp>(step.op)) {
    return "only Expand and Tile are supported";
  }
  return std::nullopt;
}

void launch(const Args& args, Stream& stream) {
  const Shape& x = args.step.inputs[0].shape;
  if (const auto* op = std::get_if<TileOp>(&args.step.op)) {
    // Precede each dimension of x by one for its repeats, with stride 0.
    Shape shape;
    std::vector<int64_t> strides;
    for (size_t i = 0; i < x.size(); ++i) {
      shape.insert(shape.end(), {op->repeats[i], x[i]});
      strides.insert(strides.end(), {0, dense_strides(x)[i]});
    }
    strided_copy(args.input(0), args.output(), shape, strides, *stream.threads());
    return;
  }
  strided_copy(args.input(0), args.output(), args.step.outputs[0].shape,
               broadcast_strides(x, args.step.outputs[0].shape), *stream.threads());
}

const RegisterKernel registered{{
    .info = {.name = "cpu.expand",
             .device = DeviceKind::cpu,
             .family = Family::rearrangement,
             .idea = "broadcasts or repeats an array: copies rows with a stride of 0 along repeated dimensions"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_expand
