// Finds the casts that hide the type of a kernel in a launch by address.

#include "convlab/kernel_file/kernel_casts.h"

#include <cstddef>

namespace convlab {
namespace {

/// Returns the index after `void *` in any order with const; `at` itself if these tokens are something else.
size_t after_void_pointer(const std::vector<Token>& tokens, size_t at) {
  size_t end = at;
  bool is_void = false;
  for (; end < tokens.size() && (tokens[end].is("void") || tokens[end].is("const")); ++end) {
    is_void |= tokens[end].is("void");
  }
  return is_void && end < tokens.size() && tokens[end].is("*") ? end + 1 : at;
}

}  // namespace

std::vector<std::string_view> kernel_casts(const std::vector<Token>& tokens) {
  std::vector<std::string_view> casts;
  for (size_t i = 0; i + 3 < tokens.size(); ++i) {
    if (!tokens[i].is("cudaLaunchKernel") && !tokens[i].is("cudaLaunchCooperativeKernel")) continue;
    if (!tokens[i + 1].is("(")) continue;
    const size_t first = i + 2;
    const bool is_named = tokens[first].is("reinterpret_cast") || tokens[first].is("static_cast");
    const size_t open = is_named ? first + 1 : first;
    if (open >= tokens.size() || !tokens[open].is(is_named ? "<" : "(")) continue;
    const size_t end = after_void_pointer(tokens, open + 1);
    if (end == open + 1 || end >= tokens.size() || !tokens[end].is(is_named ? ">" : ")")) continue;
    const char* const begin = tokens[first].text.data();
    casts.emplace_back(begin, static_cast<size_t>(tokens[end].text.data() + 1 - begin));
  }
  return casts;
}

}  // namespace convlab
