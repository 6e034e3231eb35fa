// Splits PTX into tokens.

#include "convlab/simt/ptx/ptx_lexer.h"

#include <algorithm>
#include <cstddef>

namespace convlab::simt::ptx {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$'; }

/// Returns the length of the word at the beginning: names, dots between them and :: as in shared::cta.
size_t word_length(std::string_view text) {
  size_t length = 0;
  while (length < text.size()) {
    const char c = text[length];
    if (text.substr(length, 2) == "::") {
      length += 2;
    } else if (begins_word(c) || is_digit(c) || (c == '.' && length + 1 < text.size())) {
      ++length;
    } else {
      break;
    }
  }
  return length;
}

size_t number_length(std::string_view text) {
  size_t length = 1;
  for (; length < text.size(); ++length) {
    const char c = text[length], before = text[length - 1];
    const bool exponent_sign = (c == '+' || c == '-') && (before == 'e' || before == 'E') && text[1] != 'x' &&
                               text[1] != 'f' && text[1] != 'F' && text[1] != 'd' && text[1] != 'D';
    if (!begins_word(c) && !is_digit(c) && c != '.' && !exponent_sign) break;
  }
  return length;
}

}  // namespace

std::vector<PtxToken> ptx_tokens(std::string_view text) {
  std::vector<PtxToken> tokens;
  const auto take = [&](PtxToken::Kind kind, size_t skipped, size_t length, size_t after = 0) {
    tokens.push_back({kind, text.substr(skipped, length)});
    text.remove_prefix(std::min(skipped + length + after, text.size()));
  };
  while (!text.empty()) {
    const char c = text[0];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      text.remove_prefix(1);
    } else if (text.starts_with("//")) {
      text.remove_prefix(std::min(text.find('\n'), text.size()));
    } else if (text.starts_with("/*")) {
      const size_t end = text.find("*/");
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
    } else if (c == '%') {
      const size_t signs = std::min(text.find_first_not_of('%'), text.size());
      const std::string_view rest = text.substr(signs);
      if (rest.starts_with('[')) {
        take(PtxToken::Kind::operand, signs + 1, std::min(rest.find(']'), rest.size()) - 1, 1);
      } else if (!rest.empty() && is_digit(rest[0])) {
        take(PtxToken::Kind::operand, signs, std::min(rest.find_first_not_of("0123456789"), rest.size()));
      } else {
        take(PtxToken::Kind::word, signs, word_length(rest));
      }
    } else if (begins_word(c) || (c == '.' && text.size() > 1 && begins_word(text[1]))) {
      take(PtxToken::Kind::word, 0, word_length(text));
    } else if (is_digit(c)) {
      take(PtxToken::Kind::number, 0, number_length(text));
    } else {
      take(PtxToken::Kind::sign, 0, 1);
    }
  }
  return tokens;
}

}  // namespace convlab::simt::ptx
