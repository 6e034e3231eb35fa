// Replaces parts of a source.

#include "convlab/kernel_file/edits.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace convlab {

void Edits::add(std::vector<Rewrite> rewrites) { std::ranges::move(rewrites, std::back_inserter(rewrites_)); }

std::string Edits::apply() {
  std::ranges::stable_sort(rewrites_, {}, [](const Rewrite& rewrite) { return rewrite.part.data(); });
  std::string result;
  size_t at = 0;
  for (const Rewrite& rewrite : rewrites_) {
    const auto begin = static_cast<size_t>(rewrite.part.data() - text_.data());
    result += text_.substr(at, begin - at);
    result += rewrite.by;
    at = begin + rewrite.part.size();
  }
  result += text_.substr(at);
  return result;
}

std::string line_ends(std::string_view text) {
  std::string ends;
  for (size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    ends += at > 0 && text[at - 1] == '\\' ? "\\\n" : "\n";
  }
  return ends;
}

std::string_view text_from(const Token& first, const Token& last) {
  return {first.text.data(), static_cast<size_t>(last.text.data() + last.text.size() - first.text.data())};
}

}  // namespace convlab
