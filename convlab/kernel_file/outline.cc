// Parses just enough C++ to find functions, variables and the side (host or device) they are declared for.

#include "convlab/kernel_file/outline.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <span>
#include <utility>

namespace convlab {
namespace {

using Tokens = std::vector<Token>;

template <size_t kCount>
bool is_one_of(const Token& token, const std::array<std::string_view, kCount>& words) {
  return token.kind == Token::Kind::name && std::ranges::find(words, token.text) != words.end();
}

constexpr std::array<std::string_view, 12> kGroupsBehind{
    "__launch_bounds__", "__attribute__", "alignas", "__align__",        "decltype",    "noexcept",
    "explicit",          "throw",         "asm",     "__cluster_dims__", "__maxnreg__", "__builtin_align__"};
constexpr std::array<std::string_view, 19> kSpecifiers{"static",    "inline",    "extern",   "const",       "constexpr",
                                                       "consteval", "constinit", "volatile", "virtual",     "friend",
                                                       "explicit",  "typename",  "struct",   "class",       "enum",
                                                       "union",     "register",  "mutable",  "thread_local"};
constexpr std::array<std::string_view, 13> kBuiltInTypes{"void", "bool",   "char",   "short",    "int",
                                                         "long", "float",  "double", "unsigned", "signed",
                                                         "auto", "size_t", "wchar_t"};

/// The CUDA execution and memory space specifiers of a declaration.
struct Space {
  bool host = false, device = false, kernel = false, constant = false, shared = false, constant_expression = false;
  bool managed = false;

  void add(const Token& token) {
    host |= token.is("__host__");
    device |= token.is("__device__") || token.is("__managed__");
    managed |= token.is("__managed__");
    kernel |= token.is("__global__");
    constant |= token.is("__constant__");
    shared |= token.is("__shared__");
    constant_expression |= token.is("constexpr") || token.is("consteval");
  }
  void add(const Space& other) {
    host |= other.host;
    device |= other.device;
    managed |= other.managed;
    kernel |= other.kernel;
    constant |= other.constant;
    shared |= other.shared;
    constant_expression |= other.constant_expression;
  }
  bool says_where() const { return host || device || kernel || constant || shared; }
};

/// Returns "ifdef" for "# ifdef A".
std::string_view word_of(std::string_view directive) {
  const size_t begin = directive.find_first_not_of(" \t", 1);
  if (begin == std::string_view::npos) return "";
  size_t end = begin;
  while (end < directive.size() && std::isalpha(static_cast<unsigned char>(directive[end]))) ++end;
  return directive.substr(begin, end - begin);
}

/// The file's macros, each with the CUDA specifiers of all its definitions.
class Macros {
 public:
  void define(std::string_view directive) {
    const Tokens tokens = tokens_of(directive.substr(1));
    if (tokens.size() < 2) return;
    Space& space = spaces_[tokens[1].text];
    for (const Token& token : std::span(tokens).subspan(2)) {
      space.add(token);
      if (const Space* inner = find(token)) space.add(*inner);
    }
  }
  const Space* find(const Token& token) const {
    const auto found = spaces_.find(token.text);
    return token.kind == Token::Kind::name && found != spaces_.end() ? &found->second : nullptr;
  }

 private:
  std::map<std::string_view, Space> spaces_;
};

/// Returns the tokens of the first branches that are compiled.
Tokens first_branches(std::string_view source, Macros& macros) {
  struct Branch {
    bool counts, any_counted;
  };
  std::vector<Branch> open;
  const auto all_count = [&] { return std::ranges::all_of(open, &Branch::counts); };
  Tokens kept;
  for (const Token& token : tokens_of(source)) {
    if (token.kind != Token::Kind::directive) {
      if (all_count()) kept.push_back(token);
      continue;
    }
    const std::string_view word = word_of(token.text);
    if (word == "define") macros.define(token.text);
    if (word.starts_with("if")) {
      const Tokens condition = tokens_of(token.text.substr(1));
      const bool never = word == "if" && condition.size() == 2 && condition[1].is("0");
      open.push_back({!never, !never});
    } else if (!open.empty() && word.starts_with("el")) {
      open.back() = {!open.back().any_counted, true};
    } else if (!open.empty() && word == "endif") {
      open.pop_back();
    }
  }
  return kept;
}

class Reader {
 public:
  Reader(Outline& outline, const Macros& macros) : outline_(outline), tokens_(outline.tokens), macros_(macros) {}

