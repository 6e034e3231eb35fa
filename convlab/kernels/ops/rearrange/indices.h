#pragma once

#include <cmath>
#include <cstdint>

#include "convlab/base/error.h"

namespace convlab {

/// Returns the element that an index selects along an axis of `size` elements; negative indices count from the end.
/// Throws Error(bad_input) if it is out of range.
inline int64_t place_of(float index, int64_t size) {
  const auto limit = static_cast<float>(size);
  if (!(index >= -limit && index < limit))
    throw bad_input("index {} is out of range for an axis of {} elements", index, size);
  const auto place = static_cast<int64_t>(index);
  return place < 0 ? place + size : place;
}

}  // namespace convlab
