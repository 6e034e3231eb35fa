#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace convlab {

/// A token of C++ or CUDA source, detailed enough to detect a kernel file's kind and its kernel launches. A whole
/// preprocessor line is one token. Comments are skipped.
struct Token {
  enum class Kind : uint8_t { name, number, literal, sign, directive };
  Kind kind;
  std::string_view text;  ///< a view into the source; signs have one character, except "::" and "->"
  int line;               ///< from 1

  bool is(std::string_view word) const { return text == word && kind != Kind::literal; }
};

/// Returns the tokens of a source, in order. An unterminated comment or literal ends at the end of the source. Linear
/// time.
std::vector<Token> tokens_of(std::string_view source);

/// Returns the index of the token that closes the bracket at `open`, or tokens.size() if it is not closed.
size_t closing_bracket(const std::vector<Token>& tokens, size_t open);

/// Returns the header that a preprocessor line includes: "mma.h" for `#include <mma.h>`; nullopt for other lines.
std::optional<std::string_view> included_header(std::string_view directive);

}  // namespace convlab
