#pragma once

#include <cstdint>

#include "convlab/device/device.h"
#include "convlab/device/thread_pool.h"

namespace convlab {

/// Distributes the work items of a Launch, pieces() of them, over all threads: calls compute(piece, thread) for each.
template <class Launch>
void compute_pieces(const Launch& all, Stream& stream) {
  stream.threads()->parallel_for(all.pieces(), 1, [&all](int64_t begin, int64_t end, int thread) {
    for (int64_t piece = begin; piece < end; ++piece) all.compute(piece, thread);
  });
}

/// Kernel::launch or Kernel::launch for a Launch class that is constructed from the arguments and the number of
/// threads.
template <class Launch, class Arguments>
void launch_pieces(const Arguments& args, Stream& stream) {
  compute_pieces(Launch(args, stream.threads()->size()), stream);
}

}  // namespace convlab