  /// Returns false if the file cannot be outlined.
  bool read() {
    read_scope(0, tokens_.size(), "");
    return !lost_;
  }

 private:
  /// Reads declarations up to `end`. `class_name` is "" in namespaces.
  void read_scope(size_t at, size_t end, std::string_view class_name) {
    while (at < end && !lost_) {
      const size_t before = at;
      at = read_declaration(at, end, class_name);
      lost_ |= at <= before || at > end;
    }
  }

  // Returns the index of the token that closes the bracket at `open`. An unmatched bracket aborts the outline.
  size_t close_of(size_t open) {
    const size_t close = closing_bracket(tokens_, open);
    lost_ |= close == tokens_.size();
    return close;
  }

  // Returns the index after the next semicolon that is outside of brackets.
  size_t after_semicolon(size_t at, size_t end) {
    for (; at < end && !lost_; ++at) {
      if (tokens_[at].is(";")) return at + 1;
      if (opens(at)) at = close_of(at);
    }
    return end;
  }

  bool opens(size_t at) const { return tokens_[at].is("(") || tokens_[at].is("[") || tokens_[at].is("{"); }

  size_t read_declaration(size_t at, size_t end, std::string_view class_name) {
    const Token& first = tokens_[at];
    if (first.is(";") || first.is("__extension__")) return at + 1;
    if (first.is("}") || first.is(")") || first.is("]")) return lost_ = true, end;
    if (first.is("namespace") || (first.is("inline") && at + 1 < end && tokens_[at + 1].is("namespace"))) {
      while (at < end && !tokens_[at].is("{") && !tokens_[at].is(";")) ++at;
      return read_block(at, end, "");
    }
    if (first.is("extern") && at + 1 < end && tokens_[at + 1].kind == Token::Kind::literal) {
      return at + 2 < end && tokens_[at + 2].is("{") ? read_block(at + 2, end, "") : at + 2;
    }
    if (first.is("template")) {
      if (at + 1 < end && !tokens_[at + 1].is("<")) return after_semicolon(at, end);  // an explicit instantiation
      return after_angles(tokens_, at + 1);
    }
    if (first.is("using") || first.is("typedef") || first.is("static_assert") || first.is("requires")) {
      return after_semicolon(at, end);
    }
    if (at + 1 < end && tokens_[at + 1].is(":") && !class_name.empty()) return at + 2;  // public:
    return read_entity(at, end, class_name);
  }

  // Reads the contents of the braces at `open`, if any.
  size_t read_block(size_t open, size_t end, std::string_view class_name) {
    if (open >= end || !tokens_[open].is("{")) return std::min(open + 1, end);
    const size_t close = close_of(open);
    if (!lost_) read_scope(open + 1, close, class_name);
    return close + 1;
  }

