#pragma once

#include <algorithm>
#include <cstdint>

#include "convlab/device/thread_pool.h"
#include "convlab/model/op.h"

namespace convlab {

/// Returns an element after an update. A maximum or minimum is NaN if either value is NaN.
inline float scattered(ScatterReduction reduction, float old, float update) {
  switch (reduction) {
    case ScatterReduction::none:
      return update;
    case ScatterReduction::add:
      return old + update;
    case ScatterReduction::mul:
      return old * update;
    case ScatterReduction::max:
      return old > update || old != old ? old : update;
    case ScatterReduction::min:
      return old < update || old != old ? old : update;
  }
  return update;
}

inline void copy_all(const float* from, float* to, int64_t count, ThreadPool& threads) {
  threads.parallel_for(count, 8192,
                       [&](int64_t begin, int64_t end, int) { std::copy(from + begin, from + end, to + begin); });
}

}  // namespace convlab
