// Says what to do about compiler errors whose messages do not show the mistake.

#include "convlab/kernel_file/compile_help.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "convlab/base/names.h"
#include "convlab/base/resources.h"
#include "convlab/base/symbol.h"
#include "convlab/base/text.h"
#include "convlab/kernel_file/tokens.h"

namespace convlab {
namespace fs = std::filesystem;
namespace {

struct Hint {
  std::string_view when, what;
};

/// Help for compiler errors whose cause the compiler's message does not show.
constexpr std::array kHints{
    Hint{"clockRate", "CUDA 13 removed this member of cudaDeviceProp; use cudaDeviceGetAttribute"},
    Hint{"deviceOverlap", "CUDA 13 removed this member of cudaDeviceProp; use cudaDeviceGetAttribute"},
    Hint{"No space left on device", "the disk of the cache is full; set CONVLAB_CACHE to a folder on another disk"},
};

constexpr std::string_view kSuggestion = "; did you mean";

/// Returns the undeclared names in the compiler's errors for which it has no suggestion, in order. Accepts any
/// quotation marks, because they depend on the user's locale.
std::vector<std::string> undeclared_names(const std::string& complaint) {
  std::vector<std::string> names;
  for (const std::string_view known : {" was not declared in this scope", " has not been declared"}) {
    for (size_t at = complaint.find(known); at != std::string::npos; at = complaint.find(known, at + 1)) {
      if (complaint.compare(at + known.size(), kSuggestion.size(), kSuggestion) == 0) continue;
      size_t end = at;
      while (end > 0 && !is_name_character(complaint[end - 1])) --end;
      size_t begin = end;
      while (begin > 0 && is_name_character(complaint[begin - 1])) --begin;
      names.push_back(complaint.substr(begin, end - begin));
    }
  }
  return names;
}

/// Returns whether the token is at the position of a declared name: after a type, and not in an initializer.
bool is_declared_at(const std::vector<Token>& tokens, size_t at) {
  constexpr std::array<std::string_view, 22> kTypes{
      "auto",   "bool",     "char", "const",      "constexpr",  "dim3",        "double", "extern",
      "float",  "half",     "int",  "long",       "short",      "signed",      "size_t", "static",
      "struct", "unsigned", "void", "__shared__", "__device__", "__constant__"};
  const auto is_type = [&](size_t i) { return std::ranges::count(kTypes, tokens[i].text) > 0; };
  size_t begin = at;
  while (begin > 0 && (tokens[begin - 1].is("*") || tokens[begin - 1].is("&"))) --begin;
  if (begin > 0 && is_type(begin - 1)) return true;
  while (begin > 0) {  // to the start of the statement
    const Token& before = tokens[begin - 1];
    if (before.is("=") || before.is("[") || before.is("return")) return false;
    if (before.is(";") || before.is("{") || before.is("}") || before.is("(")) break;
    if (before.kind == Token::Kind::directive) break;
    --begin;
  }
  return begin < at && is_type(begin);
}

/// Returns whether the file itself appears to declare the name.
bool declares(const std::vector<Token>& tokens, std::string_view name) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind == Token::Kind::directive) {
      const std::vector<Token> inside = tokens_of(tokens[i].text.substr(1));
      if (inside.size() > 1 && inside[0].is("define") && inside[1].is(name)) return true;
    } else if (tokens[i].is(name) && is_declared_at(tokens, i)) {
      return true;
    }
  }
  return false;
}

bool is_cuda_name(std::string_view name) {
  constexpr std::array<std::string_view, 14> kBegins{"cuda",   "cublas", "cudnn",  "curand", "cusparse",
                                                     "cufft",  "cub",    "thrust", "nvcuda", "cooperative_groups",
                                                     "atomic", "tex",    "surf",   "__"};
  return std::ranges::any_of(kBegins, [&](std::string_view begin) { return name.starts_with(begin); });
}

/// Returns the name of CUDA that was probably meant, among those that are easy to misspell; "" if none is similar.
std::string closest_cuda_name(std::string_view name) {
  return closest(
      name, {"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "__shared__", "__syncthreads", "atomicAdd",
             "cudaFree", "cudaMalloc", "cudaMemcpy", "cudaMemset", "__ldg", "__shfl_down_sync"});
}