  // Reads a class, an enumeration, a function or variables.
  size_t read_entity(size_t first, size_t end, std::string_view class_name) {
    for (size_t at = first; at < end && !lost_;) {
      const Token& token = tokens_[at];
      if (token.is("class") || token.is("struct") || token.is("union") || token.is("enum")) {
        if (const size_t brace = brace_of_type(at, end); brace < end) {
          if (token.is("enum")) return after_semicolon(brace, end);
          return after_semicolon(read_block(brace, end, name_of_type(at, brace)), end);
        }
      }
      if (token.is("operator")) return read_function_of(first, operator_parameters(at, end), at, end, class_name);
      if (token.is("}")) return lost_ = true, end;
      if (token.is(";") || token.is("=") || token.is("{")) return read_variables(first, at, end, class_name);
      if (is_one_of(token, kGroupsBehind) && at + 1 < end && tokens_[at + 1].is("(")) {
        at = close_of(at + 1) + 1;
      } else if (token.is("<") && at > first) {
        at = std::max(after_angles(tokens_, at), at + 1);
      } else if (token.is("(")) {
        const size_t name = name_before(at, first);
        const size_t next = close_of(at) + 1;
        if (lost_ || name == at) return after_semicolon(at, end);  // for example a function pointer
        const size_t after = after_qualifiers(next, end);
        const bool ends = after < end && (tokens_[after].is("{") || tokens_[after].is(":") || tokens_[after].is(";") ||
                                          tokens_[after].is("="));
        if (ends) return read_function_of(first, at, name, end, class_name);
        at = next;  // a macro with arguments among the specifiers
      } else {
        at = token.is("[") ? close_of(at) + 1 : at + 1;
      }
    }
    return end;
  }

  // Returns the index of the brace that opens a type's definition, or `end` if there is none.
  size_t brace_of_type(size_t at, size_t end) {
    for (++at; at < end && !lost_; ++at) {
      const Token& token = tokens_[at];
      if (token.is("{")) return at;
      if (is_one_of(token, kGroupsBehind) && at + 1 < end && tokens_[at + 1].is("(")) {
        at = close_of(at + 1);
      } else if (token.is("<")) {
        at = std::max(after_angles(tokens_, at), at + 1) - 1;
      } else if (token.is("[")) {
        at = close_of(at);
      } else if (token.is(";") || token.is("(") || token.is("=") || token.is("*") || token.is("&")) {
        return end;
      }
    }
    return end;
  }

  std::string_view name_of_type(size_t at, size_t brace) const {
    std::string_view name = "(unnamed)";
    for (++at; at < brace && !tokens_[at].is(":") && !tokens_[at].is("<"); ++at) {
      if (tokens_[at].kind == Token::Kind::name && !tokens_[at].is("final")) name = tokens_[at].text;
    }
    return name;
  }

  // Returns the index of the bracket that opens an operator's parameters.
  size_t operator_parameters(size_t at, size_t end) const {
    if (at + 2 < end && tokens_[at + 1].is("(") && tokens_[at + 2].is(")")) at += 2;
    do ++at;
    while (at < end && !tokens_[at].is("("));
    return at;
  }

  // Returns the index of the name before the bracket at `open`, such as "f" in `f<3>(`, or `open` if there is none.
  size_t name_before(size_t open, size_t first) const {
    size_t at = open;
    if (at > first && tokens_[at - 1].is(">")) {
      int depth = 0;
      do {
        --at;
        depth += tokens_[at].is(">") ? 1 : tokens_[at].is("<") ? -1 : 0;
      } while (at > first && depth > 0);
    }
    const bool is_name = at > first && tokens_[at - 1].kind == Token::Kind::name &&
                         !(open + 1 < tokens_.size() && tokens_[open + 1].is("*"));
    return is_name ? at - 1 : open;
  }

  // Skips `const`, `noexcept`, `-> float` and similar.
  size_t after_qualifiers(size_t at, size_t end) {
    constexpr std::array<std::string_view, 7> kQualifiers{"const",    "volatile", "override", "final",
                                                          "noexcept", "throw",    "try"};
    while (at < end && !lost_) {
      const bool has_group = at + 1 < end && tokens_[at + 1].is("(");
      if (tokens_[at].is("->")) {
        while (at < end && !lost_ && !tokens_[at].is("{") && !tokens_[at].is(";")) {
          at = tokens_[at].is("(") ? close_of(at) + 1 : at + 1;
        }
        return at;
      }
      if (has_group && is_one_of(tokens_[at], kGroupsBehind)) {
        at = close_of(at + 1) + 1;
      } else if (is_one_of(tokens_[at], kQualifiers) || tokens_[at].is("&")) {
        ++at;
      } else {
        break;
      }
    }
    return at;
  }

