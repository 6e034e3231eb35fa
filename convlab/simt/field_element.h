#pragma once

#include <cstdint>
#include <type_traits>

#include "convlab/base/prime_numbers.h"
#include "convlab/simt/kernel_call.h"

/// What takes the place of a float when a kernel runs over a prime field: see convlab/verify/file_proof.h.
namespace convlab::simt {

/// What elements that depend on the kernel's inputs hold.
enum class FieldMode : int {
  values,  ///< numbers modulo the prime
  degrees  ///< the degree of the number as a polynomial in the inputs, at most: then + is the maximum, * the sum
};
void set_field_mode(FieldMode mode);

namespace internal {

/// Operations on the bits of elements.
uint32_t field_sum(uint32_t a, uint32_t b);
uint32_t field_product(uint32_t a, uint32_t b);
uint32_t field_negative(uint32_t a);

/// Returns the number of a constant: that of the simplest fraction, with a denominator of at most 4096, which rounds to
/// it; otherwise that of its exact binary value. So 0.16666667f stands for 1/6. Throws for infinities and NaN.
uint32_t field_constant(float value);
uint32_t field_constant(double value);

/// Returns the rational number n/d with |n| and d below 2^15 that has this number modulo the prime. Throws if there is
/// none: then it is not the result of a few operations on small integers.
double rational_of(uint32_t number);

/// Ends the kernel, or the host code: what it does is not a polynomial of its inputs. `what`: "compares inputs".
[[noreturn]] void refuse_operation(const char* what);

}  // namespace internal

/// A number modulo a prime, of the size of a float. Its highest bit says whether it depends on the kernel's inputs;
/// control flow may depend on other numbers only, which are the results of host code about sizes and the like.
class Field {
 public:
  Field() = default;
  template <class T>
  requires std::is_arithmetic_v<T> Field(T number) : bits_(number_of(number)) {}

  static Field of_bits(uint32_t bits) {
    Field field;
    field.bits_ = bits;
    return field;
  }
  uint32_t bits() const { return bits_; }

  bool depends_on_input() const { return (bits_ & prime::kOfInput) != 0; }

  /// The real number that it stands for; `what` says what is done with it.
  double real(const char* what) const {
    if (depends_on_input()) internal::refuse_operation(what);
    return internal::rational_of(bits_);
  }
  template <class T>
  requires std::is_arithmetic_v<T>
  explicit operator T() const {
    return static_cast<T>(real("converts a value that depends on the inputs to another type"));
  }

  friend Field operator+(Field a, Field b) { return of_bits(internal::field_sum(a.bits_, b.bits_)); }
  friend Field operator*(Field a, Field b) { return of_bits(internal::field_product(a.bits_, b.bits_)); }
  friend Field operator-(Field a) { return of_bits(internal::field_negative(a.bits_)); }
  friend Field operator-(Field a, Field b) { return a + -b; }
  friend Field operator/(Field a, Field b) {
    if (b.depends_on_input()) internal::refuse_operation("divides by a value that depends on the inputs");
    if (b.bits_ == 0) internal::refuse_operation("divides by zero");
    return a * of_bits(prime::inverse(b.bits_));
  }
  friend Field operator+(Field a) { return a; }

  Field& operator+=(Field b) { return *this = *this + b; }
  Field& operator-=(Field b) { return *this = *this - b; }
  Field& operator*=(Field b) { return *this = *this * b; }
  Field& operator/=(Field b) { return *this = *this / b; }
  Field& operator++() { return *this += 1; }
  Field& operator--() { return *this -= 1; }

 private:
  template <class T>
  static uint32_t number_of(T number) {
    if constexpr (std::is_floating_point_v<T>) {
      const auto whole = static_cast<int64_t>(number > -0x1p30 && number < 0x1p30 ? number : 0);
      return static_cast<T>(whole) == number ? prime::of_integer(whole) : internal::field_constant(number);
    } else {
      return prime::of_integer(static_cast<int64_t>(number));
    }
  }
  uint32_t bits_;
};

// For a number of another type: without these, both sides could convert to the other's type.
#define CONVLAB_FIELD_OPERATOR(sign)                                                             \
  template <class T>                                                                             \
  requires std::is_arithmetic_v<T> Field operator sign(Field a, T b) { return a sign Field(b); } \
  template <class T>                                                                             \
  requires std::is_arithmetic_v<T> Field operator sign(T a, Field b) { return Field(a) sign b; }
CONVLAB_FIELD_OPERATOR(+)
CONVLAB_FIELD_OPERATOR(-)
CONVLAB_FIELD_OPERATOR(*)
CONVLAB_FIELD_OPERATOR(/)
#undef CONVLAB_FIELD_OPERATOR

#define CONVLAB_FIELD_COMPARISON(sign)                                           \
  inline bool operator sign(Field a, Field b) {                                  \
    constexpr const char* kWhat = "compares a value that depends on the inputs"; \
    return a.real(kWhat) sign b.real(kWhat);                                     \
  }                                                                              \
  template <class T>                                                             \
  requires std::is_arithmetic_v<T>                                               \
  bool operator sign(Field a, T b) { return a sign Field(b); }                   \
  template <class T>                                                             \
  requires std::is_arithmetic_v<T>                                               \
  bool operator sign(T a, Field b) { return Field(a) sign b; }
CONVLAB_FIELD_COMPARISON(<)
CONVLAB_FIELD_COMPARISON(>)
CONVLAB_FIELD_COMPARISON(<=)
CONVLAB_FIELD_COMPARISON(>=)
CONVLAB_FIELD_COMPARISON(==)
CONVLAB_FIELD_COMPARISON(!=)
#undef CONVLAB_FIELD_COMPARISON

template <>
inline constexpr bool internal::kStandsForFloat<Field> = true;

static_assert(sizeof(Field) == sizeof(float) && std::is_trivially_copyable_v<Field>);

}  // namespace convlab::simt
