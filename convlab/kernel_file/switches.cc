// Finds the WITH_ switches of a kernel file.

#include "convlab/kernel_file/switches.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/kernel_file/tokens.h"

namespace convlab {
namespace {

constexpr std::string_view kSwitchPrefix = "WITH_";

/// A parsed preprocessor line.
struct Directive {
  std::string_view word;                ///< "ifdef"
  std::string_view subject;             ///< the name after it; "" if something else follows
  std::vector<std::string_view> names;  ///< switches named in the line, in order
  std::string what;                     ///< its comment
};

Directive directive_of(std::string_view text) {
  Directive directive;
  const std::string_view line = text.substr(1);
  const std::vector<Token> tokens = tokens_of(line);
  const auto is_name = [&](size_t i) { return i < tokens.size() && tokens[i].kind == Token::Kind::name; };
  if (is_name(0)) directive.word = tokens[0].text;
  if (is_name(1)) directive.subject = tokens[1].text;
  for (const Token& token : tokens) {
    const bool named = token.text.starts_with(kSwitchPrefix) && token.text.size() > kSwitchPrefix.size();
    if (token.kind == Token::Kind::name && named) directive.names.push_back(token.text);
  }
  if (const size_t comment = line.find("//"); comment != std::string_view::npos) {
    const size_t begin = std::min(line.find_first_not_of("/ \t", comment), line.size());
    directive.what = printable(line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin));
  }
  return directive;
}

bool asks(std::string_view word) { return word == "if" || word == "ifdef" || word == "ifndef" || word == "elif"; }

}  // namespace

std::vector<Switch> switches_of(const KernelSource& source) {
  std::vector<Switch> switches;
  Directive before;
  for (const Token& token : tokens_of(source.text)) {
    if (token.kind != Token::Kind::directive) continue;
    Directive now = directive_of(token.text);
    for (const std::string_view name : now.names) {
      const bool defined = now.word == "define" && now.subject == name;
      if (defined && !(before.word == "ifndef" && before.subject == name)) {
        throw bad_input(
            "{}:{}: {} cannot be switched because the file defines it; remove the line, or put it between '#ifndef {}' "
            "and '#endif'",
            source.path.string(), token.line, name, name);
      }
      if (!defined && !asks(now.word)) continue;
      auto found = std::ranges::find(switches, name, &Switch::name);
      if (found == switches.end()) {
        switches.push_back({.name = std::string(name), .line = token.line});
        found = switches.end() - 1;
      }
      found->has_default |= defined;
      if (found->what.empty() && now.names.size() == 1) found->what = now.what;
    }
    before = std::move(now);
  }
  return switches;
}

std::vector<std::string> definitions_of(const std::vector<Switch>& switches, SwitchSet on) {
  std::vector<std::string> definitions;
  for (size_t i = 0; i < switches.size(); ++i) {
    const bool is_on = (on >> i & 1U) != 0;
    if (is_on || switches[i].has_default) definitions.push_back(fmt::format("{}={}", switches[i].name, int{is_on}));
  }
  return definitions;
}

}  // namespace convlab
