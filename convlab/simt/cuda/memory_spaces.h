#pragma once

/// CUDA's questions about the memory that an address belongs to. On the host and for a null pointer the answer is no.
namespace convlab::simt {

enum class AddressSpace : unsigned char { none, global, shared, constant, local };
[[gnu::pure]] AddressSpace space_of(const void* address) noexcept;

namespace cuda {

inline unsigned __isGlobal(const void* p) { return space_of(p) == AddressSpace::global; }
inline unsigned __isShared(const void* p) { return space_of(p) == AddressSpace::shared; }
inline unsigned __isConstant(const void* p) { return space_of(p) == AddressSpace::constant; }
inline unsigned __isLocal(const void* p) { return space_of(p) == AddressSpace::local; }

}  // namespace cuda
}  // namespace convlab::simt
