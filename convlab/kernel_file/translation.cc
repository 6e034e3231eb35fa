// Translates kernel files for nvcc, simt and the host compiler.

#include "convlab/kernel_file/translation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "convlab/base/fingerprint.h"
#include "convlab/kernel_file/asm_statements.h"
#include "convlab/kernel_file/calls.h"
#include "convlab/kernel_file/edits.h"
#include "convlab/kernel_file/kernel_binders.h"
#include "convlab/kernel_file/kernel_casts.h"
#include "convlab/kernel_file/member_templates.h"
#include "convlab/kernel_file/shared_variables.h"
#include "convlab/kernel_file/tokens.h"

namespace convlab {
namespace {

using Tokens = std::vector<Token>;

/// Headers of the course's projects that a file compiled alone does not have. They are in convlab/kernel_file/include.
constexpr std::string_view kClassHeader = "gpu-new-forward.h";
constexpr std::array<std::string_view, 5> kCourseHeaders{kClassHeader, "cpu-new-forward.h", "gpu-utils.h", "matmul.h",
                                                         "new-inl.h"};

/// Returns the replacement for a header of the course's project, as a path below convlab/kernel_file/include; "" for
/// other headers.
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

/// Returns the first token of the kernel's name before `<<<`, as in ns::kernel<16, float>.
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

/// Returns the index of the bracket that the one at `close` closes; 0 if there is none.
size_t opening_bracket(const Tokens& tokens, size_t close) {
  int depth = 0;
  for (size_t at = close + 1; at-- > 0;) {
    depth += tokens[at].is(")") || tokens[at].is("]") ? 1 : tokens[at].is("(") || tokens[at].is("[") ? -1 : 0;
    if (depth == 0) return at;
  }
  return 0;
}

/// Returns the first token of what is launched if it is not a kernel's name but an expression, as in
/// kernels[i]<<<...>>>,
/// (*kernel)<<<...>>> and table.kernel<<<...>>>.
size_t begin_of_expression(const Tokens& tokens, size_t before) {
  size_t at = begin_of_name(tokens, before);
  while (at > 0) {
    const bool is_member = at < before && (tokens[at - 1].is(".") || tokens[at - 1].is("->"));
    const size_t last = is_member ? at - 1 : at;
    if (last == 0 || (!is_member && at < before && !tokens[at].is("[") && !tokens[at].is("("))) break;
    const bool after_condition = at < before && tokens[at].is("(") && tokens[last - 1].is(")");  // if (...) (*kernel)
    if (after_condition || tokens[last - 1].is("return") || tokens[last - 1].is("else")) break;
    if (tokens[last - 1].is("]") || tokens[last - 1].is(")")) {
      at = opening_bracket(tokens, last - 1);
    } else if (const size_t name = begin_of_name(tokens, last); name < last) {
      at = name;
    } else {
      break;
    }
  }
  return at;
}

/// Returns the unqualified name: "kernel" in ns::kernel<16, float>.
size_t own_name(const Tokens& tokens, size_t begin, size_t before) {
  size_t at = begin;
  while (at + 1 < before && !tokens[at + 1].is("<")) ++at;
  return at;
}

/// Returns whether three of these signs follow each other: "<<<", which some files write as "<< <".
bool three(const Tokens& tokens, size_t at, std::string_view sign) {
  return at + 2 < tokens.size() && tokens[at].is(sign) && tokens[at + 1].is(sign) && tokens[at + 2].is(sign);
}

/// Returns the names of the kernels before `<<<`, except in macros.
std::set<std::string_view> launched_names(const Tokens& tokens) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (three(tokens, i, "<")) names.insert(tokens[own_name(tokens, begin_of_name(tokens, i), i)].text);
  }
  return names;
}

/// Kernels that have a binder, and the position in the text after which it is declared; nullptr if a header declares
/// it.
using KnownKernels = std::map<std::string_view, const char*, std::less<>>;

