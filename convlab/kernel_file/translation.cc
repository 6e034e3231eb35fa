#include "convlab/kernel_file/translation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convlab/kernel_file/calls.h"
#include "convlab/kernel_file/tokens.h"

namespace convlab {
namespace {

using Tokens = std::vector<Token>;

/// Replacements in a text, in any order, none inside another.
class Edits {
 public:
  explicit Edits(std::string_view text) : text_(text) {}

  void replace(std::string_view part, std::string by) {
    const auto begin = static_cast<size_t>(part.data() - text_.data());
    edits_.push_back({begin, part.size(), std::move(by)});
  }
  void insert_before(std::string_view part, std::string what) { replace(part.substr(0, 0), std::move(what)); }

  std::string apply() {
    std::ranges::stable_sort(edits_, {}, &Edit::begin);
    std::string result;
    size_t at = 0;
    for (const Edit& edit : edits_) {
      result += text_.substr(at, edit.begin - at);
      result += edit.by;
      at = edit.begin + edit.bytes;
    }
    result += text_.substr(at);
    return result;
  }

 private:
  struct Edit {
    size_t begin, bytes;
    std::string by;
  };
  std::string_view text_;
  std::vector<Edit> edits_;
};

/// As many line ends as the text has, so that what follows keeps its line.
std::string line_ends(std::string_view text) {
  return std::string(static_cast<size_t>(std::ranges::count(text, '\n')), '\n');
}

/// The text from one token to another.
std::string_view text_from(const Token& first, const Token& last) {
  return {first.text.data(), static_cast<size_t>(last.text.data() + last.text.size() - first.text.data())};
}

/// Headers that the course's projects have and a file alone has not. They stand in convlab/kernel_file/include.
constexpr std::string_view kClassHeader = "gpu-new-forward.h";
constexpr std::array<std::string_view, 5> kCourseHeaders{kClassHeader, "cpu-new-forward.h", "gpu-utils.h", "matmul.h",
                                                         "new-inl.h"};

/// What stands in for a header of the course's project: a path below convlab/kernel_file/include; "" for others.
std::string_view stand_in(std::string_view path) {
  for (const std::string_view library : {"mxnet/", "mshadow/", "dmlc/"}) {
    if (path.starts_with(library)) return "mxnet/base.h";
  }
  const auto found = std::ranges::find(kCourseHeaders, path.substr(path.rfind('/') + 1));
  return found == kCourseHeaders.end() ? std::string_view{} : *found;
}

void use_own_headers(const KernelSource& source, const Tokens& tokens, Edits& edits) {
  for (const Token& token : tokens) {
    if (token.kind != Token::Kind::directive) continue;
    const std::optional<std::string_view> path = included_header(token.text);
    if (!path) continue;
    const std::string_view name = stand_in(*path);
    if (name.empty() || (name == kClassHeader && source.defines_class)) continue;
    edits.replace(token.text, fmt::format("#include \"convlab/kernel_file/include/{}\"", name) + line_ends(token.text));
  }
}

/// The first token of the kernel's name before `<<<`, as in ns::kernel<16, float>.
size_t begin_of_name(const Tokens& tokens, size_t before) {
  size_t at = before;
  if (at > 0 && tokens[at - 1].is(">")) {
    int depth = 0;
    do {
      --at;
      depth += tokens[at].is(">") ? 1 : tokens[at].is("<") ? -1 : 0;
    } while (at > 0 && depth > 0);
  }
  if (at == 0 || tokens[at - 1].kind != Token::Kind::name) return before;
  --at;
  while (at >= 2 && tokens[at - 1].is("::") && tokens[at - 2].kind == Token::Kind::name) at -= 2;
  if (at >= 1 && tokens[at - 1].is("::")) --at;
  return at;
}

/// Whether three such signs follow one another: "<<<", which some write "<< <".
bool three(const Tokens& tokens, size_t at, std::string_view sign) {
  return at + 2 < tokens.size() && tokens[at].is(sign) && tokens[at + 1].is(sign) && tokens[at + 2].is(sign);
}

/// `kernel<<<grid, block>>>(x)` becomes `convlab_configure(kernel, grid, block)(x)`, in macros, too.
void make_launches_calls(const Tokens& tokens, Edits& edits) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind == Token::Kind::directive && tokens[i].text.starts_with('#')) {
      make_launches_calls(tokens_of(tokens[i].text.substr(1)), edits);
    }
    if (!three(tokens, i, "<")) continue;
    const size_t name = begin_of_name(tokens, i);
    size_t end = i + 3;
    while (end < tokens.size() && !(three(tokens, end, ">") && end + 3 < tokens.size() && tokens[end + 3].is("(")))
      ++end;
    if (name == i || end >= tokens.size()) continue;  // no launch: the compiler says what is wrong
    edits.insert_before(tokens[name].text, "::convlab::simt::cuda::convlab_configure(");
    edits.replace(text_from(tokens[i], tokens[i + 2]), ", " + line_ends(text_from(tokens[i], tokens[i + 2])));
    edits.replace(text_from(tokens[end], tokens[end + 2]), ")" + line_ends(text_from(tokens[end], tokens[end + 2])));
    i = end;
  }
}

