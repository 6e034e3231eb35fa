#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace convlab {

/// Reads a problem's text from front to back, and tracks the position for messages.
class TextReader {
 public:
  /// Messages read "WHAT 'TEXT': REASON at character N; example: EXAMPLE". The text must outlive the reader.
  TextReader(std::string_view text, std::string_view what, std::string_view example)
      : text_(text), what_(what), example_(example) {}

  void set_example(std::string example) { example_ = std::move(example); }

  bool at_end() const { return at_ == text_.size(); }
  std::string_view rest() const { return text_.substr(at_); }

  /// Returns the text up to the next '_' or the end.
  std::string_view item() const { return rest().substr(0, rest().find('_')); }

  bool accept(std::string_view token);
  void expect(std::string_view token);

  int64_t number();
  /// Reads a number of [low, high].
  int64_t number(std::string_view name, int64_t low, int64_t high);
  /// Reads a decimal number, "inf" or "nan".
  float real();
  /// Reads "1x2x3".
  std::vector<int64_t> numbers(char separator = 'x');
  std::vector<float> reals();

  /// Throws Error(bad_input) with the position.
  [[noreturn]] void fail(std::string_view reason) const;

 private:
  std::string_view text_;
  std::string what_, example_;
  size_t at_ = 0;
};

}  // namespace convlab
