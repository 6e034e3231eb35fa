// Reads numbers and tokens from the front of a problem's text.

#include "convlab/base/text_reader.h"

#include <charconv>

#include "convlab/base/error.h"
#include "convlab/base/text.h"

namespace convlab {

bool TextReader::accept(std::string_view token) {
  if (!rest().starts_with(token)) return false;
  at_ += token.size();
  return true;
}

void TextReader::expect(std::string_view token) {
  if (!accept(token)) fail(fmt::format("expected '{}'", token));
}

int64_t TextReader::number() {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (error != std::errc()) fail("expected an integer");
  at_ = static_cast<size_t>(end - text_.data());
  return value;
}

int64_t TextReader::number(std::string_view name, int64_t low, int64_t high) {
  const size_t begin = at_;
  const int64_t value = number();
  if (value >= low && value <= high) return value;
  at_ = begin;
  fail(fmt::format("{} must be between {} and {}, got {},", name, low, high, value));
}

float TextReader::real() {
  float value = 0;
  const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (error != std::errc()) fail("expected a float32 number");
  at_ = static_cast<size_t>(end - text_.data());
  return value;
}

std::vector<int64_t> TextReader::numbers(char separator) {
  std::vector<int64_t> values{number()};
  while (accept({&separator, 1})) values.push_back(number());
  return values;
}

std::vector<float> TextReader::reals() {
  std::vector<float> values{real()};
  while (accept("x")) values.push_back(real());
  return values;
}

void TextReader::fail(std::string_view reason) const {
  throw bad_input("{} '{}': {} at character {}; example: {}", what_, printable(text_), reason, at_ + 1, example_);
}

}  // namespace convlab