  size_t read_function_of(size_t first, size_t open, size_t name, size_t end, std::string_view class_name) {
    if (open >= end) return end;
    size_t at = after_qualifiers(close_of(open) + 1, end);
    if (lost_ || at >= end) return end;
    Space space;
    const bool is_operator = tokens_[name].is("operator");
    const Side side = side_of(first, name, class_name, space);
    const bool qualified = name > first && tokens_[name - 1].is("::");
    if (class_name.empty() && !is_operator && !qualified && !space.kernel && macros_.find(tokens_[name]) == nullptr) {
      outline_.entities.push_back({Entity::Kind::function, side, first, tokens_[name].text});
    }
    if (tokens_[at].is(":")) at = body_after_initializers(at, end);
    if (at >= end || !tokens_[at].is("{")) return after_semicolon(at, end);
    const size_t close = close_of(at);
    const bool is_macro = macros_.find(tokens_[name]) != nullptr;
    if (!lost_) add_body({at, close, is_macro ? Side::unknown : side, space.kernel, tokens_[name].text});
    return close + 1;
  }

  // Returns the index of the brace that opens a constructor's body, after `: a(1), b{2}`.
  size_t body_after_initializers(size_t at, size_t end) {
    bool after_group = false;
    for (++at; at < end && !lost_; ++at) {
      if (after_group && tokens_[at].is("{")) return at;
      if (tokens_[at].is("<")) {
        at = std::max(after_angles(tokens_, at), at + 1) - 1;
      } else if (opens(at)) {
        at = close_of(at);
        after_group = true;
      } else if (tokens_[at].is(",")) {
        after_group = false;
      }
    }
    return end;
  }

  // Reads variables whose first name is before tokens[at]. Class members are not entities.
  size_t read_variables(size_t first, size_t at, size_t end, std::string_view class_name) {
    const size_t after = after_semicolon(at, end);
    if (lost_ || !class_name.empty()) return after;
    size_t name = first;  // of the first variable
    for (size_t i = first; i < at; ++i) {
      if (tokens_[i].is("<")) i = std::max(after_angles(tokens_, i), i + 1) - 1;
      if (tokens_[i].is("[") || tokens_[i].is(",") || tokens_[i].is(":")) break;
      if (is_one_of(tokens_[i], kGroupsBehind) && tokens_[i + 1].is("(")) {
        i = close_of(i + 1);
      } else if (tokens_[i].kind == Token::Kind::name) {
        name = i;
      }
    }
    if (name == first) return after;
    Space space;
    const Side side = side_of(first, name, "", space);
    if (tokens_[name - 1].is("::") && side == Side::host) return after;  // a static class member
    bool is_const = false;                                               // the variable itself, not its pointee
    for (size_t i = first; i < name; ++i) {
      if (tokens_[i].is("const")) is_const = true;
      if (tokens_[i].is("*")) is_const = false;
    }
    const auto add = [&](size_t declarator) {
      const bool is_array = declarator + 1 < end && tokens_[declarator + 1].is("[");
      const bool is_constant = space.constant_expression || (is_const && !is_array);
      outline_.entities.push_back({is_constant ? Entity::Kind::constant : Entity::Kind::variable, side, first,
                                   tokens_[declarator].text, space.managed});
    };
    add(name);
    for (size_t i = name + 1; i + 1 < after; ++i) {
      if (opens(i)) i = close_of(i);
      while (tokens_[i].is(",") && tokens_[i + 1].is("*")) ++i;
      if (tokens_[i].is(",") && tokens_[i + 1].kind == Token::Kind::name) add(i + 1);
    }
    return after;
  }

