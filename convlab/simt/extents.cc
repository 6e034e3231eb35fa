// Reads the dimensions of shared arrays from their declarations, so that reports show the same indices as the source.

#include "convlab/simt/extents.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include "convlab/base/names.h"

namespace convlab::simt::internal {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

/// Returns the definition of a constant: what follows `#define NAME`, `const ... NAME =`, or `NAME =` in an enum.
std::string_view definition_of(std::string_view source, std::string_view name) {
  for (size_t at = find_name(source, name); at != std::string_view::npos; at = find_name(source, name, at + 1)) {
    const std::string_view before = source.substr(0, at), after = source.substr(at + name.size());
    const std::string_view line = before.substr(before.rfind('\n') + 1);
    if (trimmed(line).starts_with('#') && trimmed(line).ends_with("define") && !after.starts_with('(')) {
      std::string_view value = after.substr(0, after.find('\n'));
      return trimmed(value.substr(0, std::min(value.find("//"), value.find("/*"))));
    }
    const std::string_view statement = before.substr(before.find_last_of(";{}") + 1);
    const std::string_view scope = before.substr(0, before.find_last_of(";{}") + 1);
    const bool is_enum = scope.ends_with('{') && scope.substr(scope.find_last_of(";}") + 1).find("enum") != scope.npos;
    const bool is_constant = statement.find("const") != std::string_view::npos || is_enum;
    const std::string_view value = trimmed(after);
    if (is_constant && value.starts_with('=') && !value.starts_with("==")) {
      return trimmed(value.substr(1, value.find_first_of(";,}") - 1));
    }
  }
  return "";
}

/// Evaluates integers, constants of the source, + - * / % and parentheses.
class Evaluator {
 public:
  Evaluator(std::string_view source, std::string_view text, int depth) : source_(source), text_(text), depth_(depth) {}

  std::optional<int64_t> value() {
    const std::optional<int64_t> sum = parse_sum();
    return trimmed(text_).empty() ? sum : std::nullopt;
  }

 private:
  static constexpr int kMostDepth = 10;  // of constants defined by other constants
  static constexpr int64_t kMost = int64_t{1} << 31;

  bool take(char c) {
    text_ = trimmed(text_);
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }

  std::optional<int64_t> parse_sum() {
    std::optional<int64_t> sum = parse_product();
    for (;;) {
      const bool adds = take('+');
      if (!adds && !take('-')) return sum;
      const std::optional<int64_t> next = parse_product();
      if (!sum || !next) return std::nullopt;
      *sum += adds ? *next : -*next;
    }
  }

  std::optional<int64_t> parse_product() {
    std::optional<int64_t> product = parse_factor();
    for (;;) {
      const char by = take('*') ? '*' : take('/') ? '/' : take('%') ? '%' : '\0';
      if (by == '\0') return product;
      const std::optional<int64_t> next = parse_factor();
      if (!product || !next || std::abs(*product) > kMost || std::abs(*next) > kMost) return std::nullopt;
      if (by != '*' && *next == 0) return std::nullopt;
      *product = by == '*' ? *product * *next : by == '/' ? *product / *next : *product % *next;
    }
  }

  std::optional<int64_t> parse_factor() {
    if (depth_ > kMostDepth) return std::nullopt;
    if (take('(')) {
      ++depth_;
      const std::optional<int64_t> value = parse_sum();
      --depth_;
      return take(')') ? value : std::nullopt;
    }
    text_ = trimmed(text_);
    size_t end = 0;
    while (end < text_.size() && is_name_character(text_[end])) ++end;
    const std::string_view word = text_.substr(0, end);
    text_.remove_prefix(end);
    if (word.empty()) return std::nullopt;
    if (!std::isdigit(static_cast<unsigned char>(word[0]))) {
      const std::string_view definition = definition_of(source_, word);
      return definition.empty() ? std::nullopt : Evaluator(source_, definition, depth_ + 1).value();
    }
    int64_t number = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    const std::string_view suffix(stop, static_cast<size_t>(word.data() + word.size() - stop));
    if (error != std::errc() || number > kMost) return std::nullopt;
    return suffix.find_first_not_of("uUlL") == std::string_view::npos ? std::optional(number) : std::nullopt;
  }

  std::string_view source_, text_;
  int depth_;
};

/// Returns "16" and "TILE + 1" for "[16][TILE + 1];".
std::vector<std::string_view> bracketed(std::string_view text) {
  std::vector<std::string_view> parts;
  for (text = trimmed(text); text.starts_with('['); text = trimmed(text)) {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) break;
    parts.push_back(trimmed(text.substr(1, end - 1)));
    text.remove_prefix(end + 1);
  }
  return parts;
}

/// Returns the dimensions of one declaration; empty if their product does not match the number of elements.
std::vector<int64_t> extents_of(std::string_view source, const std::vector<std::string_view>& texts, int64_t elements) {
  std::vector<int64_t> extents;
  std::string_view unknown;
  int64_t known = 1, unknowns = 0;
  for (const std::string_view text : texts) {
    const std::optional<int64_t> value = Evaluator(source, text, 0).value();
    extents.push_back(value.value_or(0));
    if (value && (*value < 1 || known > elements / *value)) return {};
    if (value) {
      known *= *value;
    } else if (unknowns++ > 0 && text != unknown) {
      return {};
    } else {
      unknown = text;
    }
  }
  if (unknowns > 0) {
    const auto each = static_cast<int64_t>(std::lround(
        std::pow(static_cast<double>(elements) / static_cast<double>(known), 1.0 / static_cast<double>(unknowns))));
    std::ranges::replace(extents, 0, each);
    for (int64_t i = 0; i < unknowns; ++i) known *= each;
  }
  return known == elements ? extents : std::vector<int64_t>{};
}

}  // namespace

std::vector<int64_t> extents_in_source(std::string_view source, std::string_view name, int64_t elements) {
  std::vector<int64_t> extents;
  if (name.empty()) return extents;
  for (size_t at = find_name(source, name); at != std::string_view::npos; at = find_name(source, name, at + 1)) {
    const std::string_view before = source.substr(0, at);
    const std::string_view statement = before.substr(before.find_last_of(";{}") + 1);
    const std::vector<std::string_view> texts = bracketed(source.substr(at + name.size()));
    if (texts.empty() || statement.find("__shared__") == std::string_view::npos) continue;
    std::vector<int64_t> found = extents_of(source, texts, elements);
    if (found.empty()) continue;
    if (!extents.empty() && found != extents) return {};
    extents = std::move(found);
  }
  return extents;
}

std::string subscripts(const std::vector<int64_t>& extents, int64_t index) {
  std::string text;
  for (size_t i = extents.size(); i-- > 1; index /= extents[i]) text = fmt::format("[{}]{}", index % extents[i], text);
  return fmt::format("[{}]{}", index, text);
}

}  // namespace convlab::simt::internal
