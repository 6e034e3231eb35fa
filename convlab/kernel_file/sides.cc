// Detects host/device mix-ups in files that the host compiler compiles.

#include "convlab/kernel_file/sides.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <utility>

#include "convlab/base/text.h"
#include "convlab/diagnostics/compiler_output.h"

namespace convlab {
namespace {

constexpr std::string_view kMark = "convlab_mark_", kDeviceSection = "convlab_device_";

std::string mark_of(const Entity& entity) { return fmt::format("{}{}", kMark, entity.declaration); }

/// Returns whether the name at `at` is called: `f(`, `f<3>(`.
bool is_called(const std::vector<Token>& tokens, size_t at) {
  size_t next = at + 1;
  if (next < tokens.size() && tokens[next].is("<")) next = after_angles(tokens, next);
  return next < tokens.size() && tokens[next].is("(");
}

/// Returns whether the name is in an unevaluated operand: `sizeof(table)`.
bool is_unevaluated(const std::vector<Token>& tokens, size_t at) {
  constexpr std::array<std::string_view, 4> kOperators{"sizeof", "decltype", "alignof", "noexcept"};
  const size_t word = at > 1 && tokens[at - 1].is("(") ? at - 2 : at - 1;
  return at > 0 && std::ranges::find(kOperators, tokens[word].text) != kOperators.end();
}

/// Returns whether a text that convlab does not translate may have device variables. Without an outline it may.
bool has_device_variables(std::string_view text) {
  if (text.find("__") == std::string_view::npos) return false;
  const Outline outline = outline_of(text);
  return outline.tokens.empty() || std::ranges::any_of(outline.entities, [](const Entity& entity) {
           return entity.kind == Entity::Kind::variable && entity.side != Side::host;
         });
}

/// Returns whether the declaration at `at` is of a variable whose section is not set otherwise. That of a __managed__
/// variable is set in keywords.h.
bool has_place(const std::vector<Token>& tokens, size_t at) {
  if (at > 0 && (tokens[at - 1].is("__shared__") || tokens[at - 1].is("__managed__"))) return false;
  for (; at < tokens.size() && !tokens[at].is(";") && !tokens[at].is("=") && !tokens[at].is("["); ++at) {
    if (tokens[at].is("__shared__") || tokens[at].is("__constant__") || tokens[at].is("constexpr") ||
        tokens[at].is("__managed__")) {
      return false;
    }
    if (tokens[at].is("(") && !tokens[std::min(closing_bracket(tokens, at) + 1, tokens.size() - 1)].is(";"))
      return false;
  }
  return true;
}

/// Returns the column in bytes, from 1.
int column_of(std::string_view text, const Token& token) {
  const auto at = static_cast<size_t>(token.text.data() - text.data());
  const size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  return static_cast<int>(before == std::string_view::npos ? at + 1 : at - before);
}

/// A compiler warning like "/home/me/mine.cu:17:5: warning: 'float f(float)' is deprecated: convlab_mark_231".
struct Warning {
  int line;
  std::string mark;
  std::string subject;  ///< "float f(float)", followed by the compiler's closing quote

