#pragma once

#include <string>
#include <string_view>

/// Says where a kernel's source lacks a barrier.
namespace convlab::simt::internal {

/// Returns the first line with a barrier between two lines of a source; 0 if there is none.
int barrier_between(std::string_view source, int first, int last);

/// Returns where to add the barrier that separates accesses at two lines, first < last, of a source. If the source has
/// one between them, the accesses are of different iterations of a loop.
std::string missing_barrier(std::string_view source, int first, int last);

/// Returns what to do about threads that have exited before the barrier at this line.
std::string exited_before_barrier(std::string_view source, int line);

}  // namespace convlab::simt::internal
