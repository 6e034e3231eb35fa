#pragma once

#include <algorithm>
#include <cstdint>

#include "convlab/base/checked.h"

namespace convlab {

struct Taps {
  int64_t first, last;
};

/// One dimension of pooling: `outputs` windows over `size` elements. A window may be far larger than the elements it
/// covers, so no loop here visits taps outside.
struct PoolAxis {
  int64_t size, outputs, kernel, stride, dilation, pad_before, pad_after;

  int64_t place(int64_t output, int64_t tap) const { return output * stride + tap * dilation - pad_before; }

  /// Returns the number of taps of an output's window at indices below `end`.
  int64_t taps_below(int64_t output, int64_t end) const {
    return std::clamp<int64_t>(ceil_div(std::max<int64_t>(end - place(output, 0), 0), dilation), 0, kernel);
  }

  Taps taps_inside(int64_t output) const { return {taps_below(output, 0), taps_below(output, size)}; }

  /// Returns the number of taps of an output's window that count in an average: those inside and, if padding counts,
  /// those in the padding. Taps that ceil_mode adds beyond the padding never count.
  int64_t counted(int64_t output, bool padding_counts) const {
    if (padding_counts) return taps_below(output, size + pad_after);
    const Taps inside = taps_inside(output);
    return inside.last - inside.first;
  }

  /// Calls each(tap, first, last) for every tap that lies inside for some outputs, which are [first, last).
  template <class Each>
  void for_taps(Each each) const {
    const int64_t last_inside = taps_below(0, size);
    int64_t done = 0;
    for (int64_t output = outputs; done < last_inside;) {  // earlier outputs have later taps inside
      const Taps taps = taps_inside(--output);
      for (int64_t tap = std::max(taps.first, done); tap < taps.last; ++tap) {
        const int64_t shift = place(0, tap);
        each(tap, shift >= 0 ? 0 : ceil_div(-shift, stride), std::min(outputs, (size - 1 - shift) / stride + 1));
      }
      done = std::max(done, taps.last);
    }
  }
};

}  // namespace convlab