/// Rewrites `kernel<<<grid, block>>>(x)` as `convlab_launch(grid, block)(convlab_bind_kernel(x))`. If no binder is
/// known, as in macros and for kernel pointers, rewrites it as `convlab_configure(kernel, grid, block)(x)`.
void make_launches_calls(const Tokens& tokens, const KnownKernels& kernels, Edits& edits) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind == Token::Kind::directive && tokens[i].text.starts_with('#')) {
      make_launches_calls(tokens_of(tokens[i].text.substr(1)), {}, edits);
    }
    if (!three(tokens, i, "<")) continue;
    const size_t name = begin_of_expression(tokens, i);
    size_t end = i + 3;
    while (end < tokens.size() && !(three(tokens, end, ">") && end + 3 < tokens.size() && tokens[end + 3].is("(")))
      ++end;
    if (name == i || end >= tokens.size()) continue;  // not a valid launch: the compiler reports it
    const Token& own = tokens[own_name(tokens, name, i)];
    const auto known = kernels.find(own.text);
    const size_t open = end + 3, close = closing_bracket(tokens, open);
    const bool is_kernel = name == begin_of_name(tokens, i) && known != kernels.end();
    if (is_kernel && known->second < own.text.data() && close < tokens.size()) {
      const std::string_view whole = text_from(tokens[name], tokens[i - 1]);
      std::string binder(whole);
      binder.replace(static_cast<size_t>(own.text.data() - whole.data()), own.text.size(), binder_name(own.text));
      std::ranges::replace(binder, '\n', ' ');
      edits.replace(whole, "::convlab::simt::cuda::convlab_launch(" + line_ends(whole));
      edits.replace(text_from(tokens[i], tokens[i + 2]), line_ends(text_from(tokens[i], tokens[i + 2])));
      edits.replace(text_from(tokens[end], tokens[end + 2]), ")" + line_ends(text_from(tokens[end], tokens[end + 2])));
      edits.replace(tokens[open].text, fmt::format("({}(", binder));
      edits.replace(tokens[close].text, "))");
      i = end;
      continue;
    }
    edits.insert_before(tokens[name].text, "::convlab::simt::cuda::convlab_configure(");
    edits.replace(text_from(tokens[i], tokens[i + 2]), ", " + line_ends(text_from(tokens[i], tokens[i + 2])));
    edits.replace(text_from(tokens[end], tokens[end + 2]), ")" + line_ends(text_from(tokens[end], tokens[end + 2])));
    i = end;
  }
}

/// Lets comparisons in `#if __CUDA_ARCH__ >= 700` see the architecture that nvcc_macros.h names. The macro itself stays
/// undefined: `#ifdef __CUDA_ARCH__` tells the device's compilation from the host's, and simt has one for both.
void compare_with_architecture(const Tokens& tokens, Edits& edits) {
  for (const Token& directive : tokens) {
    if (directive.kind != Token::Kind::directive || !directive.text.starts_with('#')) continue;
    const Tokens words = tokens_of(directive.text.substr(1));
    if (words.empty() || (!words[0].is("if") && !words[0].is("elif"))) continue;
    for (size_t i = 1; i < words.size(); ++i) {
      const auto compares = [&](size_t at) {
        return at < words.size() && (words[at].is("<") || words[at].is(">") || words[at].is("=") || words[at].is("!"));
      };
      const bool is_compared = compares(i + 1) || (compares(i - 1) && !words[i - 1].is("!"));
      if (words[i].is("__CUDA_ARCH__") && is_compared) edits.replace(words[i].text, "__CONVLAB_CUDA_ARCH__");
    }
  }
}

/// Returns whether the declaration around the token begins with `template`.
bool is_in_template_declaration(const Tokens& tokens, size_t at) {
  while (at > 0 && !tokens[at - 1].is(";") && !tokens[at - 1].is("{") && !tokens[at - 1].is("}") &&
         tokens[at - 1].kind != Token::Kind::directive) {
    --at;
  }
  return tokens[at].is("template");
}

/// Enforces the GPU's 64 KiB limit of constant memory, which the host compiler does not know. Section attributes let
/// simt distinguish constants from __device__ variables, and constants with an initializer from those without. const
/// variables get no section, because a section cannot hold both const and non-const data.
void mark_and_limit_constants(const Tokens& tokens, Edits& edits) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is("__constant__")) continue;
    size_t bracket = 0, end = i;
    bool is_const = false, has_value = false;
    for (; end < tokens.size() && !tokens[end].is(";"); ++end) {
      if (tokens[end].is("[") && bracket == 0) bracket = end;
      is_const |= tokens[end].is("const") || tokens[end].is("constexpr");
      has_value |= tokens[end].is("=") || tokens[end].is("{");
    }
    const std::string_view section = has_value ? "convlab_constant_set" : "convlab_constant";
    if (!is_const) edits.replace(tokens[i].text, fmt::format("__attribute__((section(\"{}\")))", section));
    if (bracket == 0 || end == tokens.size() || tokens[bracket - 1].kind != Token::Kind::name) continue;
    if (is_in_template_declaration(tokens, i)) continue;  // its size depends on the arguments
    edits.replace(tokens[end].text,
                  fmt::format("; static_assert(sizeof({}) <= 65536, \"constant memory is limited to 64 KiB\");",
                              tokens[bracket - 1].text));
  }
}

