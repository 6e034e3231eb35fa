// Finds brackets and loops in C++ source text.

#include "convlab/simt/code_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "convlab/base/names.h"

namespace convlab::simt::internal {
namespace {

constexpr size_t kNone = std::string_view::npos;

/// Returns the end of a literal whose quotation mark is at `at`.
size_t end_of_literal(std::string_view text, size_t at) {
  const char mark = text[at];
  while (++at < text.size() && text[at] != mark && text[at] != '\n') {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

/// Returns the end of the comment, literal or directive that begins at `at`; `at` if none does.
size_t end_of_no_code(std::string_view text, size_t at) {
  const auto until = [&](std::string_view end) {
    const size_t found = text.find(end, at + 1);
    return found == kNone ? text.size() : found + (end == "\n" ? 0 : end.size());
  };
  if (text.substr(at).starts_with("//")) return until("\n");
  if (text.substr(at).starts_with("/*")) return until("*/");
  const bool is_separator = text[at] == '\'' && at > 0 && is_name_character(text[at - 1]);  // 10'000
  if (text[at] == '"' || (text[at] == '\'' && !is_separator)) return end_of_literal(text, at);
  if (text[at] != '#' || text.substr(0, at).find_last_not_of(" \t") + 1 != text.rfind('\n', at) + 1) return at;
  size_t end = text.find('\n', at);
  while (end != kNone && text[end - 1] == '\\') end = text.find('\n', end + 1);
  return std::min(end, text.size());
}

size_t skip_blanks(std::string_view code, size_t at) {
  return std::min(code.find_first_not_of(" \t\r\n", at), code.size());
}

std::string_view word_at(std::string_view code, size_t at) {
  size_t end = at;
  while (end < code.size() && is_name_character(code[end])) ++end;
  return code.substr(at, end - at);
}

size_t end_of_statement(std::string_view code, size_t at);

/// Returns the offset of the last character of what a keyword's parentheses precede; npos if there are none.
size_t end_of_controlled(std::string_view code, size_t after_keyword) {
  const size_t open = code.find('(', after_keyword);
  const size_t close = open == kNone ? kNone : closing(code, open);
  return close == kNone ? kNone : end_of_statement(code, close + 1);
}

/// Returns the offset of a statement's last character; npos if it has no end.
size_t end_of_statement(std::string_view code, size_t at) {
  at = skip_blanks(code, at);
  if (at < code.size() && code[at] == '{') return closing(code, at);
  const std::string_view word = word_at(code, at);
  if (word == "for" || word == "while" || word == "switch") return end_of_controlled(code, at);
  if (word == "do") {
    const size_t body = end_of_statement(code, at + word.size());
    return body == kNone ? kNone : code.find(';', body + 1);
  }
  if (word == "if") {
    const size_t end = end_of_controlled(code, at);
    const size_t next = end == kNone ? code.size() : skip_blanks(code, end + 1);
    return word_at(code, next) == "else" ? end_of_statement(code, next + 4) : end;
  }
  for (; at < code.size() && code[at] != ';'; ++at) {
    if (code[at] != '(' && code[at] != '{' && code[at] != '[') continue;
    at = closing(code, at);
    if (at == kNone) return kNone;
  }
  return at < code.size() ? at : kNone;
}

}  // namespace

std::string code_of(std::string_view source) {
  std::string code(source);
  for (size_t at = 0; at < source.size(); ++at) {
    const size_t end = end_of_no_code(source, at);
    if (end == at) continue;
    std::replace_if(
        code.begin() + static_cast<ptrdiff_t>(at), code.begin() + static_cast<ptrdiff_t>(end),
        [](char c) { return c != '\n'; }, ' ');
    at = end - 1;
  }
  return code;
}

size_t closing(std::string_view code, size_t open) {
  const char opens = code[open], closes = opens == '(' ? ')' : opens == '[' ? ']' : '}';
  int depth = 0;
  for (size_t at = open; at < code.size(); ++at) {
    if (code[at] == opens) ++depth;
    if (code[at] == closes && --depth == 0) return at;
  }
  return kNone;
}

int line_of(std::string_view text, size_t at) {
  return static_cast<int>(std::ranges::count(text.substr(0, at), '\n')) + 1;
}

bool updates_in_place(std::string_view line, std::string_view array) {
  const std::string code = code_of(line), name = std::string(array) + "[";
  const size_t at = code.find(name);
  if (array.empty() || at == std::string::npos || code.find(name, at + 1) != std::string::npos) return false;
  size_t after = at + name.size() - 1;
  while (after < code.size() && code[after] == '[') {
    const size_t end = closing(code, after);
    if (end == kNone) return false;
    after = code.find_first_not_of(' ', end + 1);
  }
  const std::string_view before = std::string_view(code).substr(0, at);
  const auto follows = [&](std::string_view operation) {
    return after != kNone && std::string_view(code).substr(after).starts_with(operation);
  };
  return std::ranges::any_of(std::array{"+=", "-=", "*=", "|=", "&=", "^=", "++", "--"}, follows) ||
         before.ends_with("++") || before.ends_with("--");
}

std::vector<LoopLines> loops_in(std::string_view source) {
  const std::string code = code_of(source);
  std::vector<LoopLines> loops;
  const auto add = [&](size_t at, size_t end) {
    if (end != kNone) loops.push_back({line_of(code, at), line_of(code, end)});
  };
  for (const std::string_view word : {"for", "while", "do"}) {
    for (size_t at = find_name(code, word); at != kNone; at = find_name(code, word, at + 1)) {
      add(at, word == "do" ? end_of_statement(code, at + word.size()) : end_of_controlled(code, at));
    }
  }
  std::ranges::stable_sort(loops, {}, &LoopLines::first);
  return loops;
}

}  // namespace convlab::simt::internal
