// Finds the brace of a source that has no counterpart.

#include "convlab/kernel_file/braces.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "convlab/diagnostics/compiler_output.h"
#include "convlab/kernel_file/tokens.h"

namespace convlab {
namespace {

/// Whether the token is this sign: a literal may have the same text.
bool is_sign(const Token& token, std::string_view sign) { return token.kind == Token::Kind::sign && token.is(sign); }

class BraceSearch {
 public:
  BraceSearch(std::string_view source, const std::string& path)
      : source_(source), path_(path), tokens_(tokens_of(source)) {}

  std::optional<Finding> run() {
    for (const Token& token : tokens_) take(token);
    if (extra_ != nullptr) return mismatch_ && !mismatch_->ends_early ? misplaced_end() : extra_end(*extra_);
    if (open_.empty()) return std::nullopt;
    return mismatch_ && mismatch_->ends_early ? ended_by_another() : never_closed(*open_.back().brace);
  }

 private:
  struct Open {
    const Token* brace;
    const Token* statement;  ///< the first token of its statement: `for`
    int parentheses;         ///< open ones of the statement
  };
  struct Mismatch {
    Open open;
    const Token* end;
    const Token* outer;  ///< the statement that is indented like the end; nullptr if there is none
    bool ends_early;     ///< the end is indented less than the beginning
  };

  void take(const Token& token) {
    if (token.kind == Token::Kind::directive) {
      take_directive(token);
    } else if (is_sign(token, "{")) {
      open_.push_back({&token, statement_ != nullptr ? statement_ : &token, parentheses_});
      statement_ = nullptr;
      parentheses_ = 0;
    } else if (is_sign(token, "}")) {
      statement_ = nullptr;
      close(token);
    } else if (is_sign(token, ";") && parentheses_ == 0) {
      statement_ = nullptr;
    } else {
      if (statement_ == nullptr) statement_ = &token;
      if (is_sign(token, "(")) ++parentheses_;
      if (is_sign(token, ")")) --parentheses_;
    }
  }

  void take_directive(const Token& directive) {
    const std::vector<Token> words = tokens_of(directive.text.substr(1));
    if (words.empty()) return;
    const std::string_view word = words.front().text;
    if (word.starts_with("if")) {
      branches_.push_back(open_);
    } else if (word.starts_with("el") && !branches_.empty()) {
      open_ = branches_.back();
    } else if (word == "endif" && !branches_.empty()) {
      branches_.pop_back();
    }
  }

  void close(const Token& end) {
    if (open_.empty()) {
      if (extra_ == nullptr) extra_ = &end;
      return;
    }
    const Open open = open_.back();
    open_.pop_back();
    parentheses_ = open.parentheses;
    if (mismatch_ || !is_first_of_line(end) || end.line == open.brace->line) return;
    const size_t indentation = indentation_of(end), begin = indentation_of(*open.statement);
    const bool fits =
        indentation == begin || (is_first_of_line(*open.brace) && indentation == indentation_of(*open.brace));
    if (fits) return;
    const auto outer = std::find_if(open_.rbegin(), open_.rend(),
                                    [&](const Open& each) { return indentation_of(*each.statement) == indentation; });
    mismatch_ = {open, &end, outer != open_.rend() ? outer->statement : nullptr, indentation < begin};
  }

  std::string_view before(const Token& token) const {
    const auto at = static_cast<size_t>(token.text.data() - source_.data());
    const size_t line = source_.rfind('\n', at);
    const size_t begin = line == std::string_view::npos || at == 0 ? 0 : line + 1;
    return source_.substr(begin, at - begin);
  }
  bool is_first_of_line(const Token& token) const {
    return before(token).find_first_not_of(" \t") == std::string_view::npos;
  }
  size_t indentation_of(const Token& token) const {
    constexpr size_t kTab = 4;
    size_t columns = 0;
    for (const char c : before(token)) {
      if (c != ' ' && c != '\t') break;
      columns += c == '\t' ? kTab - columns % kTab : 1;
    }
    return columns;
  }

  Label at(const Token& token, std::string text) const {
    return {.place = {path_, token.line, static_cast<int>(before(token).size()) + 1}, .text = std::move(text)};
  }
  Finding finding(std::string text, std::vector<Label> labels, std::string help) const {
    return {.kind = std::string(kCompileError),
            .text = std::move(text),
            .labels = std::move(labels),
            .help = std::move(help)};
  }
  static std::string unclosed(const Token& begin) {
    return fmt::format("'{{' at line {} has no matching '}}'", begin.line);
  }
  static std::string unopened(const Token& end) {
    return fmt::format("'}}' at line {} has no matching '{{'", end.line);
  }

  Finding never_closed(const Token& begin) const {
    return finding(unclosed(begin), {at(begin, "no '}' closes it before the end of the file")},
                   "add '}' at the end of its block");
  }
  Finding ended_by_another() const {
    const Token& begin = *mismatch_->open.brace;
    std::string text = "this '}' closes it, but has less indentation";
    if (mismatch_->outer != nullptr) {
      text = fmt::format("this '}}' closes it, but is indented like line {}", mismatch_->outer->line);
    }
    return finding(unclosed(begin), {at(begin, "it opens a block"), at(*mismatch_->end, std::move(text))},
                   fmt::format("add '}}' before line {}", line_after(mismatch_->open)));
  }
  /// Returns the first line after the block, judging by its indentation.
  int line_after(const Open& open) const {
    const auto after = std::ranges::find_if(tokens_, [&](const Token& each) {
      return each.line > open.brace->line && each.kind != Token::Kind::directive && is_first_of_line(each) &&
             indentation_of(each) <= indentation_of(*open.statement);
    });
    return after != tokens_.end() ? after->line : mismatch_->end->line;
  }
  Finding extra_end(const Token& end) const {
    return finding(unopened(end), {at(end, "all blocks are closed before it")}, "remove it, or add the missing '{'");
  }
  Finding misplaced_end() const {
    return finding(unopened(*mismatch_->end),
                   {at(*mismatch_->end, "it has more indentation than the block that it closes"),
                    at(*mismatch_->open.brace, "it closes this block")},
                   "remove it, or add the missing '{'");
  }

  std::string_view source_;
  const std::string& path_;
  std::vector<Token> tokens_;
  std::vector<Open> open_;
  std::vector<std::vector<Open>> branches_;  ///< what was open before each `#if`
  const Token* statement_ = nullptr;
  int parentheses_ = 0;
  const Token* extra_ = nullptr;  ///< the first '}' outside of all blocks
  std::optional<Mismatch> mismatch_;
};

}  // namespace

std::optional<Finding> unbalanced_brace(std::string_view source, const std::string& path) {
  return BraceSearch(source, path).run();
}

}  // namespace convlab
