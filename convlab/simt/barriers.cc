// Finds the line where a barrier is missing, outside of the loops that only some threads may run.

#include "convlab/simt/barriers.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "convlab/base/names.h"
#include "convlab/simt/code_text.h"

namespace convlab::simt::internal {
namespace {

/// Returns the offset of a line's first character.
size_t begin_of_line(std::string_view text, int line) {
  size_t at = 0;
  for (; line > 1 && at < text.size(); --line) at = std::min(text.find('\n', at), text.size() - 1) + 1;
  return at;
}

/// The barrier between the iterations of the innermost loop that holds both lines.
std::string at_end_of_loop(const std::vector<LoopLines>& loops, int first, int last) {
  const auto inner = std::find_if(loops.rbegin(), loops.rend(),
                                  [&](const LoopLines& loop) { return loop.holds(first) && loop.holds(last); });
  if (inner == loops.rend()) {
    return fmt::format("add __syncthreads() after line {}, before line {} runs again", last, first);
  }
  return fmt::format("add __syncthreads() at the end of the body of the loop at line {}, before its '}}' at line {}",
                     inner->first, inner->last);
}

}  // namespace

int barrier_between(std::string_view source, int first, int last) {
  const std::string code = code_of(source);
  const size_t begin = begin_of_line(code, first + 1), end = begin_of_line(code, last);
  const size_t barrier = find_name(std::string_view(code).substr(0, end), "__syncthreads", begin);
  return barrier == std::string_view::npos ? 0 : line_of(code, barrier);
}

std::string missing_barrier(std::string_view source, int first, int last) {
  const std::vector<LoopLines> loops = loops_in(source);
  if (barrier_between(source, first, last) != 0) return at_end_of_loop(loops, first, last);
  int after = first, before = last;
  for (const LoopLines& loop : loops) {
    if (loop.holds(first) && !loop.holds(last)) after = std::max(after, loop.last);
    if (loop.holds(last) && !loop.holds(first)) before = std::min(before, loop.first);
  }
  return fmt::format("add __syncthreads() between line {} and line {}", after, before);
}

std::string exited_before_barrier(std::string_view source, int line) {
  const std::string code = code_of(source);
  const std::string_view until = std::string_view(code).substr(0, begin_of_line(code, line));
  const size_t kernel = until.rfind("__global__");
  if (kernel == std::string_view::npos || find_name(until, "return", kernel) != std::string_view::npos) {
    return "do not return before the barrier: skip the work with an if, and call __syncthreads() outside of all "
           "branches";
  }
  return "call __syncthreads() equally often in all threads: outside of branches, and of loops that some threads leave "
         "before others";
}

}  // namespace convlab::simt::internal
