#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convlab/diagnostics/finding.h"
#include "convlab/simt/launch.h"

/// Work that a GPU may not have finished: copies to and from page-locked memory, and kernels that got a pointer to
/// page-locked or managed memory. Host code must wait before it touches that memory. simt does all work when it is
/// given; this remembers what nothing has waited for. Where the rules for streams and events leave a doubt, work counts
/// as waited for.
namespace convlab::simt::internal {

/// A stream's handle; nullptr: the default stream, which waits for the others.
using Stream = const void*;

struct InFlight {
  uintptr_t base = 0;
  size_t bytes = 0;
  bool device_writes = false;    ///< otherwise it reads: host code may do so, too
  std::string what;              ///< "cudaMemcpyAsync"
  SourcePlace place = {};        ///< where it was given
  std::optional<Stream> stream;  ///< nullopt: waiting for any stream is enough
  uint64_t number = 0;           ///< in the order of work
};

/// What is given next goes to this stream.
void give_to_stream(Stream stream);

/// A copy was given that the device may not have finished.
void begin_copy(const void* host, size_t bytes, bool device_writes, std::string what, SourcePlace place);

/// A kernel was launched; for each argument that points to page-locked or managed memory, that memory is in use.
void begin_kernel(const KernelCall& call, const std::string& what, const SourcePlace& place);

/// The number of the last work that was given: an event keeps it.
uint64_t last_work();

/// The host has waited for a stream, up to this work.
void wait_for_stream(Stream stream, uint64_t last = UINT64_MAX);
void wait_for_all();

/// Another stream waits for this one: whoever waits for that one has waited for this one's work so far, too.
void join_streams(Stream stream);

/// All that nothing has waited for.
std::vector<InFlight> in_flight();

}  // namespace convlab::simt::internal
