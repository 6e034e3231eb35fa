// Parses kernel files and detects their kind.

#include "convlab/kernel_file/source.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/kernel_file/tokens.h"

namespace convlab {
namespace {

constexpr int64_t kMostBytes = 4 << 20;

constexpr std::string_view kKnown =
    "expected RegisterKernel, forward(Tensor& y, ...), GPUInterface::conv_forward_gpu, conv_forward_cpu or "
    "convolve(...); 'convlab new' writes an example";

constexpr std::string_view kClassOfMinidnn = "GPUInterface";

using Tokens = std::vector<Token>;

// Joins tokens on one line, without comments.
std::string joined(const Tokens& tokens, size_t first, size_t end) {
  std::string text;
  for (size_t i = first; i < end; ++i) {
    if (tokens[i].kind == Token::Kind::directive) continue;
    if (!text.empty() && tokens[i].text.data() != tokens[i - 1].text.data() + tokens[i - 1].text.size()) text += ' ';
    text += tokens[i].text;
  }
  return text;
}

bool names_type(const Token& token) {
  constexpr std::array<std::string_view, 8> kTypes{"float", "int",      "double", "size_t",
                                                   "const", "unsigned", "long",   "char"};
  return std::ranges::find(kTypes, token.text) != kTypes.end();
}

std::vector<FileParameter> parameters_of(const Tokens& tokens, size_t open, size_t close) {
  std::vector<FileParameter> list;
  size_t first = open + 1;
  int depth = 0;
  for (size_t i = open + 1; i <= close; ++i) {
    const Token& token = tokens[i];
    if (token.is("(") || token.is("[") || token.is("<")) ++depth;
    if (i < close && (token.is(")") || token.is("]") || token.is(">"))) --depth;
    if (i != close && !(token.is(",") && depth == 0)) continue;
    size_t end = i;  // of the name, before array brackets
    while (end > first && tokens[end - 1].is("]")) {
      while (end > first && !tokens[end - 1].is("[")) --end;
      --end;
    }
    const bool is_named = end > first + 1 && tokens[end - 1].kind == Token::Kind::name && !names_type(tokens[end - 1]);
    if (i > first) {
      list.push_back(
          {joined(tokens, first, is_named ? end - 1 : i), is_named ? std::string(tokens[end - 1].text) : ""});
    }
    first = i + 1;
  }
  return list;
}

// Returns the functions that the file defines and for which wanted(scope, name) is true.
template <class Wanted>
std::vector<FileFunction> definitions(const Tokens& tokens, Wanted&& wanted) {
  std::vector<FileFunction> found;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].kind != Token::Kind::name) continue;
    const std::string_view scope = i >= 2 && tokens[i - 1].is("::") ? tokens[i - 2].text : std::string_view{};
    if (!wanted(scope, tokens[i].text)) continue;
    size_t open = i + 1;
    if (tokens[open].is("<")) {  // forward<gpu, float>
      while (open < tokens.size() && !tokens[open].is(">") && !tokens[open].is("{") && !tokens[open].is(";")) ++open;
      if (open >= tokens.size() || !tokens[open].is(">")) continue;
      ++open;
    }
    if (open >= tokens.size() || !tokens[open].is("(")) continue;
    const size_t close = closing_bracket(tokens, open);
    if (close + 1 >= tokens.size() || !tokens[close + 1].is("{")) continue;
    FileFunction function{.name = std::string(tokens[i].text),
                          .scope = std::string(scope),
                          .parameters = joined(tokens, open + 1, close),
                          .list = parameters_of(tokens, open, close),
                          .line = tokens[i].line};
    found.push_back(std::move(function));
  }
  return found;
}

bool has_name(const Tokens& tokens, std::string_view name) {
  return std::ranges::any_of(tokens, [&](const Token& token) { return token.is(name); });
}

bool has_name_with(const Tokens& tokens, std::string_view part) {
  return std::ranges::any_of(tokens, [&](const Token& token) {
    return token.kind == Token::Kind::name && token.text.find(part) != std::string_view::npos;
  });
}

bool defines_class(const Tokens& tokens) {
  for (size_t i = 0; i + 2 < tokens.size(); ++i) {
    const bool is_class = tokens[i].is("class") || tokens[i].is("struct");
    if (is_class && tokens[i + 1].is(kClassOfMinidnn) && tokens[i + 2].is("{")) return true;
  }
  return false;
}

