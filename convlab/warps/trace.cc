// The slow paths of a lane's trace.

#include "convlab/warps/trace.h"

namespace convlab {

uint64_t* LaneTrace::grow() {
  const ptrdiff_t used = next_ - words_.data();
  words_.resize(2 * words_.size());
  full_ = words_.data() + kMostWords;
  last_ = words_.data() + words_.size() - 1;
  return next_ = words_.data() + used;
}

// Handles a block that the lane may have reached by a new edge, or that needs more room.
bool LaneTrace::begin_block(const void* code, ControlFlow& flow) {
  flow.add(block_, code);
  block_ = code;
  put(event(EventKind::block, code));
  return next_ > full_;
}

}  // namespace convlab
