#pragma once

#include <cstddef>
#include <string_view>

namespace convlab {

/// The type of one element of a tensor. f16 is IEEE binary16 and bf16 is bfloat16, each stored as its bits in uint16_t.
/// bf16x2 is a float32 as the sum of two bfloat16: the number rounded to bfloat16, then the rounding residual.
enum class ElementType { f32, f16, bf16, bf16x2, f64, u8, i8, i32, i64 };

/// Returns the bytes of one element.
constexpr size_t size_of(ElementType type) {
  switch (type) {
    case ElementType::f32:
    case ElementType::bf16x2:
    case ElementType::i32:
      return 4;
    case ElementType::f64:
    case ElementType::i64:
      return 8;
    case ElementType::f16:
    case ElementType::bf16:
      return 2;
    case ElementType::u8:
    case ElementType::i8:
      return 1;
  }
  return 0;
}

/// Whether the type is floating-point. All other types are integers.
constexpr bool is_real(ElementType type) {
  return type == ElementType::f32 || type == ElementType::f16 || type == ElementType::bf16 ||
         type == ElementType::bf16x2 || type == ElementType::f64;
}

constexpr std::string_view name_of(ElementType type) {
  switch (type) {
    case ElementType::f32:
      return "float32";
    case ElementType::f16:
      return "float16";
    case ElementType::bf16:
      return "bfloat16";
    case ElementType::bf16x2:
      return "bf16x2";
    case ElementType::f64:
      return "float64";
    case ElementType::u8:
      return "uint8";
    case ElementType::i8:
      return "int8";
    case ElementType::i32:
      return "int32";
    case ElementType::i64:
      return "int64";
  }
  return "?";
}

}  // namespace convlab
