#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "convlab/simt/cuda/address_windows.h"  // programs make addresses for .shared with it
#include "convlab/simt/ptx/ptx_table.h"
#include "convlab/simt/where.h"

/// Inline PTX. convlab/kernel_file/asm_statements.h rewrites
///
///     asm volatile("add.s32 %0, %1, 7;" : "=r"(sum) : "r"(x) : "memory");
///
/// as a call, which an interpreter executes:
///
///     ::convlab::simt::ptx::Statement<"add.s32 %0, %1, 7;">()(::convlab::simt::ptx::operand<"=r">(sum),
///                                                              ::convlab::simt::ptx::operand<"r">(x));
///
/// A text is parsed when it is executed first. Instructions that ptx_table.h lacks are compile errors, provided that
/// the code with them is kept: functions that nothing calls may use any.
namespace convlab::simt::ptx {

/// A string as a template argument.
template <size_t kBytes>
struct Text {
  char text[kBytes];
  constexpr Text(const char (&from)[kBytes]) {
    for (size_t i = 0; i < kBytes; ++i) text[i] = from[i];
  }
  constexpr explicit Text(std::string_view from) {
    for (size_t i = 0; i + 1 < kBytes; ++i) text[i] = from[i];
    text[kBytes - 1] = '\0';
  }
  constexpr std::string_view view() const { return {text, kBytes - 1}; }
};

struct Program;

/// An asm statement in the program's text.
struct Place {
  const char* text;
  const std::string_view* names;  ///< of its operands, "" for those without
  size_t operands;
  std::atomic<const Program*> program{nullptr};
};

/// Executes the statement. `values`: its operands' bits, in order.
void execute(Place& place, uint64_t* values, Where where) noexcept;

template <Text kInstruction>
[[gnu::error("simt does not know this PTX instruction: see docs/reference/ptx.md")]] void unknown_instruction();

namespace detail {

constexpr bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// Returns the position after the comment that begins there.
constexpr size_t end_of_comment(std::string_view text, size_t at) {
  if (text[at + 1] == '/') return position_of(text, '\n', at);
  at += 2;
  while (at + 1 < text.size() && !(text[at] == '*' && text[at + 1] == '/')) ++at;
  return at + 2;
}

/// Returns the length of a label and its colon at the beginning; 0 if there is none.
constexpr size_t label_length(std::string_view word) {
  const size_t colon = position_of(word, ':');
  return colon == word.size() || word.substr(colon, 2) == "::" ? 0 : colon + 1;
}

/// Returns the first instruction of the text that the table lacks; "" if there is none.
constexpr std::string_view first_unknown(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    const bool begins_comment = c == '/' && at + 1 < text.size() && (text[at + 1] == '/' || text[at + 1] == '*');
    if (is_space(c) || c == ';' || c == '{' || c == '}') {
      ++at;
    } else if (begins_comment) {
      at = end_of_comment(text, at);
    } else if (c == '.') {  // a directive
      at = position_of(text, ';', at);
    } else {
      size_t end = at;
      while (end < text.size() && !is_space(text[end]) && text[end] != ';' && text[end] != '}') ++end;
      const std::string_view word = text.substr(at, end - at);
      const size_t label = label_length(word);
      if (c == '@') {
        at = end;
      } else if (label != 0) {
        at += label;
      } else if (!is_known(word)) {
        return word;
      } else {
        at = position_of(text, ';', at);
      }
    }
  }
  return {};
}

template <class T>
inline constexpr bool kIsNumber = std::is_integral_v<T> || std::is_enum_v<T> || std::is_pointer_v<T>;

/// Whether an operand of this type may have the constraint.
template <class T>
constexpr bool fits(char letter) {
  switch (letter) {
    case 'h':
      return kIsNumber<T> && sizeof(T) == 2;
    case 'r':
      return kIsNumber<T> && sizeof(T) == 4;
    case 'l':
      return kIsNumber<T> && sizeof(T) == 8;
    case 'f':
      return std::is_same_v<T, float>;
    case 'd':
      return std::is_same_v<T, double>;
    case 'n':
      return std::is_integral_v<T> || std::is_enum_v<T>;
    default:
      return false;
  }
}

}  // namespace detail

/// An operand of an asm statement, a reference to the program's variable or value.
template <Text kConstraint, Text kName, class T>
struct BoundOperand {
  static constexpr std::string_view kLetters = kConstraint.view();
  static constexpr bool kIsOutput = kLetters[0] == '=' || kLetters[0] == '+';
  static constexpr bool kIsInput = kLetters[0] != '=';
  static constexpr std::string_view kOwnName = kName.view();
  using Value = std::decay_t<T>;

  T& variable;

  [[gnu::always_inline]] uint64_t bits() const {
    if constexpr (!kIsInput) {
      return 0;
    } else if constexpr (kLetters.back() == 'n') {
      return static_cast<uint64_t>(static_cast<int64_t>(variable));
    } else {
      const Value value = variable;
      uint64_t copy = 0;
      __builtin_memcpy(&copy, &value, sizeof value);
      return copy;
    }
  }
  [[gnu::always_inline]] void set(uint64_t bits) const {
    if constexpr (kIsOutput) {
      Value value;
      __builtin_memcpy(&value, &bits, sizeof value);
      variable = value;
    }
  }
};

template <Text kConstraint, Text kName = "", class T>
[[gnu::always_inline]] inline auto operand(T&& variable) {
  constexpr std::string_view kLetters = kConstraint.view();
  static_assert(position_of("hrlfdn", kLetters.back()) < 6,
                "simt knows the constraints h, r, l, f, d and n of inline PTX");
  static_assert(
      detail::fits<std::decay_t<T>>(kLetters.back()),
      "the operand's type does not fit its constraint: h, r and l are integers of 16, 32 and 64 bits, f and d "
      "are float and double, n is a constant");
  return BoundOperand<kConstraint, kName, std::remove_reference_t<T>>{variable};
}

template <Text kText, class... Operands>
inline constinit const std::string_view kNamesOf[sizeof...(Operands) + 1] = {Operands::kOwnName...};

template <Text kText, class... Operands>
inline constinit Place kPlace{kText.text, kNamesOf<kText, Operands...>, sizeof...(Operands)};

template <Text kText>
class Statement {
 public:
  [[gnu::always_inline]] explicit Statement(Where where = Where::current()) : where_(where) {}

  template <class... Operands>
  [[gnu::always_inline]] void operator()(const Operands&... operands) const {
    constexpr size_t kUnknownBytes = detail::first_unknown(kText.view()).size();
    if constexpr (kUnknownBytes != 0) {
      unknown_instruction<Text<kUnknownBytes + 1>(detail::first_unknown(kText.view()))>();
    } else {
      uint64_t values[sizeof...(Operands) + 1] = {operands.bits()...};
      execute(kPlace<kText, Operands...>, values, where_);
      [[maybe_unused]] size_t at = 0;
      (operands.set(values[at++]), ...);
    }
  }

 private:
  Where where_;
};

}  // namespace convlab::simt::ptx
