#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/base/error.h"
#include "convlab/diagnostics/finding.h"

namespace convlab::simt {

/// What a kernel did wrong. On a GPU most of these go unnoticed until a result is wrong on another machine.
enum class FaultKind {
  out_of_bounds_global,    ///< outside every allocation that the kernel may access, or a write to a read-only one
  out_of_bounds_shared,    ///< outside the launch's shared memory, or past a dimension of a static shared array
  out_of_bounds_local,     ///< past a dimension of an array that is not shared: a local array or a constant
  misaligned,              ///< an address that is not a multiple of the access's size
  uninitialized_shared,    ///< a read of shared memory that no thread of this block has written
  uninitialized_global,    ///< a read of device memory that was never written since it was allocated
  uninitialized_constant,  ///< a read of a __constant__ variable that the host never set
  race_shared,             ///< two threads, one shared address, at least one write, no happens-before order
  race_global,             ///< likewise on global memory, in a block or between blocks
  redundant_write,         ///< a store that races but changes nothing: the others store the same value
  divergent_barrier,       ///< __syncthreads that some threads of the block do not reach, or reach at different lines
  missed_barrier,          ///< __syncthreads that the other threads pass, because the missing ones have exited
  divergent_warp,          ///< a warp-wide operation that some lanes of its mask do not reach, or reach differently
  inactive_lane,           ///< a lane calls a warp-wide operation with a mask that excludes it, or with a wrong width
  absent_source,           ///< a shuffle reads a lane that does not take part: its value is undefined
  stack_overflow,          ///< a thread's local arrays or recursion do not fit its stack
  division,                ///< an integer divided by zero, or by -1 if the quotient does not fit
  exception,               ///< a C++ exception
  processor,               ///< any other instruction that raises a signal
  stuck,                   ///< no progress for the time of set_stuck_after()
  trap,                    ///< __trap()
  assertion,               ///< an assert() that fails
  host_memory,             ///< a kernel accesses host memory that is neither page-locked nor managed
  host_access,             ///< host code accesses device memory or a device variable
  not_awaited,     ///< host code accesses memory that a copy or a kernel may still use, without having waited for it
  copy_direction,  ///< a copy whose direction does not match its pointers
  no_polynomial,   ///< over a prime field: an operation whose result is not a polynomial of the inputs
  nested_launch,   ///< a kernel launches a kernel, which simt does not support
};

/// Returns the kind of the finding: "race on shared memory".
std::string_view name_of(FaultKind kind);

/// A position in a grid or a block.
struct Position {
  unsigned x = 0, y = 0, z = 0;
  bool operator==(const Position&) const = default;
};

/// "(3,0,1)".
std::string to_text(Position position);

/// One fault, as committed by its first thread. Repeats by other threads at the same line are counted.
struct Fault {
  FaultKind kind{};
  std::string kernel;  ///< "tile_kernel<16>", without namespace and parameters
  Position block, thread;
  std::optional<Position> other_thread;  ///< the other side of a race; a thread that did not reach the barrier
  std::optional<Position> other_block;   ///< of a race between blocks
  std::string array;                     ///< name of the variable or allocation; "" if there is none
  int64_t offset = 0;                    ///< of the access from the array's start, in bytes
  int access_bytes = 0;
  bool is_write = false;
  int64_t times = 1;  ///< in this block
  Finding finding;    ///< the message
};

/// Returns "conv.cu:31", or the function and offset if there are no line tables.
std::string where(const Fault& fault);

/// Thrown by a launch if its kernel is faulty; what() is the first fault's message. The faults are those of the first
/// block, in grid order, that has any (at most kMaxFaults), so that the report does not depend on the number of
/// workers.
class FaultError : public Error {
 public:
  static constexpr int kMaxFaults = 16;
  explicit FaultError(std::vector<Fault> faults);
  const std::vector<Fault>& faults() const { return faults_; }

 private:
  std::vector<Fault> faults_;
};

/// Whether a GPU goes on after such a fault, though perhaps with wrong values: races and reads of uninitialized memory.
/// Others end the kernel: a launch then stops at the first block that has any.
bool lets_kernel_go_on(FaultKind kind);

/// For whole programs: from now on no launch throws FaultError. Launches and host code give their faults to `receive`
/// and the program goes on, and so does a kernel whose faults let it: all of its blocks run. `receive` gets a fault of
/// each kind and line, that of the first block, with the number of times.
void set_fault_receiver(void (*receive)(std::vector<Fault> faults));

/// Returns the warnings of launches since the last call (see Strictness), at most kMaxFaults. Each launch contributes
/// those of one block.
std::vector<Fault> take_notes();

namespace internal {

bool has_fault_receiver();

/// Gives the faults to the receiver; without one, throws FaultError. Does nothing if there are no faults.
void raise(std::vector<Fault> faults);

/// Keeps faults of a launch as warnings for take_notes(), as far as there is room.
bool has_room_for_notes();
void keep_notes(std::vector<Fault> faults);

}  // namespace internal
}  // namespace convlab::simt
