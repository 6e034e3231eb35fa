#pragma once

#include <cstdint>

/// What an atomic operation of a kernel orders, and for which threads it is atomic.
namespace convlab::simt {

enum class AtomicScope : uint8_t { thread, block, device };

/// The default is that of CUDA's atomic functions (atomicAdd) and of volatile accesses: they acquire, and release after
/// a fence, whatever addresses the releasing and the acquiring operation have.
struct AtomicOrder {
  AtomicScope scope = AtomicScope::device;
  enum class Acquire : uint8_t { never, at_fence, now } acquire = Acquire::now;
  bool releases = false;
  bool same_address = false;  ///< acquires only what operations on this address released
};

}  // namespace convlab::simt
