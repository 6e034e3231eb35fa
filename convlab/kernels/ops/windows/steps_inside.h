#pragma once

#include <algorithm>
#include <cstdint>

#include "convlab/base/checked.h"

namespace convlab {

/// The steps i, first <= i < last, of [0, count) for which start + i * step is in [0, size).
struct Inside {
  int64_t first, last;

  Inside(int64_t start, int64_t step, int64_t count, int64_t size) {
    first = std::min(start < 0 ? ceil_div(-start, step) : 0, count);
    last = start < size ? std::clamp(ceil_div(size - start, step), first, count) : first;
  }
};

}  // namespace convlab