  // Returns the side for which a declaration with the specifiers [first, name) is.
  Side side_of(size_t first, size_t name, std::string_view class_name, Space& space) {
    bool built_in = false;
    int others = 0;  // names that may be types or macros of other files
    for (size_t at = first; at < name && !lost_; ++at) {
      const Token& token = tokens_[at];
      space.add(token);
      if (const Space* macro = macros_.find(token)) {
        space.add(*macro);
        if (at + 1 < name && tokens_[at + 1].is("(")) at = close_of(at + 1);
        continue;
      }
      if (token.is("<")) {
        at = std::max(after_angles(tokens_, at), at + 1) - 1;
      } else if (is_one_of(token, kGroupsBehind)) {
        built_in |= token.is("decltype");
        if (at + 1 < name && tokens_[at + 1].is("(")) at = close_of(at + 1);
      } else if (token.is("(") || token.is("[")) {
        at = close_of(at);
      } else if (token.kind != Token::Kind::name || token.text.starts_with("__") || is_one_of(token, kSpecifiers)) {
        continue;
      } else if (is_one_of(token, kBuiltInTypes)) {
        built_in = true;
      } else if (!(at + 1 < name && tokens_[at + 1].is("::"))) {
        ++others;  // for a::b::c only the last
      }
    }
    const bool has_no_type =
        (!class_name.empty() && tokens_[name].text == class_name) || (name > first && tokens_[name - 1].is("~")) ||
        (name > first + 1 && tokens_[name - 1].is("::") && tokens_[name - 2].is(tokens_[name].text));
    if (space.kernel) return Side::device;
    if (space.device || space.constant || space.shared) return space.host ? Side::unknown : Side::device;
    if (space.constant_expression) return Side::unknown;
    return others > (built_in || has_no_type ? 0 : 1) ? Side::unknown : Side::host;
  }

  // Adds a body, and the lambdas and local classes in it that have their own side.
  void add_body(const Body& body) {
    outline_.bodies.push_back(body);
    for (size_t at = body.first + 1; at < body.last && !lost_; ++at) {
      Space space;
      size_t next = at;
      while (next < body.last && add_space(tokens_[next], space)) ++next;
      lost_ |= space.kernel;
      const bool is_lambdas = tokens_[at].is("]") && at + 2 < body.last && tokens_[at + 1].kind == Token::Kind::name &&
                              tokens_[at + 2].is("(");
      if (!space.says_where() && !is_lambdas) continue;
      if (space.shared) continue;
      if (is_lambdas && add_space(tokens_[at + 1], space)) continue;  // handled in the next iteration
      size_t open = is_lambdas ? at + 2 : next;
      while (open < body.last && !tokens_[open].is("{") && !tokens_[open].is(";")) {
        open = tokens_[open].is("(") ? close_of(open) + 1 : open + 1;
      }
      if (lost_ || open >= body.last || !tokens_[open].is("{")) continue;
      const size_t close = close_of(open);
      const bool of_device = space.device && !space.host;
      outline_.bodies.push_back({open, close, of_device ? Side::device : Side::unknown, false, body.function});
      at = close;
    }
  }

  bool add_space(const Token& token, Space& space) const {
    Space own;
    own.add(token);
    if (const Space* macro = macros_.find(token)) own.add(*macro);
    space.add(own);
    return own.says_where();
  }

  Outline& outline_;
  const Tokens& tokens_;
  const Macros& macros_;
  bool lost_ = false;
};

}  // namespace

size_t after_angles(const std::vector<Token>& tokens, size_t open) {
  int depth = 0;
  for (size_t at = open; at < tokens.size(); ++at) {
    const Token& token = tokens[at];
    if (token.is(";") || token.is("{") || token.is("}") || token.is(")")) return open;
    if (token.is("<")) ++depth;
    if (token.is(">")) --depth;
    if (token.is("(") || token.is("[")) {
      at = closing_bracket(tokens, at);
      if (at == tokens.size()) return open;
    }
    if (depth == 0) return at + 1;
  }
  return open;
}

const Body* Outline::body_around(size_t token) const {
  const Body* found = nullptr;
  for (const Body& body : bodies) {
    if (body.first < token && token < body.last) found = &body;  // nested bodies follow the enclosing ones
  }
  return found;
}

Outline outline_of(std::string_view source) {
  Macros macros;
  Outline outline;
  outline.tokens = first_branches(source, macros);
  if (Reader(outline, macros).read()) return outline;
  return {};
}

}  // namespace convlab
