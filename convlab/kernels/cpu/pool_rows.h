#pragma once

#include <cstdint>

#include "convlab/conv/epilogue.h"
#include "convlab/kernels/op.h"

namespace convlab {

/// Why a step is not a pooling whose padding is known.
inline Refusal refuse_unless_pools(const OpStep& step) {
  const auto* op = std::get_if<PoolOp>(&step.op);
  if (op == nullptr) return "only MaxPool and AveragePool are supported";
  if (op->auto_pad != AutoPad::explicit_pads) return "padding must be explicit";
  return std::nullopt;
}

/// Some neighbouring rows of a map.
struct RowRange {
  int64_t first = 0, count = 0;
};

/// The rows of a map of `height` rows that the pooled rows `outputs` depend on.
RowRange rows_pooled_into(const Pool& pool, RowRange outputs, int64_t height);

/// Pools a map of `height` by `width` into the pooled rows `outputs`. `map` holds the map's rows `have`, `y` gets the
/// pooled rows, both densely. `have` must cover rows_pooled_into(pool, outputs, height). A maximum is NaN where any
/// element of its window is, and -infinity where the window lies in padding alone; averages are summed in double. The
/// vectors of maxima and the taps of averages are the same for any `have`, so that bands and whole maps give the same
/// bits.
void pool_rows(const Pool& pool, const float* map, RowRange have, int64_t height, int64_t width, RowRange outputs,
               float* y);

}  // namespace convlab
