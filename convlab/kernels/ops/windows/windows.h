#pragma once

#include <cstdint>

#include "convlab/conv/epilogue.h"
#include "convlab/device/thread_pool.h"
#include "convlab/kernels/kernel.h"
#include "convlab/kernels/ops/windows/steps_inside.h"
#include "convlab/model/shapes.h"

namespace convlab {

/// The elements of a plane (H x W) that are inside one window.
struct Window {
  int64_t h, w;  ///< position of its first element, which may be in the padding
  Inside rows, columns;
};

/// Calls each(map, output, window) for every window over x (N C H W). `map` is the index of the plane, n * C + c, and
/// `output` the index of the window. Threads: a work item is a plane.
template <class Each>
void for_each_window(const PoolOp& op, const Step& step, ThreadPool& threads, Each each) {
  const Shape &x = step.inputs[0].shape, &y = step.outputs[0].shape;
  const Pool pool = resolved_pool(op, x);
  threads.parallel_for(y[0] * y[1], 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t map = begin; map < end; ++map) {
      for (int64_t p = 0; p < y[2]; ++p) {
        for (int64_t q = 0; q < y[3]; ++q) {
          const int64_t h = p * pool.stride_h - pool.pad_top, w = q * pool.stride_w - pool.pad_left;
          const Window window{h, w, Inside(h, pool.dilation_h, pool.kernel_h, x[2]),
                              Inside(w, pool.dilation_w, pool.kernel_w, x[3])};
          each(map, (map * y[2] + p) * y[3] + q, window);
        }
      }
    }
  });
}

}  // namespace convlab