std::string hint_for(const std::vector<Token>& tokens, const std::string& complaint) {
  for (const Hint& hint : kHints) {
    if (complaint.find(hint.when) != std::string::npos) return std::string(hint.what);
  }
  for (const std::string& name : undeclared_names(complaint)) {
    if (declares(tokens, name)) continue;  // declared in the file, so the error is in the code before it
    const std::string nearest = closest_cuda_name(name);
    if (!nearest.empty() && nearest != name) return fmt::format("did you mean '{}'?", nearest);
    if (is_cuda_name(name))
      return fmt::format("simt does not support '{}'; compile it with nvcc on a machine with a GPU", name);
    return fmt::format("the file does not declare '{}'; convlab compiles it alone, without other files of its project",
                       name);
  }
  return "";
}

/// Returns the name between a text and the first character that no name has: "conv" for "function ‘void conv(int)’".
std::string name_before(std::string_view text, std::string_view end) {
  const size_t stop = text.find(end);
  if (stop == std::string_view::npos) return "";
  size_t begin = stop;
  while (begin > 0 && is_name_character(text[begin - 1])) --begin;
  return std::string(text.substr(begin, stop - begin));
}

/// Returns the first name in a text.
std::string first_name(std::string_view text) {
  const auto begin = std::ranges::find_if(text, is_name_character);
  const auto end = std::find_if_not(begin, text.end(), is_name_character);
  return {begin, end};
}

/// Returns the headers that a file may include: those next to it, and convlab's.
std::vector<std::string> known_headers(const KernelSource& source) {
  std::vector<std::string> names;
  const fs::path own = find_resource("convlab/kernel_file/entry.h").parent_path();
  for (const fs::path& folder : {fs::absolute(source.path).parent_path(), own / "include", own / "simt_include"}) {
    std::error_code error;
    for (const fs::directory_entry& each : fs::directory_iterator(folder, error)) {
      if (each.path().extension() == ".h") names.push_back(each.path().filename().string());
    }
  }
  return names;
}

std::string missing_header(const KernelSource& source, std::string_view text) {
  const std::string header(text.substr(0, text.find(':')));
  const std::string nearest = closest(header, known_headers(source));
  if (!nearest.empty() && nearest != header) return fmt::format("did you mean '{}'?", nearest);
  return "put the included file next to this one, or remove the include";
}

/// A semicolon belongs at the end of the line before the error, if the error is at a line's first token.
std::string missing_semicolon(const std::vector<Token>& tokens, const SourcePlace& place) {
  const auto here = std::ranges::find_if(tokens, [&](const Token& each) { return each.line >= place.line; });
  if (here == tokens.end() || here == tokens.begin() || here->line != place.line) return "";
  const char* const begin = here->text.data() - (place.column - 1);
  const bool is_first =
      place.column > 0 && std::all_of(begin, here->text.data(), [](char c) { return c == ' ' || c == '\t'; });
  return is_first ? fmt::format("add ';' at the end of line {}", std::prev(here)->line) : "";
}

/// The parameters of a function's definition, as tokens.
struct Definition {
  int line = 0;
  std::vector<std::string> parameters;
};

/// Returns the last names of the parts between the commas of brackets.
std::vector<std::string> names_in(const std::vector<Token>& tokens, size_t open) {
  std::vector<std::string> names;
  std::string name;
  const size_t close = closing_bracket(tokens, open);
  for (size_t i = open + 1; i <= close && i < tokens.size(); ++i) {
    if (tokens[i].is("(") || tokens[i].is("[") || tokens[i].is("{")) {
      i = closing_bracket(tokens, i);
    } else if (i == close || tokens[i].is(",")) {
      names.push_back(std::exchange(name, ""));
    } else if (tokens[i].kind == Token::Kind::name) {
      name = tokens[i].text;
    }
  }
  return names;
}

/// Returns the kernel of this name that the file defines.
std::optional<Definition> definition_of(const std::vector<Token>& tokens, std::string_view kernel) {
  for (size_t i = 1; i + 1 < tokens.size(); ++i) {
    if (tokens[i].is(kernel) && tokens[i - 1].is("void") && tokens[i + 1].is("(")) {
      return Definition{tokens[i].line, names_in(tokens, i + 1)};
    }
  }
  return std::nullopt;
}

/// Returns the arguments that a line passes to the kernel, by name.
std::vector<std::string> arguments_at(const std::vector<Token>& tokens, std::string_view kernel, int line) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is(kernel) || tokens[i].line != line) continue;
    while (i < tokens.size() && !tokens[i].is("(")) ++i;  // of kernel<<<grid, block>>>(
    return i < tokens.size() ? names_in(tokens, i) : std::vector<std::string>{};
  }
  return {};
}

