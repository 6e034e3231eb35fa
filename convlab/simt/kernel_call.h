#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "convlab/simt/vector_types.h"
#include "convlab/simt/where.h"

/// What a launch is: a kernel with its arguments, the shape of its grid, and the limits of the simulated device.
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
  /// All blocks run at once and may wait for each other: see grid_barrier.h.
  bool cooperative = false;
  Where where = Where::current();  ///< source location of the launch
};

// The limits that the simulated device reports: those of compute capability 9.0, without features only that chip has.
inline constexpr int kWarpSize = 32;
inline constexpr int64_t kMaxBlockThreads = 1024;
inline constexpr int64_t kMaxGridX = (int64_t{1} << 31) - 1, kMaxGridYZ = 65535;
inline constexpr int64_t kMaxBlockXY = 1024, kMaxBlockZ = 64;
inline constexpr size_t kUsualSharedBytes = 48 * 1024;  ///< default; cudaFuncSetAttribute() raises it
inline constexpr size_t kMaxSharedBytes = 227 * 1024;   ///< static and dynamic together

/// Offset and size of one argument in the memory of all arguments.
struct ArgumentPlace {
  size_t offset, bytes;
};

/// A kernel bound to its arguments, with their types erased.
struct KernelCall {
  const void* function;                   ///< its address identifies the kernel in reports
  void (*invoke)(const void* arguments);  ///< calls the kernel, on the stack of one CUDA thread: see thread_run.h
  const void* arguments;
  size_t argument_bytes;
  std::span<const ArgumentPlace> places;  ///< of the arguments, in order
};

namespace internal {

/// Whether the type takes the place of float in kernels that are compiled over a prime field: see field_element.h.
template <class T>
inline constexpr bool kStandsForFloat = false;

/// Calls use(argument, value) for each 8-byte word of each argument that may be a pointer. Arguments may be structs
/// that contain pointers.
template <class Use>
void for_each_word(const KernelCall& call, const Use& use) {
  for (size_t argument = 0; argument < call.places.size(); ++argument) {
    const ArgumentPlace& place = call.places[argument];
    for (size_t at = place.offset; at + sizeof(uintptr_t) <= place.offset + place.bytes; at += sizeof(uintptr_t)) {
      uintptr_t value;
      std::memcpy(&value, static_cast<const char*>(call.arguments) + at, sizeof(value));
      use(argument, value);
    }
  }
}

}  // namespace internal
}  // namespace convlab::simt
