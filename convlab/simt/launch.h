#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "convlab/simt/failed_call.h"
#include "convlab/simt/vector_types.h"
#include "convlab/simt/where.h"

namespace convlab::simt {

/// The size of a grid or block along x, y and z; 64-bit, so that too large a product is an error, not another number.
struct LaunchExtent {
  int64_t x = 1, y = 1, z = 1;
  constexpr LaunchExtent(int64_t x_ = 1, int64_t y_ = 1, int64_t z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr LaunchExtent(cuda::dim3 d) : x(d.x), y(d.y), z(d.z) {}
};

struct LaunchShape {
  LaunchExtent grid, block;
  size_t shared_bytes = 0;  ///< of dynamic shared memory
  /// On a GPU that can, blocks may begin while the previous launch still runs: all threads of the kernel call
  /// wait_for_launch_before() before they touch what that launch reads or writes. Here launches follow each other.
  bool early = false;
  Where where = Where::current();  ///< the launch's place in the source
};

// What the device claims to be: the limits of compute capability 9.0, without what only that chip has.
inline constexpr int kWarpSize = 32;
inline constexpr int64_t kMaxBlockThreads = 1024;
inline constexpr int64_t kMaxGridX = (int64_t{1} << 31) - 1, kMaxGridYZ = 65535;
inline constexpr int64_t kMaxBlockXY = 1024, kMaxBlockZ = 64;
inline constexpr size_t kUsualSharedBytes = 48 * 1024;  ///< dynamic: what cudaFuncSetAttribute() raises
inline constexpr size_t kMaxSharedBytes = 227 * 1024;   ///< static and dynamic together

/// Threads of the host that execute blocks; 0 (the default): as many as the process may run on. The calling thread is
/// one of them. Results that depend on the order of global atomics repeat exactly only with 1.
void set_workers(int count);
int workers();

/// A launch is stuck if in so much of a worker's CPU time no thread ends and none writes to global memory that its
/// block has not written yet: a fault then ends each worker's current thread. 30 seconds unless set; Error(bad_input)
/// unless more than 0 and at most a day.
void set_stuck_after(double seconds);

/// Ends launches that run as if they were stuck: their faults say where. Safe in a signal handler.
void end_launches();

/// How strictly kernels are judged. strict (the default): what follows are faults. Otherwise the kernel goes on, as it
/// does on a GPU, and they are kept for take_notes(). usual:
///
///   - stores that race with others and change nothing, as those store the same value.
///   - nothing at all for lanes of one warp which only a wmma function orders: hardware keeps them in step there.
///
/// lenient: those, and
///
///   - reads of memory that nothing wrote. They give NaN: shared memory has all bits set when a block begins, as device
///     memory has when it is allocated. Much code reads a halo that it does not use.
///   - barriers that some threads do not reach because they have exited: since compute capability 7.0 a barrier waits
///     for the others alone.
enum class Strictness { strict, usual, lenient };
void set_strictness(Strictness strictness);

/// The kernels that were launched with more than 512 threads a block since the last question, with the most threads: a
/// device launches them only if their registers fit.
std::map<std::string, int> take_large_blocks();

/// Blocks that this process has begun so far: it changes as long as there is progress.
int64_t blocks_begun();

/// Where one argument lies in the memory of all.
struct ArgumentPlace {
  size_t offset, bytes;
};

/// A kernel bound to its arguments, without their types.
struct KernelCall {
  const void* function;                   ///< its address names it in reports
  void (*invoke)(const void* arguments);  ///< calls it once, on the stack of one CUDA thread
  const void* arguments;
  size_t argument_bytes;
  std::span<const ArgumentPlace> places;  ///< of the arguments, in order
};

/// Error(bad_input) for a shape that no device launches.
void check_launch(const LaunchShape& shape);

/// Why a device does not launch the kernel so; nullopt where it does. `dynamic_limit`: what the program has asked for
/// with cudaFuncSetAttribute(), if it has.
std::optional<FailedCall> refused_launch(const void* kernel, const LaunchShape& shape,
                                         std::optional<size_t> dynamic_limit);

/// Runs the whole grid and returns. FaultError as in fault.h. For a shape that no device launches: Error(bad_input),
/// and a FailedCall is kept.
void launch_grid(const KernelCall& call, const LaunchShape& shape);

namespace internal {

template <size_t I, class T>
struct Argument {
  T value;
};

/// A kernel and its arguments. Not a tuple: reading it calls no function, so that the function which passes the
/// arguments on, once per thread, needs none of the instrumentation of the kernel's file.
template <class Indices, class... P>
struct BoundKernel;

template <size_t... I, class... P>
struct BoundKernel<std::index_sequence<I...>, P...> {
  struct Arguments : Argument<I, P>... {};
  void (*kernel)(P...);
  Arguments arguments;

  __attribute__((no_sanitize("thread"))) static void invoke(const void* memory) {
    const BoundKernel& self = *static_cast<const BoundKernel*>(memory);
    self.kernel(static_cast<const Argument<I, P>&>(self.arguments).value...);
  }

  /// Bytes between members say nothing: they are zeros, so that equal arguments are equal bytes.
  void clear_gaps() {
#if defined(__GNUC__) && !defined(__clang__)
    (__builtin_clear_padding(&static_cast<Argument<I, P>&>(arguments).value), ...);
#endif
  }

  std::array<ArgumentPlace, sizeof...(P)> places() const {
    const char* const begin = reinterpret_cast<const char*>(this);
    return {ArgumentPlace{
        static_cast<size_t>(reinterpret_cast<const char*>(&static_cast<const Argument<I, P>&>(arguments).value) -
                            begin),
        sizeof(P)}...};
  }
};

}  // namespace internal

/// The kernel with a copy of its arguments.
template <class... P>
internal::BoundKernel<std::index_sequence_for<P...>, P...> bind_kernel(void (*kernel)(P...),
                                                                       std::type_identity_t<P>... arguments) {
  static_assert(((std::is_trivially_copyable_v<P> && !std::is_reference_v<P>)&&...),
                "kernel parameters are passed by value, byte for byte");
  return {kernel, {{arguments}...}};
}

/// Runs the grid of what bind_kernel() returned.
template <class Bound>
void launch_bound(Bound bound, const LaunchShape& shape) {
  bound.clear_gaps();
  const auto places = bound.places();
  launch_grid({reinterpret_cast<const void*>(bound.kernel), &Bound::invoke, &bound, sizeof(bound), places}, shape);
}

/// Converts the arguments to the kernel's parameter types and runs the grid.
template <class... P, class... A>
void launch_kernel(void (*kernel)(P...), const LaunchShape& shape, A&&... arguments) {
  static_assert(sizeof...(P) == sizeof...(A), "a launch needs one argument for each kernel parameter");
  launch_bound(bind_kernel(kernel, static_cast<P>(std::forward<A>(arguments))...), shape);
}

}  // namespace convlab::simt
