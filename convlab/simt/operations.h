#pragma once

#include <cstdint>

#include "convlab/simt/where.h"

/// What a CUDA thread may wait for, and the work that a warp does together.
namespace convlab::simt {

namespace internal {
class Worker;
}

/// `grid`: waits for all blocks of a cooperative launch.
enum class BarrierOperation : uint8_t { sync, count, all, any, grid };

enum class WarpOperation : uint8_t {
  sync,
  shuffle,  // by lane number
  shuffle_up,
  shuffle_down,
  shuffle_xor,
  vote_all,
  vote_any,
  ballot,
  active_mask,  // without a mask: returns the lanes that wait at the same source location
  add,
  smallest,
  largest,  // of signed 32-bit numbers
  unsigned_smallest,
  unsigned_largest,
  bit_and,
  bit_or,
  bit_xor,
  match_any,   // returns the lanes with the same value
  match_all,   // returns the mask if all lanes have the same value, otherwise 0
  collective,  // see CollectiveWork
};

/// The work of a whole warp, done once, with each lane's payload (nullptr for absent lanes).
using CollectiveWork = void (*)(internal::Worker&, void* const lanes[32], Where where);

}  // namespace convlab::simt
