#pragma once

#include <cstddef>
#include <cstdint>

/// CUDA's conversions between generic addresses, which pointers are, and those of a memory space. Addresses in shared
/// memory have 32 bits, as on a GPU, so that programs may keep them in an int for inline PTX; they are those of the
/// running block. Other spaces have the generic addresses. As with CUDA, pointers into another space have no meaningful
/// result; here it is an address that no access accepts.
namespace convlab::simt {

/// Returns the address in the window of shared memory; 0 for a pointer into other memory.
uint32_t shared_address_of(const void* pointer) noexcept;

/// Returns the pointer for an address in the window; nullptr if it is outside.
void* shared_pointer_at(uint64_t address) noexcept;

namespace cuda {

inline size_t __cvta_generic_to_shared(const void* pointer) { return shared_address_of(pointer); }
inline void* __cvta_shared_to_generic(size_t address) { return shared_pointer_at(address); }
inline size_t __cvta_generic_to_global(const void* pointer) { return reinterpret_cast<size_t>(pointer); }
inline size_t __cvta_generic_to_local(const void* pointer) { return reinterpret_cast<size_t>(pointer); }
inline size_t __cvta_generic_to_constant(const void* pointer) { return reinterpret_cast<size_t>(pointer); }
inline void* __cvta_global_to_generic(size_t address) { return reinterpret_cast<void*>(address); }
inline void* __cvta_local_to_generic(size_t address) { return reinterpret_cast<void*>(address); }
inline void* __cvta_constant_to_generic(size_t address) { return reinterpret_cast<void*>(address); }

}  // namespace cuda
}  // namespace convlab::simt
