#pragma once

#include <cstdint>

#include "convlab/device/device.h"
#include "convlab/device/thread_pool.h"

namespace convlab {

/// Shares out a Launch's pieces() to all threads: each is given to compute(piece, thread).
template <class Launch>
void compute_pieces(const Launch& all, Stream& stream) {
  stream.threads()->parallel_for(all.pieces(), 1, [&all](int64_t begin, int64_t end, int thread) {
    for (int64_t piece = begin; piece < end; ++piece) all.compute(piece, thread);
  });
}

/// ConvKernel::launch or OpKernel::launch of a kernel with such a Launch, made of the arguments and a number of
/// threads.
template <class Launch, class Args>
void launch_pieces(const Args& args, Stream& stream) {
  compute_pieces(Launch(args, stream.threads()->size()), stream);
}

}  // namespace convlab
