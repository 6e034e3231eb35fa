#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Reads the structure of C++ source text, as far as help for a finding needs it.
namespace convlab::simt::internal {

/// Returns the source with blanks for its comments, literals and directives: offsets and lines stay.
std::string code_of(std::string_view source);

/// Returns the offset of the bracket that closes the one at `open`; npos if there is none.
size_t closing(std::string_view code, size_t open);

/// Returns the line of the character at an offset.
int line_of(std::string_view text, size_t at);

/// Whether the line changes an element of the array and uses no other one of it: "counts[i] += 1", "++counts[i]".
bool updates_in_place(std::string_view line, std::string_view array);

/// A loop, from its first line to the last one of its body.
struct LoopLines {
  int first = 0, last = 0;
  bool holds(int line) const { return first <= line && line <= last; }
};

/// Returns the loops of a source, in the order of their beginnings.
std::vector<LoopLines> loops_in(std::string_view source);

}  // namespace convlab::simt::internal