/// Whether a brace opens a namespace or an extern "C", so that what follows is outside of functions.
bool opens_namespace(const Tokens& tokens, size_t brace) {
  size_t at = brace;
  while (at > 0 && (tokens[at - 1].kind == Token::Kind::name || tokens[at - 1].is("::"))) {
    --at;
    if (tokens[at].is("namespace")) return true;
  }
  return at >= 2 && tokens[at - 1].kind == Token::Kind::literal && tokens[at - 2].is("extern");
}

/// `extern __shared__ float tile[];` becomes a pointer.
void make_dynamic_arrays_pointers(const Tokens& tokens, Edits& edits) {
  std::vector<bool> in_function{false};  // for each open brace
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].is("{")) in_function.push_back(in_function.back() || !opens_namespace(tokens, i));
    if (tokens[i].is("}") && in_function.size() > 1) in_function.pop_back();
    if (!tokens[i].is("extern")) continue;
    size_t end = i, open = 0;
    bool shared = false;
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
    std::string rest;  // of the array's dimensions
    for (size_t t = first_close + 1; t < end; ++t) rest += tokens[t].text;
    const std::string_view whole = text_from(tokens[i], tokens[end]);
    std::string by;
    if (!in_function.back()) {
      by = fmt::format("static const ::convlab::simt::cuda::DynamicShared<{}> {};", type, name);
    } else if (rest.empty()) {
      by = fmt::format("{0}* const {1} = static_cast<{0}*>(::convlab::simt::dynamic_shared_memory());", type, name);
    } else {
      by = fmt::format("{0} (*const {1}){2} = static_cast<{0} (*){2}>(::convlab::simt::dynamic_shared_memory());", type,
                       name, rest);
    }
    edits.replace(whole, by + line_ends(whole));
  }
}

/// `asm volatile("trap;")` becomes __trap(). The host's assembler knows no PTX.
void make_traps_calls(const Tokens& tokens, Edits& edits) {
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (!tokens[i].is("asm") && !tokens[i].is("__asm__") && !tokens[i].is("__asm")) continue;
    size_t open = i + 1;
    while (open < tokens.size() && (tokens[open].is("volatile") || tokens[open].is("__volatile__"))) ++open;
    const size_t close = open < tokens.size() && tokens[open].is("(") ? closing_bracket(tokens, open) : tokens.size();
    if (close != open + 2 && !(close < tokens.size() && tokens[open + 2].is(":"))) continue;
    const std::string_view text = tokens[open + 1].text;
    if (text != "\"trap;\"" && text != "\"trap;\\n\"") continue;
    const std::string_view whole = text_from(tokens[i], tokens[close]);
    edits.replace(whole, "::convlab::simt::cuda::__trap()" + line_ends(whole));
  }
}

/// A GPU has 64 KiB of constant memory, which nvcc knows and the host's compiler does not. A section of their own tells
/// simt constants from __device__ variables; the compiler has none for both what is const and what is not.
void mark_and_limit_constants(const Tokens& tokens, Edits& edits) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is("__constant__")) continue;
    size_t bracket = 0, end = i;
    bool is_const = false;
    for (; end < tokens.size() && !tokens[end].is(";"); ++end) {
      if (tokens[end].is("[") && bracket == 0) bracket = end;
      is_const |= tokens[end].is("const") || tokens[end].is("constexpr");
    }
    if (!is_const) edits.replace(tokens[i].text, "__attribute__((section(\"convlab_constant\")))");
    if (bracket == 0 || end == tokens.size() || tokens[bracket - 1].kind != Token::Kind::name) continue;
    edits.replace(tokens[end].text,
                  fmt::format("; static_assert(sizeof({}) <= 65536, \"a GPU has 64 KiB of constant memory\");",
                              tokens[bracket - 1].text));
  }
}

}  // namespace

std::string translated(const KernelSource& source, Toolchain toolchain) {
  const Tokens tokens = tokens_of(source.text);
  Edits edits(source.text);
  use_own_headers(source, tokens, edits);
  if (toolchain == Toolchain::simt) {
    make_launches_calls(tokens, edits);
    make_dynamic_arrays_pointers(tokens, edits);
    make_traps_calls(tokens, edits);
    mark_and_limit_constants(tokens, edits);
  }
  return edits.apply();
}

std::string compilation_unit(const KernelSource& source, Toolchain toolchain) {
  const std::string path = std::filesystem::absolute(source.path).string();
  std::string text;
  if (source.kind != FileKind::own) {
    text += toolchain == Toolchain::cpu ? "#include <cmath>\n" : "#include <cuda_runtime.h>\n";
    text += declarations_before(source);
  }
  text += fmt::format("#line 1 \"{}\"\n{}\n", path, translated(source, toolchain));
  if (source.kind != FileKind::own) text += fmt::format("#line 1 \"convlab's calls\"\n{}", calls_of(source));
  return text;
}

}  // namespace convlab
