// cpu.depth_to_space: computes DepthToSpace and SpaceToDepth, which are transpositions of six-dimensional arrays.
// Threads: a work item is a range of rows; see strided_copy.h.
// Supports every case of its operators.
// Limited by memory bandwidth, and by cache lines that contribute only some elements.

#include "convlab/kernels/ops/strided_copy.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_depth_to_space {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<DepthToSpaceOp>(step.op) && !std::holds_alternative<SpaceToDepthOp>(step.op)) {
    return "only DepthToSpace and SpaceToDepth are supported";
  }
  return std::nullopt;
}

/// Transposes the input, seen as an array of shape `from`, to the dimension order `order`.
void transpose(const Args& args, const Shape& from, const std::vector<size_t>& order, ThreadPool& threads) {
  const std::vector<int64_t> dense = dense_strides(from);
  Shape shape;
  std::vector<int64_t> strides;
  for (size_t axis : order) {
    shape.push_back(from[axis]);
    strides.push_back(dense[axis]);
  }
  strided_copy(args.input(0), args.output(), shape, strides, threads);
}

void launch(const Args& args, Stream& stream) {
  const Shape &x = args.step.inputs[0].shape, &y = args.step.outputs[0].shape;
  ThreadPool& threads = *stream.threads();
  if (const auto* op = std::get_if<DepthToSpaceOp>(&args.step.op)) {
    const int64_t block = op->block;
    if (op->columns_rows_depth) {
      transpose(args, {x[0], y[1], block, block, x[2], x[3]}, {0, 1, 4, 2, 5, 3}, threads);
    } else {
      transpose(args, {x[0], block, block, y[1], x[2], x[3]}, {0, 3, 4, 1, 5, 2}, threads);
    }
    return;
  }
  const int64_t block = std::get<SpaceToDepthOp>(args.step.op).block;
  transpose(args, {x[0], x[1], y[2], block, y[3], block}, {0, 3, 5, 1, 2, 4}, threads);
}

const RegisterKernel registered{{
    .info = {.name = "cpu.depth_to_space",
             .device = DeviceKind::cpu,
             .family = Family::rearrangement,
             .idea = "DepthToSpace and SpaceToDepth as transpositions of six-dimensional arrays"},
    .refuses = refuses,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_depth_to_space