/// Returns the index of the parameter without which the most arguments have the names of their parameters.
size_t left_out(const std::vector<std::string>& parameters, const std::vector<std::string>& arguments) {
  size_t best = 0;
  std::ptrdiff_t most = -1;
  for (size_t i = 0; i < parameters.size(); ++i) {
    std::vector<std::string> others = parameters;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    std::ptrdiff_t same = 0;
    for (size_t j = 0; j < arguments.size(); ++j) same += others[j] == arguments[j] ? 1 : 0;
    if (same >= most) best = i;
    most = std::max(most, same);
  }
  return best;
}

/// Names the parameter without an argument, and corrects the line of the kernel's declaration.
std::string missing_argument(const std::vector<Token>& tokens, Finding& error) {
  const std::string kernel = name_before(error.text, "(");
  const std::optional<Definition> definition = definition_of(tokens, kernel);
  if (!definition) return "";
  const std::vector<std::string> arguments = arguments_at(tokens, kernel, place_of(error).line);
  for (size_t i = 1; i < error.labels.size(); ++i) {
    error.labels[i] = {
        .place = {place_of(error).file, definition->line, 0}, .text = error.labels[i].text, .subject = kernel};
  }
  const std::vector<std::string>& parameters = definition->parameters;
  if (arguments.size() + 1 != parameters.size()) {
    return fmt::format("it has {} parameters, the launch passes {}", parameters.size(), arguments.size());
  }
  return fmt::format("pass an argument for '{}'", parameters[left_out(parameters, arguments)]);
}

/// Functions of CUDA that simt does not support are deleted ones.
std::string unsupported_function(std::string_view text) {
  constexpr std::string_view kOwner = "convlab::simt::cuda::";
  const std::string_view before = text.substr(0, text.find('('));
  const size_t at = before.rfind(kOwner);
  if (at == std::string_view::npos) return "";
  const std::string_view name = before.substr(at + kOwner.size());
  if (!std::ranges::all_of(name, is_name_character)) return "";  // a class's own
  return fmt::format("simt does not support '{}'; compile it with nvcc on a machine with a GPU", name);
}

std::string help_for_error(const KernelSource& source, const std::vector<Token>& tokens, Finding& error) {
  const std::string& text = error.text;
  const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  if (has("No such file or directory")) return missing_header(source, text);
  if (has("use of deleted function")) return unsupported_function(text);
  if (has("does not name a type")) {
    const std::string name = first_name(text);
    if (name == "texture" || name == "surface") {
      return "CUDA 12 removed texture and surface references; use cudaCreateTextureObject or cudaCreateSurfaceObject";
    }
    const std::string nearest =
        closest(name, {"__global__", "__device__", "__host__", "__constant__", "__shared__", "__launch_bounds__"});
    return nearest.empty() || nearest == name ? "" : fmt::format("did you mean '{}'?", nearest);
  }
  if (has("operator<<") && has("dim3")) return "write kernel<<<grid, block>>>(arguments): three '<' and three '>'";
  if (has("__global__ function call must be configured")) {
    // g++ may print the name mangled.
    const std::string kernel =
        short_symbol(first_name(std::string_view(text).substr(std::string_view("call to ").size())));
    error.text = fmt::format("kernel '{}' is called without <<<grid, block>>>", kernel);
    return fmt::format("write {}<<<grid, block>>>(arguments)", kernel);
  }
  if (has("expected") && has("before") && has(";")) return missing_semicolon(tokens, place_of(error));
  if (has("too few arguments to function")) return missing_argument(tokens, error);
  return "";
}

}  // namespace

void add_help(Finding& warning) {
  if (!warning.text.ends_with("uninitialized]")) return;
  const std::string name = first_name(warning.text);
  warning.labels.front().subject = name;
  warning.help = fmt::format("initialize '{}' where it is declared, for example with = 0", name);
}

std::string help_for(const KernelSource& source, const std::string& complaint, std::vector<Finding>& errors) {
  const std::vector<Token> tokens = tokens_of(source.text);
  for (Finding& each : errors) each.help = help_for_error(source, tokens, each);
  if (errors.empty()) return hint_for(tokens, complaint);
  if (errors.front().help.empty()) errors.front().help = hint_for(tokens, complaint);
  return errors.front().help;
}

}  // namespace convlab
