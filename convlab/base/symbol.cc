// Demangles and shortens symbol names.

#include "convlab/base/symbol.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>

namespace convlab {

std::string demangled(std::string_view symbol) {
  std::string name(symbol);
  if (!symbol.starts_with("_Z")) return name;  // the demangler would read a plain "m" as a mangled type
  int status = 0;
  if (char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status)) {
    name = text;
    std::free(text);
  }
  return name;
}

std::string short_symbol(std::string_view symbol) {
  std::string name = demangled(symbol);
  if (const size_t clone = name.find(" [clone"); clone != std::string::npos) name.resize(clone);
  // Finds the last name that starts outside all brackets; it ends at its parameters.
  size_t begin = 0, end = name.size();
  int depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '(' && depth == 0 && name.compare(i, 21, "(anonymous namespace)") != 0) end = std::min(end, i);
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    if (depth == 0 && (c == ' ' || (c == ':' && i > 0 && name[i - 1] == ':'))) {
      begin = i + 1;
      end = name.size();
    }
  }
  return name.substr(begin, end - begin);
}

}  // namespace convlab
