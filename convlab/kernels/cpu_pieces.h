#pragma once

#include <cstdint>

#include "convlab/device/thread_pool.h"
#include "convlab/kernels/kernel.h"

namespace convlab {

/// ConvKernel::launch of a kernel whose Launch has so many pieces(), each to be given to compute(piece, thread).
template <class Launch>
void launch_pieces(const ConvArgs& args, Stream& stream) {
  const Launch all(args, stream.threads()->size());
  stream.threads()->parallel_for(all.pieces(), 1, [&all](int64_t begin, int64_t end, int thread) {
    for (int64_t piece = begin; piece < end; ++piece) all.compute(piece, thread);
  });
}

}  // namespace convlab
