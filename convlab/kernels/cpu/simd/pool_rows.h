#pragma once

#include <cstdint>

#include "convlab/conv/epilogue.h"
#include "convlab/kernels/kernel.h"

namespace convlab {

/// Returns a reason unless the step is a pooling with explicit padding.
inline Refusal refuse_unless_pools(const Step& step) {
  const auto* op = std::get_if<PoolOp>(&step.op);
  if (op == nullptr) return "only MaxPool and AveragePool are supported";
  if (op->auto_pad != AutoPad::explicit_pads) return "padding must be explicit";
  return std::nullopt;
}

/// Adjacent rows of a feature map.
struct RowRange {
  int64_t first = 0, count = 0;
};

/// Returns the rows of a feature map with `height` rows that the pooled rows `outputs` depend on.
RowRange rows_pooled_into(const Pool& pool, RowRange outputs, int64_t height);

/// Pools a feature map of `height` by `width` into the pooled rows `outputs`. `map` holds the rows `have` and `y`
/// receives the pooled rows, both densely. `have` must cover rows_pooled_into(pool, outputs, height). A maximum is NaN
/// if any element of its window is, and -infinity if the window lies entirely in padding; averages are summed in
/// double. The vectors of maxima and the taps of averages do not depend on `have`, so bands and whole feature maps
/// produce the same bits.
void pool_rows(const Pool& pool, const float* map, RowRange have, int64_t height, int64_t width, RowRange outputs,
               float* y);

}  // namespace convlab
