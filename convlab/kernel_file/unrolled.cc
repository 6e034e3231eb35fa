// Adds unroll pragmas to preprocessed kernel files.

#include "convlab/kernel_file/unrolled.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "convlab/kernel_file/tokens.h"

namespace convlab {
namespace {

constexpr std::string_view kAllRounds = "64", kFewRounds = "16";

/// Returns what follows "unroll" in `#pragma unroll 4` and `#pragma GCC unroll 4`; nullopt for other lines.
std::optional<std::string_view> asked_rounds(std::string_view directive) {
  constexpr std::string_view kUnroll = "unroll", kBlank = " \t\r";
  const size_t pragma = directive.find("pragma"), at = directive.find(kUnroll);
  if (pragma == std::string_view::npos || at == std::string_view::npos) return std::nullopt;
  const size_t rounds = directive.find_first_not_of(kBlank, at + kUnroll.size());
  return rounds == std::string_view::npos ? kAllRounds : directive.substr(rounds);
}

/// Returns whether the token begins `for (;;)`, a loop without a condition, which g++ does not unroll.
bool is_endless(const std::vector<Token>& tokens, size_t at) {
  if (at + 1 >= tokens.size() || !tokens[at].is("for") || !tokens[at + 1].is("(")) return false;
  constexpr size_t kMostTokens = 256;  // limits the search for the condition
  int depth = 0;
  for (size_t i = at + 1; i + 1 < std::min(tokens.size(), at + kMostTokens); ++i) {
    depth += tokens[i].is("(") - tokens[i].is(")");
    if (depth == 0) return false;  // a range-based for loop
    if (depth == 1 && tokens[i].is(";")) return tokens[i + 1].is(";");
  }
  return false;
}

/// Returns whether `# 31 "file" 3` begins a part of a system header.
bool is_of_system(std::string_view directive) {
  const size_t flags = directive.rfind('"');
  return flags != std::string_view::npos && directive.find('3', flags) != std::string_view::npos;
}

}  // namespace

std::string unrolled(std::string_view preprocessed) {
  const std::vector<Token> tokens = tokens_of(preprocessed);
  std::string result;
  size_t done = 0;
  const auto up_to = [&](size_t at) {
    result += preprocessed.substr(done, at - done);
    done = at;
  };
  bool of_system = false;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const auto at = static_cast<size_t>(tokens[i].text.data() - preprocessed.data());
    if (tokens[i].kind == Token::Kind::directive) {
      const auto rounds = asked_rounds(tokens[i].text);
      if (rounds && !is_endless(tokens, i + 1)) {
        up_to(at);
        result += fmt::format("#pragma GCC unroll {}", *rounds);
        done += tokens[i].text.size();
      } else if (tokens[i].text.find('"') != std::string_view::npos) {
        of_system = is_of_system(tokens[i].text);
      }
      continue;
    }
    const bool asked = i > 0 && asked_rounds(tokens[i - 1].text).has_value();
    const bool is_loop =
        tokens[i].is("for") && i + 1 < tokens.size() && tokens[i + 1].is("(") && !is_endless(tokens, i);
    if (of_system || asked || !is_loop) continue;
    up_to(at);
    result += fmt::format("_Pragma(\"GCC unroll {}\") ", kFewRounds);
  }
  up_to(preprocessed.size());
  return result;
}

}  // namespace convlab
