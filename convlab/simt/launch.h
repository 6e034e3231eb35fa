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

/// The size of a grid or block along x, y and z. 64-bit, so that an extent that is too large is an error and does not
/// wrap around.
struct LaunchExtent {
  int64_t x = 1, y = 1, z = 1;
  constexpr LaunchExtent(int64_t x_ = 1, int64_t y_ = 1, int64_t z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr LaunchExtent(cuda::dim3 d) : x(d.x), y(d.y), z(d.z) {}
};

struct LaunchShape {
  LaunchExtent grid, block;
  size_t shared_bytes = 0;  ///< of dynamic shared memory
  /// Programmatic dependent launch: on a GPU that supports it, blocks may begin while the previous launch still runs.
  /// All threads of the kernel must call wait_for_launch_before() before they access what that launch reads or writes.
  /// simt runs launches one after another.
  bool early = false;
  Where where = Where::current();  ///< source location of the launch
};

// The limits that the simulated device reports: those of compute capability 9.0, without features only that chip has.
inline constexpr int kWarpSize = 32;
inline constexpr int64_t kMaxBlockThreads = 1024;
inline constexpr int64_t kMaxGridX = (int64_t{1} << 31) - 1, kMaxGridYZ = 65535;
inline constexpr int64_t kMaxBlockXY = 1024, kMaxBlockZ = 64;
inline constexpr size_t kUsualSharedBytes = 48 * 1024;  ///< default; cudaFuncSetAttribute() raises it
inline constexpr size_t kMaxSharedBytes = 227 * 1024;   ///< static and dynamic together

/// Host threads that execute blocks, including the calling thread; 0 (the default): as many as the process may run on.
/// Results that depend on the order of global atomics are reproducible only with 1.
void set_workers(int count);
int workers();

/// Sets the timeout for hangs. A launch is stuck if, for this much CPU time of a worker, no thread ends and none writes
/// to global memory that its block has not written yet. A fault then ends each worker's current thread. The default is
/// 30 seconds. Throws Error(bad_input) unless it is greater than 0 and at most a day.
void set_stuck_after(double seconds);

/// Ends running launches as if they were stuck: their faults show where. Async-signal-safe.
void end_launches();

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

/// Returns the kernels launched with more than 512 threads per block since the last call, each with its most threads. A
/// device launches such a kernel only if its registers fit.
std::map<std::string, int> take_large_blocks();

/// Returns how many blocks this process has begun: it changes while launches make progress.
int64_t blocks_begun();

/// Offset and size of one argument in the memory of all arguments.
struct ArgumentPlace {
  size_t offset, bytes;
};

/// A kernel bound to its arguments, with their types erased.
struct KernelCall {
  const void* function;                   ///< its address identifies the kernel in reports
  void (*invoke)(const void* arguments);  ///< calls the kernel once, on the stack of one CUDA thread
  const void* arguments;
  size_t argument_bytes;
  std::span<const ArgumentPlace> places;  ///< of the arguments, in order
};

/// Throws Error(bad_input) for a shape that no device can launch.
void check_launch(const LaunchShape& shape);

/// Returns why a device would not launch the kernel with this shape, or nullopt if it would. `dynamic_limit`: the limit
/// that the program set with cudaFuncSetAttribute(), if any.
std::optional<FailedCall> refused_launch(const void* kernel, const LaunchShape& shape,
                                         std::optional<size_t> dynamic_limit);

/// Runs the whole grid. Throws FaultError (see fault.h). For a shape that no device can launch, keeps a FailedCall and
/// throws Error(bad_input).
void launch_grid(const KernelCall& call, const LaunchShape& shape);

namespace internal {

template <size_t I, class T>
struct Argument {
  T value;
};

/// A kernel and its arguments. Not a tuple: reading it calls no function, so that invoke(), which passes the arguments
/// on once per thread, needs none of the instrumentation of the kernel's file.
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

  /// Zeroes the padding, so that equal arguments have equal bytes.
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

/// Returns the kernel with a copy of its arguments.
template <class... P>
internal::BoundKernel<std::index_sequence_for<P...>, P...> bind_kernel(void (*kernel)(P...),
                                                                       std::type_identity_t<P>... arguments) {
  static_assert(((std::is_trivially_copyable_v<P> && !std::is_reference_v<P>)&&...),
                "kernel parameters are passed by value, byte for byte");
  return {kernel, {{arguments}...}};
}

/// Runs the grid of a kernel from bind_kernel().
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