/// Returns the type in the form that matters to a caller: "int" for "const int", "float**" for "float * *".
std::string canonical(const std::string& type) {
  std::string text;
  for (const char c : type) {
    if (c == '*') text.erase(text.find_last_not_of(' ') + 1);
    text += c;
  }
  if (text.ends_with(' ')) text.pop_back();
  const bool is_value = text.find_first_of("*&") == std::string::npos;
  return is_value && text.starts_with("const ") ? text.substr(6) : text;
}

bool declares(const Tokens& tokens, const FileFunction& function) {
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (!tokens[i].is(function.name) || !tokens[i + 1].is("(")) continue;
    const size_t close = closing_bracket(tokens, i + 1);
    if (close >= tokens.size()) return false;
    const std::vector<FileParameter> list = parameters_of(tokens, i + 1, close);
    if (std::ranges::equal(
            list, function.list, {}, [](const FileParameter& p) { return canonical(p.type); },
            [](const FileParameter& p) { return canonical(p.type); })) {
      return true;
    }
  }
  return false;
}

/// Returns whether a header next to the file declares the class with the functions as the file defines them. Some files
/// add members to the class, and some are next to headers of another semester.
bool brings_class(const Tokens& tokens, const std::filesystem::path& folder,
                  const std::vector<FileFunction>& functions) {
  return std::ranges::any_of(tokens, [&](const Token& token) {
    if (token.kind != Token::Kind::directive) return false;
    const std::optional<std::string_view> header = included_header(token.text);
    std::error_code error;
    if (!header || !std::filesystem::is_regular_file(folder / *header, error)) return false;
    const std::string text = read_source_text(folder / *header);
    const Tokens inside = tokens_of(text);
    return defines_class(inside) && std::ranges::all_of(functions, [&](const FileFunction& each) {
             return each.scope.empty() || declares(inside, each);
           });
  });
}

/// Numbers that occur only in one semester's network: input and output sizes or output channels of its layers.
struct Semester {
  std::string_view name;
  std::array<int, 3> marks;
};

constexpr std::array kSemesters{
    Semester{"fa19", {70, 29, 29}}, Semester{"fa18", {72, 27, 27}}, Semester{"sp19", {48, 44, 22}},
    Semester{"sp18", {60, 30, 26}}, Semester{"fa17", {28, 50, 28}},
};

// Returns all integers in the code, including macros.
std::set<int> numbers_of(const Tokens& tokens) {
  std::set<int> numbers;
  const auto add = [&](std::string_view text) {
    int value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc()) numbers.insert(value);
  };
  for (const Token& token : tokens) {
    if (token.kind == Token::Kind::number) add(token.text);
    if (token.kind != Token::Kind::directive || !token.text.starts_with("#")) continue;
    for (const Token& inner : tokens_of(token.text.substr(1))) {
      if (inner.kind == Token::Kind::number) add(inner.text);
    }
  }
  return numbers;
}

// Returns the semester whose marks occur among the file's numbers; "" if none or several match.
std::string semester_of(const Tokens& tokens) {
  const std::set<int> numbers = numbers_of(tokens);
  std::string found;
  for (const Semester& semester : kSemesters) {
    if (std::ranges::none_of(semester.marks, [&](int mark) { return numbers.count(mark) != 0; })) continue;
    if (!found.empty()) return "";
    found = semester.name;
  }
  return found;
}

[[noreturn]] void reject(const std::filesystem::path& path, const std::string& why) {
  throw bad_input("{}: {}; {}", path.string(), why, kKnown);
}

void require_minidnn(const KernelSource& source) {
  const bool prolog = source.find("conv_forward_gpu_prolog"), epilog = source.find("conv_forward_gpu_epilog");
  const FileFunction* call = source.find("conv_forward_gpu");
  if (source.find("conv_forward_cpu") != nullptr) return;
  if (call == nullptr) {
    reject(source.path, "GPUInterface::conv_forward_gpu is missing, but a prolog or an epilog is defined");
  }
  if (prolog != epilog) {
    reject(source.path,
           fmt::format("{} is missing, but a {} is defined",
                       prolog ? "conv_forward_gpu_epilog" : "conv_forward_gpu_prolog", prolog ? "prolog" : "epilog"));
  }
}

}  // namespace

std::string_view name_of(FileKind kind) {
  switch (kind) {
    case FileKind::own:
      return "own";
    case FileKind::mxnet:
      return "mxnet";
    case FileKind::minidnn:
      return "minidnn";
    case FileKind::function:
      return "function";
    case FileKind::program:
      return "program";
  }
  return "?";
}

