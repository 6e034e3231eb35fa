#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/base/error.h"
#include "convlab/diagnostics/finding.h"

namespace convlab::simt {

/// What a kernel did wrong. On a GPU most of these go unnoticed until a result is wrong on somebody else's machine.
enum class FaultKind {
  out_of_bounds_global,  ///< outside every allocation that the kernel may touch, or a write to a read-only one
  out_of_bounds_shared,  ///< outside the launch's shared memory, or past a dimension of a static shared array
  out_of_bounds_local,   ///< past a dimension of an array that is not shared: a thread's own, or a constant
  misaligned,            ///< an address that is no multiple of the access's size
  uninitialized_shared,  ///< a read of shared memory that nothing in this block wrote
  uninitialized_global,  ///< a read of device memory that nothing wrote since it was allocated
  race_shared,           ///< two threads, one shared address, at least one write, nothing that orders them
  race_global,           ///< likewise on global memory, of a block or of two
  redundant_write,       ///< a store that races, and changes nothing: the others store the same value
  divergent_barrier,     ///< __syncthreads that some threads of the block do not reach, or reach at different places
  divergent_warp,        ///< a warp-wide operation that some lanes of its mask do not reach, or reach differently
  inactive_lane,         ///< a shuffle reads a lane that takes no part, or a lane calls with a mask without itself
  stack_overflow,        ///< a thread's local arrays or recursion do not fit its stack
  division,              ///< an integer divided by zero, or by -1 where the result does not fit
  exception,             ///< a C++ exception
  processor,             ///< any other instruction that the processor refuses
  stuck,                 ///< no progress for as long as set_stuck_after() says
  trap,                  ///< __trap()
  assertion,             ///< an assert() that does not hold
  host_memory,           ///< a kernel touches the host's memory, which is neither page-locked nor managed
  host_access,           ///< host code touches the device's memory or one of its variables
  not_awaited,           ///< host code touches memory that a copy or a kernel may still use: nothing has waited for it
  copy_direction,        ///< a copy whose direction is not that of its pointers
};

/// The kind of its finding: "race on shared memory".
std::string_view name_of(FaultKind kind);

/// A position in a grid or a block.
struct Position {
  unsigned x = 0, y = 0, z = 0;
  bool operator==(const Position&) const = default;
};

/// "(3,0,1)".
std::string to_text(Position position);

/// One fault, by the first thread that committed it; repeats by other threads at the same line are counted.
struct Fault {
  FaultKind kind{};
  std::string kernel;  ///< "tile_kernel<16>", without namespace and parameters
  Position block, thread;
  std::optional<Position> other_thread;  ///< the other side of a race; one that did not reach the barrier
  std::optional<Position> other_block;   ///< of a race between blocks
  std::string array;                     ///< the variable's or the allocation's name; "" if there is none
  int64_t offset = 0;                    ///< of the access from the array's start, in bytes
  int access_bytes = 0;
  bool is_write = false;
  int64_t times = 1;  ///< in this block
  Finding finding;    ///< all of it in words
};

/// "conv.cu:31", or the function and offset where line tables are missing.
std::string where(const Fault& fault);

/// A launch throws this if its kernel broke the rules: what() is the first fault's message. The faults are
/// those of the first block, in the grid's order, that has any (at most kMaxFaults), so that the report is the same
/// however many workers ran.
class FaultError : public Error {
 public:
  static constexpr int kMaxFaults = 16;
  explicit FaultError(std::vector<Fault> faults);
  const std::vector<Fault>& faults() const { return faults_; }

 private:
  std::vector<Fault> faults_;
};

/// What the host code of kernel files did wrong since the last question; see watch_host_code(). Those have no kernel,
/// block or thread.
std::vector<Fault> take_host_faults();

/// FaultError of take_host_faults(), if there are any.
void throw_host_faults();

/// What launches have noted since the last question (see Strictness), at most kMaxFaults: of each launch that of one
/// block.
std::vector<Fault> take_notes();

}  // namespace convlab::simt
