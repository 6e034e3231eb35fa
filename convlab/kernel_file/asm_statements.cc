// Turns asm statements with PTX into calls of simt's interpreter.

#include "convlab/kernel_file/asm_statements.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace convlab {
namespace {

using Tokens = std::vector<Token>;

constexpr std::string_view kSpaces = " \t\r\n";

struct AsmOperand {
  size_t name = 0;                        ///< the token after [; 0 if it has no name
  size_t constraint = 0, expression = 0;  ///< first tokens; the expression's is its bracket
};

struct AsmStatement {
  size_t keyword = 0, open = 0, close = 0;
  size_t text_end = 0;  ///< the token after the text
  std::vector<AsmOperand> operands;
  std::vector<size_t> dropped;  ///< tokens without a meaning in the call
};

bool is_asm(const Token& token) { return token.is("asm") || token.is("__asm__") || token.is("__asm"); }

/// Returns whether a string literal's characters, without escapes that are spaces, end in a semicolon or a brace.
bool ends_statement(std::string_view literal) {
  const size_t quote = literal.rfind('"');
  std::string_view text = literal.substr(0, quote == std::string_view::npos ? literal.size() : quote);
  if (literal.starts_with("R\"")) text = literal.substr(0, literal.rfind(')'));
  while (!text.empty()) {
    if (kSpaces.find(text.back()) != std::string_view::npos) {
      text.remove_suffix(1);
    } else if (text.ends_with("\\n") || text.ends_with("\\t") || text.ends_with("\\r")) {
      text.remove_suffix(2);
    } else {
      break;
    }
  }
  return text.ends_with(';') || text.ends_with('}') || text.ends_with("*/");
}

/// Whether the constraint's letters are those of inline PTX: macros may be. "=a" and "m" are of other assemblers.
bool is_of_ptx(const Tokens& tokens, const AsmOperand& operand) {
  for (size_t i = operand.constraint; i < operand.expression; ++i) {
    if (tokens[i].kind != Token::Kind::literal) continue;
    if (tokens[i].text.find_first_not_of("\"=+&%hrlfdnq ") != std::string_view::npos) return false;
  }
  return operand.constraint < operand.expression;
}

/// Reads [name] "constraint" (expression) from `at`. Returns the token after it, or `end` if it is something else.
size_t read_operand(const Tokens& tokens, size_t at, size_t end, AsmStatement& statement) {
  AsmOperand operand;
  if (tokens[at].is("[") && at + 2 < end && tokens[at + 2].is("]")) {
    operand.name = at + 1;
    at += 3;
  }
  operand.constraint = at;
  while (at < end && !tokens[at].is("(") && !tokens[at].is(",")) ++at;
  // A macro's arguments may come before the expression.
  size_t close = at < end && tokens[at].is("(") ? closing_bracket(tokens, at) : end;
  while (close + 1 < end && tokens[close + 1].is("(")) {
    at = close + 1;
    close = closing_bracket(tokens, at);
  }
  if (close >= end) return end;
  operand.expression = at;
  statement.operands.push_back(operand);
  return close + 1;
}

/// Reads what is between the brackets. Returns false if it is not a statement with PTX.
bool read_parts(const Tokens& tokens, AsmStatement& statement) {
  size_t at = statement.open + 1;
  int depth = 0;
  while (at < statement.close && !(depth == 0 && (tokens[at].is(":") || tokens[at].is("::")))) {
    depth += tokens[at].is("(") ? 1 : tokens[at].is(")") ? -1 : 0;
    ++at;
  }
  statement.text_end = at;
  if (at == statement.open + 1) return false;
  const Token& last = tokens[at - 1];
  if (last.kind == Token::Kind::literal && !ends_statement(last.text)) return false;
  int section = 0;  // 1: outputs, 2: inputs, 3: clobbers
  while (at < statement.close) {
    const Token& token = tokens[at];
    if (token.is(":") || token.is("::") || token.is(",")) {
      section += token.is(":") ? 1 : token.is("::") ? 2 : 0;
      statement.dropped.push_back(at++);
    } else if (section >= 3) {
      statement.dropped.push_back(at++);
    } else {
      const size_t after = read_operand(tokens, at, statement.close, statement);
      if (after == statement.close && statement.operands.empty()) return false;
      if (!is_of_ptx(tokens, statement.operands.back())) return false;
      at = after;
    }
  }
  return true;
}

void rewrite(const Tokens& tokens, const AsmStatement& statement, std::vector<Rewrite>& rewrites) {
  const auto insert_before = [&](size_t at, std::string what) {
    rewrites.push_back({tokens[at].text.substr(0, 0), std::move(what)});
  };
  const auto replace = [&](size_t at, std::string by) { rewrites.push_back({tokens[at].text, std::move(by)}); };
  replace(statement.keyword, "::convlab::simt::ptx::Statement");
  for (size_t i = statement.keyword + 1; i < statement.open; ++i) replace(i, "");
  replace(statement.open, "<");
  for (const size_t each : statement.dropped) replace(each, each == statement.text_end ? ">()(" : "");
  if (statement.text_end == statement.close) insert_before(statement.close, ">()(");
  for (size_t i = 0; i < statement.operands.size(); ++i) {
    const AsmOperand& operand = statement.operands[i];
    std::string name;
    if (operand.name != 0) {
      name = fmt::format(", \"{}\"", tokens[operand.name].text);
      for (size_t t = operand.name - 1; t <= operand.name + 1; ++t) replace(t, "");
    }
    insert_before(operand.constraint, fmt::format("{}::convlab::simt::ptx::operand<", i == 0 ? "" : ", "));
    insert_before(operand.expression, name + ">");
  }
}

void rewrite_all(const Tokens& tokens, std::vector<Rewrite>& rewrites) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind == Token::Kind::directive && tokens[i].text.starts_with('#')) {
      rewrite_all(tokens_of(tokens[i].text.substr(1)), rewrites);
    }
    if (!is_asm(tokens[i])) continue;
    AsmStatement statement{.keyword = i, .open = i + 1};
    const auto is_qualifier = [](const Token& token) {
      return token.is("volatile") || token.is("__volatile__") || token.is("__volatile");
    };
    while (statement.open < tokens.size() && is_qualifier(tokens[statement.open])) ++statement.open;
    if (statement.open >= tokens.size() || !tokens[statement.open].is("(")) continue;
    statement.close = closing_bracket(tokens, statement.open);
    if (statement.close >= tokens.size() || !read_parts(tokens, statement)) continue;
    rewrite(tokens, statement, rewrites);
    i = statement.close;
  }
}

}  // namespace

std::vector<Rewrite> rewritten_asm_statements(const std::vector<Token>& tokens) {
  std::vector<Rewrite> rewrites;
  rewrite_all(tokens, rewrites);
  return rewrites;
}

}  // namespace convlab