int FileFunction::number_count() const {
  return static_cast<int>(std::ranges::count_if(list, [](const FileParameter& each) {
    return each.type.find('*') == std::string::npos && each.type.find('&') == std::string::npos;
  }));
}

const FileFunction* KernelSource::find(std::string_view name) const {
  const auto found = std::ranges::find(functions, name, &FileFunction::name);
  return found == functions.end() ? nullptr : &*found;
}

bool has_source_suffix(std::string_view name) {
  constexpr std::array<std::string_view, 9> kSuffixes{".cu", ".cuh", ".cc", ".cpp", ".cxx", ".c", ".h", ".hpp", ".hh"};
  return std::ranges::any_of(kSuffixes, [&](std::string_view suffix) { return name.ends_with(suffix); });
}

bool names_kernel_file(std::string_view text) {
  return text.find('/') != std::string_view::npos || has_source_suffix(text);
}

KernelSource parse_kernel_source(std::string text, const std::filesystem::path& path) {
  KernelSource source{.path = path, .text = std::move(text)};
  const Tokens tokens = tokens_of(source.text);
  const auto named = [](std::string_view wanted) {
    return [wanted](std::string_view, std::string_view name) { return name == wanted; };
  };
  std::vector<FileKind> kinds;
  if (has_name(tokens, "RegisterKernel") || has_name(tokens, "RegisterConvKernel")) kinds.push_back(FileKind::own);
  std::vector<FileFunction> forwards = definitions(tokens, named("forward"));
  std::erase_if(forwards, [](const FileFunction& f) { return f.parameters.find("Tensor") == std::string::npos; });
  if (!forwards.empty()) kinds.push_back(FileKind::mxnet);
  std::vector<FileFunction> phases = definitions(tokens, [](std::string_view scope, std::string_view name) {
    return scope == kClassOfMinidnn || name.starts_with("conv_forward_");
  });
  if (std::ranges::any_of(phases, [](const FileFunction& f) { return f.name.starts_with("conv_forward_"); }))
    kinds.push_back(FileKind::minidnn);
  std::vector<FileFunction> functions = definitions(tokens, named("convolve"));
  std::erase_if(functions, [](const FileFunction& f) { return f.parameters.find("float") == std::string::npos; });
  if (kinds.empty() && !functions.empty()) kinds.push_back(FileKind::function);

  if (kinds.empty()) reject(path, "not a kernel file: no entry point found");
  if (kinds.size() > 1) {
    reject(path,
           fmt::format("entry points of two kinds found, {} and {}: remove one", name_of(kinds[0]), name_of(kinds[1])));
  }
  source.kind = kinds.front();
  // "gpu" is from the course's forward<gpu, float>: without it, a file with a misspelled __global__ would count as one
  // for CPUs.
  source.cuda = std::ranges::any_of(std::array{"__global__", "GPUInterface", "kCompiledFor", "gpu"},
                                    [&](const char* word) { return has_name(tokens, word); });
  source.half = has_name(tokens, "half") || has_name(tokens, "__half") || has_name_with(tokens, "half2");
  source.tf32 = has_name(tokens, "tf32") || has_name_with(tokens, "to_tf32");
  switch (source.kind) {
    case FileKind::own:
    case FileKind::program:
      break;
    case FileKind::mxnet:
      source.functions = std::move(forwards);
      source.semester = semester_of(tokens);
      source.semester_is_guess = source.semester.empty();
      if (source.semester.empty()) source.semester = kSemesters.front().name;
      break;
    case FileKind::minidnn:
      source.functions = std::move(phases);
      source.semester = "sp25";
      source.defines_class = defines_class(tokens) || brings_class(tokens, path.parent_path(), source.functions);
      require_minidnn(source);
      break;
    case FileKind::function:
      source.functions = std::move(functions);
      break;
  }
  return source;
}

std::string read_source_text(const std::filesystem::path& path) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  const std::vector<uint8_t> bytes = read_file(path, kMostBytes);
  std::string text(bytes.begin(), bytes.end());
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return text;
}

KernelSource read_program_source(const std::filesystem::path& path, bool cuda) {
  std::string text = read_source_text(path);
  if (text.find('\0') != std::string::npos) throw bad_input("{}: not a text file", path.string());
  return {.path = path, .text = std::move(text), .kind = FileKind::program, .cuda = cuda};
}

KernelSource read_kernel_source(const std::filesystem::path& path) {
  std::string text = read_source_text(path);
  if (text.find('\0') != std::string::npos) reject(path, "not a text file");
  return parse_kernel_source(std::move(text), path);
}

}  // namespace convlab
