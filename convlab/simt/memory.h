#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "convlab/diagnostics/finding.h"
#include "convlab/simt/ranges.h"

namespace convlab::simt {

/// Device memory on the host. A kernel may access memory that is allocated or registered here, its own stack, its
/// arguments, and the program's __constant__ and __device__ variables; any other access is reported as out of bounds.
/// All functions are thread-safe. A launch sees the memory that existed when it began.

/// Returns the most host memory, in bytes, that allocate(bytes) may use: the array itself, its initialization map, and
/// the shadow cells of the words that kernels access.
size_t host_bytes(size_t bytes);

/// Allocates device memory, aligned to 256 bytes, with a guard zone on both sides, filled with 0xff bytes (NaN as a
/// float). `name` appears in reports. A kernel's read of bytes that neither a kernel nor the functions below have
/// written is reported; host code that fills the memory itself must call mark_initialised(). Reports show `place`, the
/// line of the program's cudaMalloc(), if it is known. Throws Error(unavailable) if there is not enough memory.
void* allocate(size_t bytes, std::string_view name, const SourcePlace& place = {});

/// Releases memory from allocate(); nullptr is allowed. A later access by a kernel is out of bounds. Reports show `how`
/// ("cudaFree frees it here") at the line of `place`.
void release(void* memory, std::string_view how = "it was freed", const SourcePlace& place = {});

/// Restricts the allocation that contains these bytes: from now on kernels may access only these bytes, under this
/// name, as an array with guards around it. Addresses outside all allocations are ignored.
void narrow(const void* memory, size_t bytes, std::string_view name, RangeAccess access);

/// Returns a label at the array's cudaMalloc(); nullopt if its line is unknown.
std::optional<Label> allocation_label(const std::string& name, size_t bytes, const SourcePlace& place);

/// Marks the bytes as initialized.
void mark_initialised(const void* memory, size_t bytes);

/// Copies to device memory, and within it. A copy within device memory also copies which bytes are initialized.
void copy_to_device(void* to, const void* from, size_t bytes);
void copy_on_device(void* to, const void* from, size_t bytes);

/// Copies device memory to the host: see last_writer.h.
void copy_to_host(void* to, const void* from, size_t bytes);

/// Fills device memory with a byte.
void fill_on_device(void* memory, int byte, size_t bytes);

/// Host memory that kernels may access while this object lives, for example a test's tensor. It counts as initialized.
class RegisteredRange {
 public:
  RegisteredRange() = default;
  RegisteredRange(const void* memory, size_t bytes, std::string_view name,
                  RangeAccess access = RangeAccess::read_write);
  RegisteredRange(RegisteredRange&& other) noexcept : base_(std::exchange(other.base_, nullptr)) {}
  RegisteredRange& operator=(RegisteredRange&& other) noexcept {
    std::swap(base_, other.base_);
    return *this;
  }
  ~RegisteredRange();

 private:
  const void* base_ = nullptr;
};

/// Copies into a variable. Kernels of later launches can read it, and write it if it is __device__; `access` is
/// read_only for a __constant__ variable. `symbol_bytes` is the variable's size. Throws Error(bad_input) if offset +
/// bytes exceeds it.
void copy_to_symbol(void* symbol, size_t symbol_bytes, const void* from, size_t bytes, size_t offset,
                    RangeAccess access = RangeAccess::read_only);

}  // namespace convlab::simt
