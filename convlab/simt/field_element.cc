// Constants, refusals and the state of arithmetic over a prime field.

#include "convlab/simt/field_element.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/simt/worker.h"

namespace convlab::simt {
namespace {

using prime::number_of;

FieldMode field_mode = FieldMode::values;

uint32_t degree_of(uint32_t bits) { return (bits & prime::kOfInput) != 0 ? number_of(bits) : 0; }

/// Whether the result is a degree.
bool is_degree(uint32_t bits) { return field_mode == FieldMode::degrees && (bits & prime::kOfInput) != 0; }

}  // namespace

void set_field_mode(FieldMode mode) { field_mode = mode; }

uint32_t internal::field_sum(uint32_t a, uint32_t b) {
  const uint32_t of_input = (a | b) & prime::kOfInput;
  const bool degrees = is_degree(of_input);
  return (degrees ? std::max(degree_of(a), degree_of(b)) : prime::sum(number_of(a), number_of(b))) | of_input;
}

uint32_t internal::field_product(uint32_t a, uint32_t b) {
  const uint32_t of_input = (a | b) & prime::kOfInput;
  if (!is_degree(of_input)) return prime::product(number_of(a), number_of(b)) | of_input;
  const uint64_t degree = uint64_t{degree_of(a)} + degree_of(b);
  return static_cast<uint32_t>(std::min<uint64_t>(degree, prime::kPrime)) | of_input;
}

uint32_t internal::field_negative(uint32_t a) {
  return is_degree(a) ? a : prime::negative(number_of(a)) | (a & prime::kOfInput);
}

namespace internal {
namespace {

/// Returns the number of the exact value: m * 2^e.
uint32_t binary_constant(double value) {
  int exponent = 0;
  const auto mantissa = static_cast<int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
  exponent -= 53;
  const uint32_t power = prime::power(2, static_cast<uint32_t>(std::abs(exponent)));
  return prime::product(prime::of_integer(mantissa), exponent < 0 ? prime::inverse(power) : power);
}

/// By the continued fraction of the value.
template <class T>
uint32_t constant_of(T value) {
  constexpr double kMostDenominator = 4096, kMostTerm = 0x1p30;
  if (!std::isfinite(value)) refuse_operation("uses an infinity or a NaN");
  double rest = value, n = 1, d = 0, n_before = 0, d_before = 1;
  while (true) {
    const double term = std::floor(rest);
    if (std::abs(term) > kMostTerm) break;
    n_before = std::exchange(n, term * n + n_before);
    d_before = std::exchange(d, term * d + d_before);
    if (d > kMostDenominator || std::abs(n) > kMostTerm) break;
    if (static_cast<T>(n / d) == value) {
      return prime::product(prime::of_integer(static_cast<int64_t>(n)),
                            prime::inverse(prime::of_integer(static_cast<int64_t>(d))));
    }
    if (rest == term) break;
    rest = 1 / (rest - term);
  }
  return binary_constant(static_cast<double>(value));
}

}  // namespace

uint32_t field_constant(float value) { return constant_of(value); }
uint32_t field_constant(double value) { return constant_of(value); }

// By Euclid's algorithm, stopped half way.
double rational_of(uint32_t number) {
  constexpr int64_t kMost = 1 << 15;
  int64_t a = prime::kPrime, b = number, d_of_a = 0, d_of_b = 1;
  while (b >= kMost) {
    const int64_t quotient = a / b;
    a = std::exchange(b, a - quotient * b);
    d_of_a = std::exchange(d_of_b, d_of_a - quotient * d_of_b);
  }
  if (std::abs(d_of_b) >= kMost) refuse_operation("converts a number that is not a quotient of small integers");
  return static_cast<double>(b) / static_cast<double>(d_of_b);
}

void refuse_operation(const char* what) {
  Worker* const worker = active_worker;
  if (worker == nullptr) throw bad_input("its host code {}", what);
  const HostScope host;
  RawFault fault;
  fault.kind = FaultKind::no_polynomial;
  fault.code = __builtin_return_address(0);
  fault.detail = what;
  worker->fail(std::move(fault));
}

}  // namespace internal
}  // namespace convlab::simt