/// Makes simt keep host and device code of the file apart. Not used if headers have `__device__` variables, which would
/// look like host variables.
/// Declares what it calls: after a source that defines a macro such as min, no header can be included.
constexpr std::string_view kWatchHostCode =
    "namespace convlab::simt {\nbool watch_host_code(const void* inside) noexcept;\n}\n"
    "static const bool convlab_host_code = ::convlab::simt::watch_host_code(&convlab_host_code);\n";

/// Other files get it with cuda_runtime.h. convlab's own kernels, which are compiled with convlab, use no PTX on simt.
constexpr std::string_view kInlinePtx = "#include \"convlab/simt/ptx/inline_ptx.h\"\n";

bool is_pragma_once(const Token& token) {
  return token.kind == Token::Kind::directive && token.text.find("pragma") != std::string_view::npos &&
         token.text.find("once") != std::string_view::npos;
}

/// Translates a file, and the headers next to it that need translation, into one text.
class Translation {
 public:
  Translation(const KernelSource& source, Toolchain toolchain, std::span<const Insertion> marks,
              std::span<const std::filesystem::path> folders = {})
      : source_(source),
        toolchain_(toolchain),
        marks_(marks),
        folders_(folders),
        root_(canonical(std::filesystem::absolute(source.path).parent_path())) {}

  std::string run() { return translate(source_.text, std::filesystem::absolute(source_.path)); }

 private:
  static std::filesystem::path canonical(const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::weakly_canonical(path, error);
  }

  std::string translate(std::string_view text, const std::filesystem::path& path) {
    const Tokens tokens = tokens_of(text);
    Edits edits(text);
    const bool is_header = path != std::filesystem::absolute(source_.path);
    const bool is_program = source_.kind == FileKind::program;
    if (!is_header) insert_into_source(edits);
    if (is_header && is_program) insert_sections(text, edits);
    if (!is_program) use_own_headers(source_, tokens, edits);
    if (toolchain_ != Toolchain::simt) return edits.apply();
    open_.emplace(canonical(path), std::ranges::any_of(tokens, is_pragma_once));
    inline_headers(tokens, path, edits);
    KnownKernels kernels;
    for (const std::string& name : of_headers_) kernels.emplace(name, nullptr);
    const std::set<std::string_view> launched = launched_names(tokens);
    for (const KernelBinder& binder : kernel_binders(tokens)) {
      if (!is_header && !launched.contains(binder.kernel)) continue;
      edits.replace(binder.after, std::string(binder.after) + binder.text);
      kernels.emplace(binder.kernel, binder.after.data());
    }
    make_launches_calls(tokens, kernels, edits);
    for (const std::string_view name : calls_of_member_templates(tokens)) edits.insert_before(name, "template ");
    for (const std::string_view cast : kernel_casts(tokens)) edits.replace(cast, line_ends(cast));
    edits.add(rewritten_shared_variables(tokens));
    edits.add(rewritten_asm_statements(tokens));
    compare_with_architecture(tokens, edits);
    mark_and_limit_constants(tokens, edits);
    if (is_header) {
      for (const auto& [name, after] : kernels) of_headers_.emplace(name);
    }
    open_.erase(canonical(path));
    return edits.apply();
  }

  /// Inserted text comes before a replacement at the same position.
  void insert_into_source(Edits& edits) const {
    for (const Insertion& mark : marks_) edits.insert_before(mark.before, mark.text);
    if (toolchain_ == Toolchain::simt) insert_sections(source_.text, edits);
  }

  static void insert_sections(std::string_view text, Edits& edits) {
    for (const Insertion& section : device_sections(text)) edits.insert_before(section.before, section.text);
  }

  /// Returns the path of an included header in the file's own folder or below it; headers elsewhere are not the user's.
  std::optional<std::filesystem::path> beside(std::string_view directive, const std::filesystem::path& path) const {
    const std::optional<std::string_view> name = included_header(directive);
    if (source_.kind == FileKind::program) return name ? found_header(directive, *name, path) : std::nullopt;
    if (!name || !stand_in(*name).empty() || directive.find('"') == std::string_view::npos) return std::nullopt;
    const std::filesystem::path header = canonical(path.parent_path() / *name);
    const auto [end, rest] = std::ranges::mismatch(root_, header);
    std::error_code error;
    if (end != root_.end() || !std::filesystem::is_regular_file(header, error)) return std::nullopt;
    return header;
  }

