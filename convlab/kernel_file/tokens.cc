// Splits C++ and CUDA source into tokens.

#include "convlab/kernel_file/tokens.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace convlab {
namespace {

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }
bool continues_name(char c) { return begins_name(c) || std::isdigit(static_cast<unsigned char>(c)); }

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  std::vector<Token> run() {
    bool line_is_empty = true;  // so far
    while (at_ < source_.size()) {
      const char c = source_[at_];
      if (c == '\n') {
        line_is_empty = true;
        skip(1);
      } else if (rest().starts_with("\\\n")) {
        skip(2);  // the line goes on
      } else if (std::isspace(static_cast<unsigned char>(c))) {
        skip(1);
      } else if (rest().starts_with("//")) {
        skip(line_length());
      } else if (rest().starts_with("/*")) {
        skip_through("*/", 2);
      } else if (c == '#' && line_is_empty) {
        take(Token::Kind::directive, directive_length());
      } else {
        line_is_empty = false;
        take_word(c);
      }
    }
    return std::move(tokens_);
  }

 private:
  std::string_view rest() const { return source_.substr(at_); }

  void skip(size_t count) {
    line_ += static_cast<int>(std::ranges::count(rest().substr(0, count), '\n'));
    at_ = std::min(at_ + count, source_.size());
  }

  void skip_through(std::string_view end, size_t from) {
    const size_t found = rest().find(end, from);
    skip(found == std::string_view::npos ? rest().size() : found + end.size());
  }

  void take(Token::Kind kind, size_t count) {
    tokens_.push_back({kind, rest().substr(0, count), line_});
    skip(count);
  }

  void take_word(char c) {
    if (const size_t raw = raw_literal_length(); raw > 0) {
      take(Token::Kind::literal, raw);
    } else if (begins_name(c)) {
      size_t length = 1;
      while (length < rest().size() && continues_name(rest()[length])) ++length;
      take(Token::Kind::name, length);
    } else if (std::isdigit(static_cast<unsigned char>(c))) {
      take(Token::Kind::number, number_length());
    } else if (c == '"' || c == '\'') {
      take(Token::Kind::literal, literal_length(c));
    } else {
      constexpr std::array<std::string_view, 2> kLong{"::", "->"};
      const auto sign = std::ranges::find_if(kLong, [&](std::string_view each) { return rest().starts_with(each); });
      take(Token::Kind::sign, sign == kLong.end() ? 1 : sign->size());
    }
  }

  // Up to the end of the line. A backslash continues the line, and a `//` comment is part of it.
  size_t line_length() const {
    size_t end = 0;
    while (end < rest().size() && rest()[end] != '\n') {
      end += rest()[end] == '\\' && end + 1 < rest().size() ? 2 : 1;
    }
    return end;
  }

  // Like line_length(), but a /* comment that begins on the line is part of it even if it spans several lines.
  size_t directive_length() const {
    const size_t line = line_length(), comment = rest().substr(0, line).find("/*");
    if (comment == std::string_view::npos) return line;
    const size_t end = rest().find("*/", comment + 2);
    return end == std::string_view::npos ? rest().size() : std::max(line, end + 2);
  }

  size_t number_length() const {
    size_t length = 1;
    for (; length < rest().size(); ++length) {
      const char c = rest()[length], before = rest()[length - 1];
      const bool exponent_sign = (c == '+' || c == '-') && (before == 'e' || before == 'E') && rest()[1] != 'x';
      if (!continues_name(c) && c != '.' && !exponent_sign) break;
    }
    return length;
  }

  size_t literal_length(char quote) const {
    size_t length = 1;
    while (length < rest().size() && rest()[length] != quote && rest()[length] != '\n') {
      length += rest()[length] == '\\' ? 2 : 1;
    }
    return std::min(length + 1, rest().size());
  }

  // The length of R"mark(text)mark"; 0 if there is no raw literal here.
  size_t raw_literal_length() const {
    if (!rest().starts_with("R\"")) return 0;
    constexpr size_t kMostMark = 16, kBegin = 2;
    const size_t open = rest().substr(0, kBegin + kMostMark + 1).find_first_of("( )\\\t\v\f\n");
    if (open == std::string_view::npos || rest()[open] != '(') return 0;
    const std::string end = ")" + std::string(rest().substr(kBegin, open - kBegin)) + "\"";
    const size_t found = rest().find(end, open);
    return found == std::string_view::npos ? rest().size() : found + end.size();
  }

  std::string_view source_;
  size_t at_ = 0;
  int line_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view source) { return Lexer(source).run(); }

size_t closing_bracket(const std::vector<Token>& tokens, size_t open) {
  int depth = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.kind != Token::Kind::sign) continue;
    if (token.is("(") || token.is("[") || token.is("{")) ++depth;
    if (token.is(")") || token.is("]") || token.is("}")) --depth;
    if (depth == 0) return i;
  }
  return tokens.size();
}

std::optional<std::string_view> included_header(std::string_view directive) {
  const size_t word = directive.find_first_not_of(" \t", 1);
  if (word == std::string_view::npos || !directive.substr(word).starts_with("include")) return std::nullopt;
  const size_t open = directive.find_first_of("\"<", word);
  if (open == std::string_view::npos) return std::nullopt;
  const size_t close = directive.find(directive[open] == '<' ? '>' : '"', open + 1);
  if (close == std::string_view::npos) return std::nullopt;
  return directive.substr(open + 1, close - open - 1);
}

}  // namespace convlab
