// Reads the parameter names of kernels from their definitions, so that reports use the same names as the kernel.

#include "convlab/simt/parameters.h"

#include <algorithm>
#include <cctype>

#include "convlab/base/names.h"
#include "convlab/simt/code_text.h"

namespace convlab::simt::internal {
namespace {

/// Returns the name in "const float* __restrict__ x" and "float (&x)[4]"; "" if there is only a type.
std::string name_of_parameter(std::string_view text) {
  text = text.substr(0, text.find_first_of("=["));
  size_t end = text.size();
  while (end > 0 && !is_name_character(text[end - 1])) --end;
  if (text.find_first_of("*&", end) != std::string_view::npos) return "";
  size_t begin = end;
  while (begin > 0 && is_name_character(text[begin - 1])) --begin;
  const std::string_view before = text.substr(0, begin);
  const bool has_type = std::ranges::any_of(before, is_name_character);
  return has_type ? std::string(text.substr(begin, end - begin)) : "";
}

std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  if (std::ranges::all_of(list, [](unsigned char c) { return std::isspace(c) != 0; })) return names;
  int depth = 0;
  size_t begin = 0;
  for (size_t at = 0; at <= list.size(); ++at) {
    const char c = at < list.size() ? list[at] : ',';
    if (c == '(' || c == '<' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == '>' || c == ']' || c == '}') --depth;
    if (c != ',' || (depth > 0 && at < list.size())) continue;
    names.push_back(name_of_parameter(list.substr(begin, at - begin)));
    begin = at + 1;
  }
  return names;
}

}  // namespace

std::vector<std::string> parameters_in_source(std::string_view source, std::string_view kernel) {
  const std::string text = code_of(source);
  std::vector<std::string> declared;
  for (size_t at = find_name(text, kernel); at != std::string::npos; at = find_name(text, kernel, at + 1)) {
    const std::string_view before = std::string_view(text).substr(0, at);
    const std::string_view statement = before.substr(before.find_last_of(";{}") + 1);
    const size_t open = text.find_first_not_of(" \t\r\n", at + kernel.size());
    if (open == std::string::npos || text[open] != '(' ||
        find_name(statement, "__global__") == std::string_view::npos) {
      continue;
    }
    const size_t close = closing(text, open);
    if (close == std::string::npos) continue;
    declared = names_in(std::string_view(text).substr(open + 1, close - open - 1));
    const size_t after = text.find_first_not_of(" \t\r\n", close + 1);
    if (after != std::string::npos && text[after] == '{') break;  // the definition
  }
  return declared;
}

std::string dynamic_array_in_source(std::string_view source, std::string_view line) {
  const std::string code = code_of(source);
  const std::string_view text = code;
  for (size_t at = find_name(text, "extern"); at != std::string_view::npos; at = find_name(text, "extern", at + 1)) {
    const std::string_view statement = text.substr(at, text.find(';', at) - at);
    if (find_name(statement, "__shared__") == std::string_view::npos) continue;
    std::string name = name_of_parameter(statement);
    if (!name.empty() && find_name(line, name) != std::string_view::npos) return name;
  }
  return "";
}

}  // namespace convlab::simt::internal
