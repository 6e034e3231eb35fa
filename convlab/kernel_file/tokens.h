#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace convlab {

/// A word of C++ or CUDA source, as far as we need to tell what a kernel file is and where it launches kernels. A whole
/// preprocessor line is one token, comments are none.
struct Token {
  enum class Kind : uint8_t { name, number, literal, sign, directive };
  Kind kind;
  std::string_view text;  ///< a part of the source; signs have one character, except "::" and "->"
  int line;               ///< from 1

  bool is(std::string_view word) const { return text == word && kind != Kind::literal; }
};

/// The tokens of a source, in order. What does not end (a comment, a text) ends with the source. Takes time in
/// proportion to the source.
std::vector<Token> tokens_of(std::string_view source);

/// The number of the token that closes the bracket at `open`, or tokens.size() if none does.
size_t closing_bracket(const std::vector<Token>& tokens, size_t open);

/// What a preprocessor line includes: "mma.h" of `#include <mma.h>`; nullopt if it is another line.
std::optional<std::string_view> included_header(std::string_view directive);

}  // namespace convlab
