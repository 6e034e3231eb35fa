#pragma once

#include <cctype>
#include <cstddef>
#include <string_view>

namespace convlab {

/// Whether this character may be part of a C++ name: a letter, a digit or '_'.
inline bool is_name_character(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Returns the offset of the name in a source text, from `from` on, where it is not part of a longer name; npos if
/// there is none.
inline size_t find_name(std::string_view text, std::string_view name, size_t from = 0) {
  for (size_t at = text.find(name, from); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    const bool is_whole =
        (at == 0 || !is_name_character(text[at - 1])) && (end == text.size() || !is_name_character(text[end]));
    if (is_whole) return at;
  }
  return std::string_view::npos;
}

}  // namespace convlab
