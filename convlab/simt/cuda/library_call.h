#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "convlab/simt/cuda/stream_handles.h"
#include "convlab/simt/where.h"

/// Calls of CUDA's libraries. Their work is done on the host at submission, or becomes a node of the graph that the
/// stream is captured into. They access device memory only after checking it: what is wrong is reported as for a
/// kernel, at the call's line.
namespace convlab::simt::cuda::runtime {

/// The status codes of a library. 0 is success.
struct StatusCodes {
  int invalid = 0, unsupported = 0;
  int failed = 0;  ///< the device cannot access an array
  const char* (*name)(int status) = nullptr;
};

/// Thrown by a library's work: the call has no effect and returns the status.
struct CallRefused {
  int status = 0;
  std::string why;
};

/// One call, with the name of its function, a literal.
struct LibraryCall {
  const StatusCodes* codes = nullptr;
  std::string_view name;
  cudaStream_t stream = nullptr;
  Where where;

  CallRefused invalid(std::string why) const { return {codes->invalid, std::move(why)}; }
  CallRefused unsupported(std::string why) const { return {codes->unsupported, std::move(why)}; }

  /// Report memory that the device cannot access and bytes that nothing has written. Throw CallRefused for the first.
  /// `array` is what the library's documentation calls it: "A".
  void reads(const void* memory, size_t bytes, size_t alignment, std::string_view array) const;
  void writes(const void* memory, size_t bytes, size_t alignment, std::string_view array) const;
  /// The bytes must be within what reads() has accepted.
  void needs_values(const void* memory, size_t bytes, std::string_view array) const;

  /// Copies a value, such as a factor, from device memory.
  void copy_value(void* to, const void* from, size_t bytes, std::string_view what) const;

  /// Reports a value in device memory that the library uses on the host: "alpha".
  CallRefused on_wrong_side(std::string_view value, std::string_view help) const;

  /// Reports an index in device memory that is outside the array it is for.
  CallRefused outside(std::string why) const;

  /// Does the work. Returns its status.
  int run(std::function<void(const LibraryCall&)> work) const noexcept;
  /// Keeps the failed call and returns its status.
  int fail(const CallRefused& refused) const noexcept;
};

}  // namespace convlab::simt::cuda::runtime
