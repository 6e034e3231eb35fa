// Finds calls of member templates that g++ accepts only with `template`.

#include "convlab/kernel_file/member_templates.h"

#include "convlab/kernel_file/outline.h"

namespace convlab {

std::vector<std::string_view> calls_of_member_templates(const std::vector<Token>& tokens) {
  std::vector<std::string_view> names;
  int depth = 0;  // of function bodies: elsewhere it may be the declaration of a member
  std::vector<bool> is_body;
  for (size_t i = 1; i + 1 < tokens.size(); ++i) {
    if (tokens[i].is("{")) {
      is_body.push_back(tokens[i - 1].is(")"));
      depth += is_body.back() ? 1 : 0;
    }
    if (tokens[i].is("}") && !is_body.empty()) {
      depth -= is_body.back() ? 1 : 0;
      is_body.pop_back();
    }
    const bool ends_arguments = tokens[i - 1].is(">") && tokens[i - 1].text.data() + 1 == tokens[i].text.data();
    if (depth == 0 || !tokens[i].is("::") || !ends_arguments) continue;  // not a > ::f<4>(x)
    if (tokens[i + 1].kind != Token::Kind::name || i + 2 >= tokens.size() || !tokens[i + 2].is("<")) continue;
    const size_t end = after_angles(tokens, i + 2);
    if (end > i + 2 && end < tokens.size() && tokens[end].is("(")) names.push_back(tokens[i + 1].text);
  }
  return names;
}

}  // namespace convlab
