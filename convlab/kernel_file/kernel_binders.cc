// Finds the kernels that a source defines, and generates the functions that replace them in launches.

#include "convlab/kernel_file/kernel_binders.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

namespace convlab {
namespace {

using Tokens = std::vector<Token>;
using TokenRange = std::span<const Token>;

constexpr std::string_view kBinderPrefix = "convlab_bind_";

/// Returns the source text of the tokens, on one line and without comments.
std::string text_of(TokenRange part) {
  std::string text;
  for (size_t i = 0; i < part.size(); ++i) {
    const bool apart = i > 0 && part[i - 1].text.data() + part[i - 1].text.size() != part[i].text.data();
    text += fmt::format("{}{}", apart ? " " : "", part[i].text);
  }
  return text;
}

int depth_change(const Token& token) {
  if (token.kind != Token::Kind::sign) return 0;
  if (token.is("(") || token.is("[") || token.is("{") || token.is("<")) return 1;
  return token.is(")") || token.is("]") || token.is("}") || token.is(">") ? -1 : 0;
}

/// Splits a list at the commas that are outside of brackets.
std::vector<TokenRange> split_at_commas(TokenRange list) {
  std::vector<TokenRange> parts;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    depth += depth_change(list[i]);
    if (depth != 0 || !list[i].is(",")) continue;
    parts.push_back(list.subspan(begin, i - begin));
    begin = i + 1;
  }
  if (begin < list.size()) parts.push_back(list.subspan(begin));
  return parts;
}

/// Returns the tokens before the first `sign` that is outside of brackets.
TokenRange before(TokenRange part, std::string_view sign) {
  int depth = 0;
  for (size_t i = 0; i < part.size(); ++i) {
    if (depth == 0 && part[i].is(sign)) return part.first(i);
    depth += depth_change(part[i]);
  }
  return part;
}

bool is_pack(TokenRange part) {
  return std::ranges::count_if(part, [](const Token& token) { return token.is("."); }) >= 3;
}

/// Words in a type that are not type names.
bool is_qualifier(const Token& token) {
  constexpr std::array<std::string_view, 8> kWords{"const",        "volatile", "struct",     "class",
                                                   "__restrict__", "restrict", "__restrict", "typename"};
  return std::ranges::find(kWords, token.text) != kWords.end();
}

bool is_builtin_type(const Token& token) {
  constexpr std::array<std::string_view, 10> kWords{"int",  "float", "double", "char", "bool",
                                                    "long", "short", "signed", "void", "unsigned"};
  return std::ranges::find(kWords, token.text) != kWords.end();
}

/// Returns "x" for `const float* x = nullptr`, "xs..." for a pack, and nullopt if there is no name.
std::optional<std::string> parameter_name(TokenRange parameter) {
  TokenRange declared = before(before(parameter, "="), "[");
  if (std::ranges::any_of(declared, [](const Token& token) { return token.is("("); })) return std::nullopt;
  if (declared.empty() || declared.back().kind != Token::Kind::name) return std::nullopt;
  const Token& name = declared.back();
  if (is_builtin_type(name) || is_qualifier(name)) return std::nullopt;
  const TokenRange type = declared.first(declared.size() - 1);
  if (std::ranges::all_of(type, is_qualifier)) return std::nullopt;  // then `name` is the type
  if (type.back().is("::")) return std::nullopt;
  return fmt::format("{}{}", name.text, is_pack(parameter) ? "..." : "");
}

/// Returns "T", "N" or "Ts..." for a template parameter.
std::optional<std::string> template_argument(TokenRange parameter) {
  const TokenRange declared = before(parameter, "=");
  if (declared.size() < 2 || declared.back().kind != Token::Kind::name || is_builtin_type(declared.back())) {
    return std::nullopt;
  }
  return fmt::format("{}{}", declared.back().text, is_pack(declared) ? "..." : "");
}

using ReadName = std::optional<std::string> (*)(TokenRange);

/// Returns all names of a list, or nullopt if an element has none.
std::optional<std::vector<std::string>> names_of(TokenRange list, ReadName read) {
  std::vector<std::string> names;
  for (const TokenRange part : split_at_commas(list)) {
    std::optional<std::string> name = read(part);
    if (!name) return std::nullopt;
    names.push_back(*std::move(name));
  }
  return names;
}

/// A kernel's parameters, each with a name.
struct Parameters {
  std::vector<std::string> names;
  std::string text;
};

/// Returns the parameters of a list. Those without a name get one; nullopt if one cannot get any, such as an array. One
/// with the kernel's name gets another, because it would hide the kernel.
std::optional<Parameters> parameters_of(TokenRange list, std::string_view kernel) {
  Parameters parameters;
  for (const TokenRange part : split_at_commas(list)) {
    std::optional<std::string> name = parameter_name(part);
    std::string text = text_of(part);
    if (!name) {
      const TokenRange type = before(part, "=");
      const auto has = [&](std::string_view sign) {
        return std::ranges::any_of(type, [&](const Token& token) { return token.is(sign); });
      };
      if (type.empty() || has("(") || has("[") || is_pack(type)) return std::nullopt;
      name = fmt::format("convlab_unnamed_{}", parameters.names.size());
      text = fmt::format("{} {} {}", text_of(type), *name, text_of(part.subspan(type.size())));
    } else if (*name == kernel) {
      const size_t at = before(before(part, "="), "[").size() - 1;
      name = fmt::format("convlab_unnamed_{}", parameters.names.size());
      text = fmt::format("{} {} {}", text_of(part.first(at)), *name, text_of(part.subspan(at + 1)));
    }
    parameters.names.push_back(*std::move(name));
    parameters.text += (parameters.text.empty() ? "" : ", ") + text;
  }
  return parameters;
}

/// Returns the types of a kernel's parameters. The type of `T* __restrict__ x` in a template differs from that of the
/// kernel's parameter for g++, unless Unrestricted removes __restrict__.
std::string types_of(const std::vector<std::string>& names, TokenRange list) {
  const bool restricted = std::ranges::any_of(
      list, [](const Token& token) { return token.text.find("restrict") != std::string_view::npos; });
  std::string types;
  for (const std::string& each : names) {
    const bool pack = each.ends_with("...");
    const std::string type = fmt::format("decltype({})", each.substr(0, each.size() - (pack ? 3 : 0)));
    types += fmt::format("{}{}{}", types.empty() ? "" : ", ",
                         restricted ? fmt::format("::convlab::simt::Unrestricted<{}>", type) : type, pack ? "..." : "");
  }
  return types;
}

/// Returns the index after the `>` that closes the bracket at `open`, or `end` if it is not closed.
size_t after_angle(const Tokens& tokens, size_t open, size_t end) {
  int depth = 0;
  for (size_t i = open; i < end; ++i) {
    depth += depth_change(tokens[i]);
    if (depth == 0) return i + 1;
  }
  return end;
}

/// Returns whether each preprocessor branch inside `body` has balanced braces.
bool branches_are_whole(TokenRange body) {
  std::vector<int> at_if;
  int depth = 0;
  for (const Token& token : body) {
    depth += token.is("{") ? 1 : token.is("}") ? -1 : 0;
    if (token.kind != Token::Kind::directive) continue;
    const size_t word = std::min(token.text.find_first_not_of(" \t", 1), token.text.size());
    const std::string_view directive = token.text.substr(word);
    if (directive.starts_with("if")) {
      at_if.push_back(depth);
    } else if (directive.starts_with("el") || directive.starts_with("endif")) {
      if (at_if.empty() || at_if.back() != depth) return false;
      if (directive.starts_with("endif")) at_if.pop_back();
    }
  }
  return at_if.empty();
}

/// Returns the index of the kernel's name, which precedes its parameters, after `__global__`; `tokens.size()` if there
/// is none.
size_t kernel_name(const Tokens& tokens, size_t global) {
  for (size_t i = global + 1; i + 1 < tokens.size(); ++i) {
    if (tokens[i].kind != Token::Kind::name) break;
    if (!tokens[i + 1].is("(")) continue;
    const bool is_attribute = tokens[i].text.starts_with("__") && tokens[i].text.ends_with("__");
    if (!is_attribute) return i;
    i = closing_bracket(tokens, i + 1);  // __launch_bounds__(256)
  }
  return tokens.size();
}

std::optional<KernelBinder> binder_of(const Tokens& tokens, size_t global) {
  size_t begin = global;
  const auto ends_what_is_before = [](const Token& token) {
    return token.is(";") || token.is("{") || token.is("}") || token.kind == Token::Kind::directive ||
           token.kind == Token::Kind::literal;
  };
  while (begin > 0 && !ends_what_is_before(tokens[begin - 1])) --begin;
  const size_t name = kernel_name(tokens, global), open = name + 1;
  if (name == tokens.size()) return std::nullopt;
  const size_t close = closing_bracket(tokens, open), brace = close + 1;
  if (brace >= tokens.size() || !tokens[brace].is("{")) return std::nullopt;
  const size_t end = closing_bracket(tokens, brace);
  const TokenRange all = tokens;
  if (end == tokens.size() || !branches_are_whole(all.subspan(begin, end - begin))) return std::nullopt;

  std::string head, arguments;
  if (tokens[begin].is("template")) {
    const size_t after = after_angle(tokens, begin + 1, global);
    const auto names = names_of(all.subspan(begin + 2, after - begin - 3), template_argument);
    const bool more = std::ranges::any_of(all.subspan(after, global - after), [](const Token& token) {
      return token.is("template") || token.is("requires");
    });
    if (!names || names->empty() || more) return std::nullopt;
    head = text_of(all.subspan(begin, after - begin)) + " ";
    arguments = fmt::format("<{}>", fmt::join(*names, ", "));
  }
  TokenRange list = all.subspan(open + 1, close - open - 1);
  if (list.size() == 1 && list[0].is("void")) list = {};
  if (std::ranges::any_of(list, [](const Token& token) { return token.kind == Token::Kind::directive; })) {
    return std::nullopt;
  }
  const std::string_view kernel = tokens[name].text;
  const std::optional<Parameters> parameters = parameters_of(list, kernel);
  if (!parameters) return std::nullopt;
  std::string values;
  for (const std::string& each : parameters->names) values += (values.empty() ? "" : ", ") + each;
  return KernelBinder{
      .kernel = kernel,
      .after = tokens[end].text,
      .text = fmt::format(" extern \"C++\" {{ {}static auto {}({}) {{ return ::convlab::simt::bind_known_kernel<"
                          "static_cast<void (*)({})>(&{}{})>({}); }} }}",
                          head, binder_name(kernel), parameters->text, types_of(parameters->names, list), kernel,
                          arguments, values)};
}

}  // namespace

std::string binder_name(std::string_view kernel) { return fmt::format("{}{}", kBinderPrefix, kernel); }

std::vector<KernelBinder> kernel_binders(const Tokens& tokens) {
  std::vector<KernelBinder> binders;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is("__global__")) continue;
    if (std::optional<KernelBinder> binder = binder_of(tokens, i)) binders.push_back(*std::move(binder));
  }
  return binders;
}

std::string without_binders(std::string complaint) {
  const std::string returns = fmt::format("auto {}", kBinderPrefix);
  for (size_t at = 0; (at = complaint.find(returns, at)) != std::string::npos;) {
    complaint.replace(at, returns.size(), "void ");
  }
  for (size_t at = 0; (at = complaint.find(kBinderPrefix, at)) != std::string::npos;)
    complaint.erase(at, kBinderPrefix.size());
  return complaint;
}

}  // namespace convlab