  /// Returns the path of a header of a program, which its own folder or those of -I have.
  std::optional<std::filesystem::path> found_header(std::string_view directive, std::string_view name,
                                                    const std::filesystem::path& path) const {
    std::vector<std::filesystem::path> folders(folders_.begin(), folders_.end());
    if (directive.find('"') != std::string_view::npos) folders.insert(folders.begin(), path.parent_path());
    for (const std::filesystem::path& folder : folders) {
      const std::filesystem::path header = canonical(folder / name);
      std::error_code error;
      if (!std::filesystem::is_regular_file(header, error)) continue;
      return header;
    }
    return std::nullopt;
  }

  /// Inlines the headers that translation changes at their #include lines.
  void inline_headers(const Tokens& tokens, const std::filesystem::path& path, Edits& edits) {
    for (const Token& token : tokens) {
      if (token.kind != Token::Kind::directive) continue;
      const std::optional<std::filesystem::path> header = beside(token.text, path);
      if (!header) continue;
      if (const auto found = open_.find(*header); found != open_.end()) {
        // The compiler would not know that this header, which is inlined, has been included.
        if (found->second) edits.replace(token.text, line_ends(token.text));
        continue;
      }
      const std::string text = read_source_text(*header);
      const std::string changed = translate(text, *header);
      const bool is_first = path == std::filesystem::absolute(source_.path);
      if (changed == text) {
        // #include "..." searches next to the file being compiled, not next to this header, so use the full path.
        if (!is_first)
          edits.replace(token.text, fmt::format("#include \"{}\"", header->string()) + line_ends(token.text));
        continue;
      }
      Fingerprint fingerprint;
      fingerprint.add(header->string());
      const auto line = token.line + std::ranges::count(token.text, '\n') + 1;
      edits.replace(token.text,
                    fmt::format("{}\n#line {} \"{}\"", once(changed, *header, fingerprint.hex()), line, path.string()));
    }
  }

  /// Returns the header's text, with `#pragma once` replaced by an include guard.
  static std::string once(const std::string& text, const std::filesystem::path& header, const std::string& key) {
    Edits edits(text);
    bool is_once = false;
    for (const Token& token : tokens_of(text)) {
      if (!is_pragma_once(token)) continue;
      edits.replace(token.text, line_ends(token.text));
      is_once = true;
    }
    std::string body = fmt::format("#line 1 \"{}\"\n{}", header.string(), edits.apply());
    if (!is_once) return body;
    return fmt::format("#ifndef CONVLAB_ONCE_{0}\n#define CONVLAB_ONCE_{0}\n{1}\n#endif", key, body);
  }

  const KernelSource& source_;
  Toolchain toolchain_;
  std::span<const Insertion> marks_;
  std::span<const std::filesystem::path> folders_;
  std::filesystem::path root_;
  std::map<std::filesystem::path, bool> open_;     // files being translated, and whether they say #pragma once
  std::set<std::string, std::less<>> of_headers_;  // kernels defined in headers
};

}  // namespace

std::string translated(const KernelSource& source, Toolchain toolchain, std::span<const Insertion> marks) {
  return Translation(source, toolchain, marks).run();
}

std::string program_unit(const KernelSource& source, std::span<const std::filesystem::path> folders,
                         std::string_view first) {
  std::string text = headers_before(source.kind, source.cuda);
  text += first;
  text += fmt::format("#line 1 \"{}\"\n", std::filesystem::absolute(source.path).string());
  // Plain C++ has no launches to translate, but its accesses of device memory are found, too.
  text += source.cuda ? Translation(source, Toolchain::simt, {}, folders).run() : source.text;
  text += "\n#line 1 \"convlab's calls\"\n";
  return text + std::string(kWatchHostCode);
}

std::string compilation_unit(const KernelSource& source, Toolchain toolchain, std::span<const Insertion> marks,
                             bool over_field) {
  const std::string path = std::filesystem::absolute(source.path).string();
  std::string text = headers_before(source.kind, toolchain != Toolchain::cpu);
  if (over_field) text += "#include \"convlab/simt/cuda/field_for_float.h\"\n";
  text += declarations_before(source);
  if (source.kind == FileKind::own && toolchain == Toolchain::simt) text += kInlinePtx;
  text += fmt::format("#line 1 \"{}\"\n{}\n", path, translated(source, toolchain, marks));
  text += "#line 1 \"convlab's calls\"\n";
  if (source.kind != FileKind::own) text += calls_of(source);
  if (toolchain == Toolchain::simt && !has_device_variables_in_headers(source)) text += kWatchHostCode;
  return text;
}

}  // namespace convlab
