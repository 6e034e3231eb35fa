#pragma once

#include <cstdint>

/// Settings of the process for all launches.
namespace convlab::simt {

/// Host threads that execute blocks, including the calling thread; 0 (the default): as many as the process may run on.
/// Results that depend on the order of global atomics are reproducible only with 1.
void set_workers(int count);
int workers();

/// How strictly kernels are checked. strict (the default): all of the following are faults. In the other modes the
/// kernel continues, as on a GPU, and they become warnings for take_notes().
///
/// usual:
///
///   - Stores that race with others but change nothing, because those store the same value, are warnings.
///   - Races between lanes of one warp that only a wmma function orders are not reported: hardware runs the lanes in
///     lockstep there.
///
/// lenient: as usual, and
///
///   - Reads of uninitialized memory are warnings. They return NaN: all bits of shared memory are set when a block
///     begins, and all bits of device memory when it is allocated. Much code reads a halo that it does not use.
///   - Barriers that some threads do not reach because they have exited are warnings: since compute capability 7.0 a
///     barrier waits only for the remaining threads.
enum class Strictness { strict, usual, lenient };
void set_strictness(Strictness strictness);

/// The order in which a launch starts its blocks, and a block runs its warps and their lanes until they wait for
/// others. A GPU may choose any. in_order (the default): by index. reverse: from the last one to the first. random: in
/// an order that the seed determines, and with one worker the whole run.
struct Schedule {
  enum class Order { in_order, reverse, random };
  Order order = Order::in_order;
  uint64_t seed = 0;
};
void set_schedule(Schedule schedule);
Schedule schedule();

namespace internal {

bool is_lenient();
bool is_strict();

}  // namespace internal
}  // namespace convlab::simt
