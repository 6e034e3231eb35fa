#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convlab/diagnostics/finding.h"
#include "convlab/simt/kernel_call.h"

/// Work that a GPU may not have finished: copies to and from page-locked memory, and kernels with a pointer to
/// page-locked or managed memory. Host code must wait before it accesses that memory. simt does all work at submission;
/// this records what the host has not waited for. If the rules for streams and events are ambiguous, work counts as
/// waited for.
namespace convlab::simt::internal {

/// A stream's handle; nullptr: the default stream, which waits for the others.
using Stream = const void*;

struct InFlight {
  uintptr_t base = 0;
  size_t bytes = 0;
  bool device_writes = false;    ///< otherwise it reads: then host code may read, too
  std::string what;              ///< "cudaMemcpyAsync"
  SourcePlace place = {};        ///< where it was submitted
  std::optional<Stream> stream;  ///< nullopt: waiting for any stream is enough
  uint64_t number = 0;           ///< position in the order of submission
};

/// Sets the stream of the work that follows.
void give_to_stream(Stream stream);

/// Records a copy that the device may not have finished.
void begin_copy(const void* host, size_t bytes, bool device_writes, std::string what, SourcePlace place);

/// Records a kernel launch: memory is in use if an argument points to it and it is page-locked or managed.
void begin_kernel(const KernelCall& call, const std::string& what, const SourcePlace& place);

/// Returns the number of the last submitted work; an event stores it.
uint64_t last_work();

/// Records that the host has waited for a stream, up to work number `last`.
void wait_for_stream(Stream stream, uint64_t last = UINT64_MAX);
void wait_for_all();

/// Records that another stream waits for this one: waiting for that one then includes this one's work so far.
void join_streams(Stream stream);

/// Returns all work that the host has not waited for.
std::vector<InFlight> in_flight();

}  // namespace convlab::simt::internal
