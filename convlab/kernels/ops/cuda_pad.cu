// cuda.pad: pads with a constant, reflection, the edge value or repetition. Negative padding crops, before anything is
// repeated. One thread per output, grid-stride.

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/kernels/ops/strided.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMostBlocks = 65536;

struct PadShape {
  int rank = 0;
  int64_t input[kMostDimensions] = {}, output[kMostDimensions] = {};
  int64_t first[kMostDimensions] = {}, kept[kMostDimensions] = {};  // the input range that cropping keeps
  int64_t before[kMostDimensions] = {};                             // padding
  PadMode mode = PadMode::constant;
  float value = 0;
};

/// Returns the input coordinate for an output coordinate, or -1 for the constant.
__device__ int64_t source(const PadShape& shape, int dimension, int64_t coordinate) {
  const int64_t size = shape.kept[dimension], first = shape.first[dimension];
  int64_t at = coordinate - shape.before[dimension];
  if (shape.mode == PadMode::constant) return at < 0 || at >= size ? -1 : first + at;
  if (shape.mode == PadMode::edge) return first + (at < 0 ? 0 : at >= size ? size - 1 : at);
  if (shape.mode == PadMode::wrap) return first + (at % size + size) % size;
  if (size == 1) return first;
  const int64_t period = 2 * (size - 1);  // reflection repeats: 0 1 2 1 0 1 2 ...
  at = (at % period + period) % period;
  return first + (at < size ? at : period - at);
}

__global__ void __launch_bounds__(kThreads) pad_with(const float* x, float* y, int64_t count, PadShape shape) {
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  for (int64_t i = first; i < count; i += static_cast<int64_t>(gridDim.x) * kThreads) {
    int64_t rest = i, offset = 0, stride = 1;
    bool inside = true;
    for (int dimension = shape.rank - 1; dimension >= 0; --dimension) {
      const int64_t at = source(shape, dimension, rest % shape.output[dimension]);
      rest /= shape.output[dimension];
      inside = inside && at >= 0;
      offset += at * stride;
      stride *= shape.input[dimension];
    }
    y[i] = inside ? x[offset] : shape.value;
  }
}

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<PadOp>(step.op)) return "only Pad is supported";
  if (step.outputs[0].shape.size() > kMostDimensions) return "at most 8 dimensions are supported";
  return std::nullopt;
}

void launch_pad(const Args& args, Stream& stream) {
  const auto& op = std::get<PadOp>(args.step.op);
  PadShape shape{.rank = static_cast<int>(args.step.outputs[0].shape.size()), .mode = op.mode, .value = op.value};
  for (int dimension = 0; dimension < shape.rank; ++dimension) {
    shape.input[dimension] = args.step.inputs[0].shape[dimension];
    shape.output[dimension] = args.step.outputs[0].shape[dimension];
    const int64_t before = op.pads[dimension], after = op.pads[shape.rank + dimension];
    shape.before[dimension] = std::max<int64_t>(before, 0);
    shape.first[dimension] = std::max<int64_t>(-before, 0);
    shape.kept[dimension] = shape.input[dimension] - shape.first[dimension] - std::max<int64_t>(-after, 0);
  }
  const int64_t count = element_count(args.step.outputs[0].shape);
  if (count == 0) return;
  launch(pad_with, {.grid = dim3(std::min(ceil_div(count, kThreads), kMostBlocks)), .block = kThreads}, stream.native(),
         args.input(0), args.output(), count, shape);
}

const RegisterKernel registered{{
    .info = {.name = "cuda.pad",
             .device = kCompiledFor,
             .family = Family::rearrangement,
             .idea = "pads or crops: one thread per output element computes the index of its source"},
    .refuses = refuses,
    .launch = launch_pad,
}};

}  // namespace
}  // namespace convlab
