// Declarations of __shared__ variables, as the host compiler accepts them.

#include "convlab/kernel_file/shared_variables.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace convlab {
namespace {

using Tokens = std::vector<Token>;

/// Returns whether a brace opens a namespace or an extern "C" block, so that the tokens after it are outside of
/// functions.
bool opens_namespace(const Tokens& tokens, size_t brace) {
  size_t at = brace;
  while (at > 0 && (tokens[at - 1].kind == Token::Kind::name || tokens[at - 1].is("::"))) {
    --at;
    if (tokens[at].is("namespace")) return true;
  }
  return at >= 2 && tokens[at - 1].kind == Token::Kind::literal && tokens[at - 2].is("extern");
}

/// Rewrites `extern __shared__ float tile[];` as a pointer, also if `__shared__` comes first.
void make_dynamic_arrays_pointers(const Tokens& tokens, bool is_macro, std::vector<Rewrite>& rewrites) {
  std::vector<bool> in_function{is_macro};  // for each open brace
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].is("{")) in_function.push_back(in_function.back() || !opens_namespace(tokens, i));
    if (tokens[i].is("}") && in_function.size() > 1) in_function.pop_back();
    if (!tokens[i].is("extern") || (i + 1 < tokens.size() && tokens[i + 1].kind == Token::Kind::literal)) continue;
    const size_t begin = i > 0 && tokens[i - 1].is("__shared__") ? i - 1 : i;
    size_t end = i, open = 0;
    bool shared = begin < i;
    std::string type;
    for (; end < tokens.size() && !tokens[end].is(";"); ++end) {
      if (tokens[end].is("__shared__")) shared = true;
      if (tokens[end].is("[") && open == 0) open = end;
    }
    if (!shared || open < i + 2 || end >= tokens.size()) continue;
    for (size_t t = i + 1; t + 1 < open; ++t) {
      const bool aligns = tokens[t].is("__align__") || tokens[t].is("alignas") || tokens[t].is("__attribute__");
      if (aligns) t = closing_bracket(tokens, t + 1);
      if (aligns || tokens[t].is("__shared__")) continue;
      type += fmt::format("{}{}", type.empty() ? "" : " ", tokens[t].text);
    }
    const std::string_view name = tokens[open - 1].text;
    const size_t first_close = closing_bracket(tokens, open);
    std::string rest;  // the remaining dimensions of the array
    for (size_t t = first_close + 1; t < end; ++t) rest += tokens[t].text;
    const std::string_view whole = text_from(tokens[begin], tokens[end]);
    std::string by;
    if (!in_function.back()) {
      by = fmt::format("static const ::convlab::simt::cuda::DynamicShared<{}> {};", type, name);
    } else if (rest.empty()) {
      by = fmt::format("{0}* const {1} = static_cast<{0}*>(::convlab::simt::dynamic_shared_memory());", type, name);
    } else {
      by = fmt::format("{0} (*const {1}){2} = static_cast<{0} (*){2}>(::convlab::simt::dynamic_shared_memory());", type,
                       name, rest);
    }
    rewrites.push_back({whole, by + line_ends(whole)});
  }
}

/// Rewrites `__shared__ alignas(16)` as `__shared__ __align__(16)`: g++ accepts alignas only before the keywords that
/// __shared__ stands for.
void make_alignments_attributes(const Tokens& tokens, std::vector<Rewrite>& rewrites) {
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (!tokens[i].is("__shared__") || !tokens[i + 1].is("alignas")) continue;
    const bool is_dynamic = i > 0 && tokens[i - 1].is("extern");  // rewritten as a pointer
    if (!is_dynamic) rewrites.push_back({tokens[i + 1].text, "__align__"});
  }
}

/// Removes `static` from `static __shared__ float tile[32];`: __shared__ implies it.
void make_shared_static_once(const Tokens& tokens, std::vector<Rewrite>& rewrites) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is("__shared__")) continue;
    if (i > 0 && tokens[i - 1].is("static")) rewrites.push_back({tokens[i - 1].text, ""});
    if (i + 1 < tokens.size() && tokens[i + 1].is("static")) rewrites.push_back({tokens[i + 1].text, ""});
  }
}

void rewrite_shared(const Tokens& tokens, bool is_macro, std::vector<Rewrite>& rewrites) {
  make_dynamic_arrays_pointers(tokens, is_macro, rewrites);
  make_alignments_attributes(tokens, rewrites);
  make_shared_static_once(tokens, rewrites);
  for (const Token& token : tokens) {
    const bool has_body = token.kind == Token::Kind::directive && token.text.starts_with('#');
    if (has_body && token.text.find("__shared__") != std::string_view::npos) {
      rewrite_shared(tokens_of(token.text.substr(1)), true, rewrites);
    }
  }
}

}  // namespace

std::vector<Rewrite> rewritten_shared_variables(const Tokens& tokens) {
  std::vector<Rewrite> rewrites;
  rewrite_shared(tokens, false, rewrites);
  return rewrites;
}

}  // namespace convlab
