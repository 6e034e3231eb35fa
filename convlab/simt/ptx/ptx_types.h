#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

/// The types and modifiers of PTX instructions.
namespace convlab::simt::ptx {

enum class Type : uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f64,
  e4m3x2,
  e5m2x2,
};

struct TypeRow {
  std::string_view name;
  uint8_t bytes;
};

/// In the order of Type.
inline constexpr std::array<TypeRow, 23> kTypes{{
    {"", 0},     {"pred", 1},   {"b8", 1},   {"b16", 2}, {"b32", 4}, {"b64", 8},    {"u8", 1},     {"u16", 2},
    {"u32", 4},  {"u64", 8},    {"s8", 1},   {"s16", 2}, {"s32", 4}, {"s64", 8},    {"f16", 2},    {"f16x2", 4},
    {"bf16", 2}, {"bf16x2", 4}, {"tf32", 4}, {"f32", 4}, {"f64", 8}, {"e4m3x2", 2}, {"e5m2x2", 2},
}};

constexpr std::string_view name_of(Type type) { return kTypes[static_cast<size_t>(type)].name; }
constexpr size_t bytes_of(Type type) { return kTypes[static_cast<size_t>(type)].bytes; }
constexpr bool is_signed(Type type) { return type >= Type::s8 && type <= Type::s64; }
constexpr bool is_integer(Type type) { return type >= Type::b8 && type <= Type::s64; }

/// Returns Type::none for other names.
constexpr Type type_named(std::string_view name) {
  for (size_t i = 1; i < kTypes.size(); ++i) {
    if (kTypes[i].name == name) return static_cast<Type>(i);
  }
  return Type::none;
}

/// Returns the position of the first such character, or the text's size. Unlike string_view::find(), it compares no
/// pointers: g++ does not evaluate that in constant expressions of kernels (-fno-delete-null-pointer-checks).
constexpr size_t position_of(std::string_view text, char what, size_t from = 0) {
  while (from < text.size() && text[from] != what) ++from;
  return from;
}

/// A list of words, separated by spaces, is how the table of instructions says what may follow a name.
constexpr bool is_in_list(std::string_view list, std::string_view word) {
  for (size_t at = 0; at < list.size();) {
    const size_t end = position_of(list, ' ', at);
    if (list.substr(at, end - at) == word) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace convlab::simt::ptx