  bool is_about(std::string_view name) const {
    return std::ranges::any_of(tokens_of(subject), [&](const Token& token) { return token.is(name); });
  }
};

std::vector<Warning> marked_warnings(std::string_view text, const std::string& path) {
  std::vector<Warning> warnings;
  for (const std::string& line : split(text, '\n')) {
    const size_t mark = line.find(kMark), kind = line.find(": warning: ");
    if (mark == std::string::npos || kind == std::string::npos || !line.starts_with(path + ":")) continue;
    const size_t end = line.find_first_not_of("0123456789", mark + kMark.size());
    const size_t subject = line.find_first_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", kind + 11);
    Warning warning{0, line.substr(mark, end - mark), line.substr(subject, line.find(" is deprecated") - subject)};
    const char* const number = line.data() + path.size() + 1;
    if (std::from_chars(number, line.data() + line.size(), warning.line).ec == std::errc()) {
      warnings.push_back(std::move(warning));
    }
  }
  return warnings;
}

}  // namespace

SideCheck::SideCheck(const KernelSource& source) : source_(source), outline_(outline_of(source.text)) {
  for (size_t at = 0; at < outline_.tokens.size(); ++at) {
    if (outline_.tokens[at].kind == Token::Kind::name) look_at(at);
  }
}

void SideCheck::look_at(size_t at) {
  const std::vector<Token>& tokens = outline_.tokens;
  const auto named = [&](const Entity& entity) { return entity.name == tokens[at].text; };
  const auto entity = std::ranges::find_if(outline_.entities, named);
  if (entity == outline_.entities.end()) return;
  const Body* const body = outline_.body_around(at);
  if (body == nullptr || body->side == Side::unknown) return;
  // nvcc accepts calls from both sides if a function is declared for both in any of its declarations.
  const bool is_clear = std::ranges::all_of(outline_.entities, [&](const Entity& other) {
    return !named(other) || (other.side == entity->side && other.kind == entity->kind);
  });
  if (!is_clear || entity->side == Side::unknown || entity->side == body->side) return;
  // Host uses of device variables are detected at run time.
  const bool is_function = entity->kind == Entity::Kind::function;
  if (is_function ? !is_called(tokens, at) : entity->kind != Entity::Kind::variable || entity->side != Side::host)
    return;
  const bool is_member = at > 0 && (tokens[at - 1].is(".") || tokens[at - 1].is("->"));
  if (!is_member && !is_unevaluated(tokens, at)) uses_.push_back({at, &*entity, body});
}

std::vector<Insertion> SideCheck::marks() const {
  std::set<size_t> declarations;
  for (const Use& use : uses_) {
    for (const Entity& entity : outline_.entities) {
      if (entity.name == use.entity->name) declarations.insert(entity.declaration);
    }
  }
  std::vector<Insertion> marks;
  for (const size_t at : declarations) {
    marks.push_back({outline_.tokens[at].text, fmt::format("__attribute__((deprecated(\"{}{}\"))) ", kMark, at)});
  }
  return marks;
}

std::vector<Finding> SideCheck::errors(std::string_view warnings) const {
  constexpr size_t kMostErrors = 8;
  const std::vector<Warning> marked = marked_warnings(warnings, std::filesystem::absolute(source_.path).string());
  std::vector<Finding> findings;
  for (const Use& use : uses_) {
    const bool confirmed = std::ranges::any_of(marked, [&](const Warning& warning) {
      return warning.line == outline_.tokens[use.token].line && warning.is_about(use.entity->name) &&
             std::ranges::any_of(outline_.entities, [&](const Entity& entity) {
               return entity.name == use.entity->name && mark_of(entity) == warning.mark;
             });
    });
    if (confirmed && findings.size() < kMostErrors) findings.push_back(error(use));
  }
  return findings;
}

Finding SideCheck::error(const Use& use) const {
  const Token& token = outline_.tokens[use.token];
  const std::string_view name = token.text;
  std::string what, help;
  if (use.entity->kind != Entity::Kind::function) {
    what = fmt::format("identifier \"{}\" is undefined in device code", name);
    help =
        "it is a host variable: pass it to the kernel as an argument, or declare it __device__ or __constant__ and set "
        "it with cudaMemcpyToSymbol";
  } else if (use.body->side == Side::host) {
    what = fmt::format("calling a __device__ function(\"{}\") from a __host__ function(\"{}\") is not allowed", name,
                       use.body->function);
    help = fmt::format("declare {} as __host__ __device__ if the host needs it, too", name);
  } else {
    what = fmt::format("calling a __host__ function(\"{}\") from a {} function(\"{}\") is not allowed", name,
                       use.body->is_kernel ? "__global__" : "__device__", use.body->function);
    help = fmt::format("declare {} as __device__, or as __host__ __device__", name);
  }
  return {.kind = std::string(kCompileError),
          .text = std::move(what),
          .labels = {{.place = {source_.path.string(), token.line, column_of(source_.text, token)},
                      .subject = std::string(name)}},
          .help = std::move(help)};
}

std::vector<Insertion> device_sections(std::string_view source) {
  const Outline outline = outline_of(source);
  const std::vector<Token>& tokens = outline.tokens;
  std::vector<Insertion> sections;
  const auto add = [&](size_t before, std::string_view name) {
    if (!has_place(tokens, before)) return;
    sections.push_back({tokens[before].text, fmt::format("__attribute__((section(\"{}{}\"))) ", kDeviceSection, name)});
  };
  size_t last = SIZE_MAX;
  for (const Entity& entity : outline.entities) {
    if (entity.kind != Entity::Kind::variable || entity.side == Side::host || entity.is_managed) continue;
    if (std::exchange(last, entity.declaration) != entity.declaration) add(entity.declaration, entity.name);
  }
  for (size_t at = 0; at < tokens.size(); ++at) {
    if (!tokens[at].is("static")) continue;
    const Body* const body = outline.body_around(at);
    if (body != nullptr && body->side != Side::host) add(at, fmt::format("{}_{}", body->function, at));
  }
  return sections;
}

bool has_device_variables_in_headers(const KernelSource& source) {
  std::set<std::filesystem::path> seen;
  const auto search = [&](const auto& self, std::string_view text, const std::filesystem::path& folder) -> bool {
    return std::ranges::any_of(tokens_of(text), [&](const Token& token) {
      if (token.kind != Token::Kind::directive) return false;
      const std::optional<std::string_view> name = included_header(token.text);
      std::error_code error;
      if (!name || !std::filesystem::is_regular_file(folder / *name, error)) return false;
      if (!seen.insert((folder / *name).lexically_normal()).second) return false;
      const std::string header = read_source_text(folder / *name);
      return has_device_variables(header) || self(self, header, (folder / *name).parent_path());
    });
  };
  return search(search, source.text, std::filesystem::absolute(source.path).parent_path());
}

}  // namespace convlab
