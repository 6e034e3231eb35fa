#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "convlab/simt/cuda/call_errors.h"
#include "convlab/simt/cuda/memcpy_kind.h"

/// What is wrong with the arrays of a copy, a fill or a cudaFree().
namespace convlab::simt::cuda {

enum class Side {
  host,
  pinned,  ///< host memory that kernels may access
  device,
  variable,  ///< the host's variable of this name, which shadows a __device__ or __constant__ variable
  past_end
};

/// Returns where [memory, memory + bytes) is.
Side side_of(const void* memory, size_t bytes);

/// Returns the number of bytes to the end of the array at this address; SIZE_MAX outside all known arrays.
size_t bytes_inside(const void* memory);

/// Returns why a copy of this kind is not allowed; nullopt if it is.
std::optional<CallError> copy_error(const void* to, const void* from, size_t bytes, cudaMemcpyKind kind);

/// Returns why the bytes cannot be filled; nullopt if they can.
std::optional<CallError> fill_error(const void* memory, size_t bytes);

/// Returns why the device cannot access the bytes of `what`, "destination"; nullopt if it can.
std::optional<CallError> access_error(std::string_view what, const void* memory, size_t bytes, bool writes);

/// Device memory that nothing has written.
struct Unwritten {
  std::string array;
  size_t offset = 0;  ///< from the start of the array, in bytes
  std::optional<Label> allocation;
};
/// Returns the first of these bytes that nothing has written; nullopt if there are none.
std::optional<Unwritten> first_unwritten(const void* memory, size_t bytes);

/// Returns why memory that is not an allocated array cannot be freed.
CallError free_error(const void* memory);

/// Returns the error of a copy between host and device that has the opposite direction; nullopt if the direction is
/// right.
std::optional<CallError> wrong_direction(const void* to, const void* from, size_t bytes, cudaMemcpyKind kind);

/// Returns the error of a copy of `bytes` to an offset of a variable that is too small.
CallError small_variable(const void* symbol, size_t symbol_bytes, size_t bytes, size_t offset);

std::string_view name_of(cudaMemcpyKind kind);

}  // namespace convlab::simt::cuda
