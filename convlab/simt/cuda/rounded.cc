// Arithmetic with the rounding modes that C++ expressions do not have.

#include "convlab/simt/cuda/rounded.h"

#include <cfenv>
#include <cmath>

#include "convlab/simt/cuda/conversions.h"

namespace convlab::simt::cuda {
namespace {

// Evaluates compute() in a rounding mode. Its operands and result must be volatile: otherwise the compiler may compute
// before or after, or itself.
template <class F>
void in_mode(int mode, F compute) {
  const int before = std::fegetround();
  std::fesetround(mode);
  compute();
  std::fesetround(before);
}

template <class T, class F>
T rounded(int mode, T a_, T b_, T c_, F operation) {
  volatile T a = a_, b = b_, c = c_, result = 0;
  in_mode(mode, [&] { result = operation(a, b, c); });
  return result;
}

template <class T, class From>
T converted(int mode, From x) {
  volatile From from = x;
  volatile T result = 0;
  in_mode(mode, [&] { result = static_cast<T>(from); });
  return result;
}

}  // namespace

#define CONVLAB_SIMT_IN_MODES(macro, ...) \
  macro(__VA_ARGS__, _rd, FE_DOWNWARD) macro(__VA_ARGS__, _ru, FE_UPWARD) macro(__VA_ARGS__, _rz, FE_TOWARDZERO)
#define CONVLAB_SIMT_ROUNDED1(T, name, expression, suffix, mode)            \
  T name##suffix(T a) noexcept {                                            \
    return rounded<T>(mode, a, 0, 0, [](T x, T, T) { return expression; }); \
  }
#define CONVLAB_SIMT_ROUNDED2(T, name, expression, suffix, mode)              \
  T name##suffix(T a, T b) noexcept {                                         \
    return rounded<T>(mode, a, b, 0, [](T x, T y, T) { return expression; }); \
  }
#define CONVLAB_SIMT_ROUNDED3(T, name, expression, suffix, mode)                \
  T name##suffix(T a, T b, T c) noexcept {                                      \
    return rounded<T>(mode, a, b, c, [](T x, T y, T z) { return expression; }); \
  }
#define CONVLAB_SIMT_CONVERTED(T, From, name, suffix, mode) \
  T name##suffix(From x) noexcept { return converted<T>(mode, x); }

CONVLAB_SIMT_IN_MODES(CONVLAB_SIMT_ROUNDED2, float, __fadd, x + y)
CONVLAB_SIMT_IN_MODES(CONVLAB_SIMT_ROUNDED2, float, __fsub, x - y)
CONVLAB_SIMT_IN_MODES(CONVLAB_SIMT_ROUNDED2, float, __fmul, x* y)
CONVLAB_SIMT_IN_MODES(CONVLAB_SIMT_ROUNDED2, float, __fdiv, x / y)
CONVLAB_SIMT_IN_MODES(CONVLAB_SIMT_ROUNDED3, float, __fmaf, std::fma(x, y, z))
CONVLAB_SIMT_IN_MODES(CONVLAB_SIMT_ROUNDED1, float, __frcp, 1 / x)
CONVLAB_SIMT_IN_MODES(CONVLAB_SIMT_ROUNDED1, float, __fsqrt, std::sqrt(x))
CONVLAB_SIMT_IN_MODES(CONVLAB_SIMT_ROUNDED2, double, __dadd, x + y)
CONVLAB_SIMT_IN_MODES(CONVLAB_SIMT_ROUNDED2, double, __dsub, x - y)
CONVLAB_SIMT_IN_MODES(CONVLAB_SIMT_ROUNDED2, double, __dmul, x* y)
CONVLAB_SIMT_IN_MODES(CONVLAB_SIMT_ROUNDED2, double, __ddiv, x / y)
CONVLAB_SIMT_IN_MODES(CONVLAB_SIMT_ROUNDED3, double, __fma, std::fma(x, y, z))
CONVLAB_SIMT_IN_MODES(CONVLAB_SIMT_ROUNDED1, double, __drcp, 1 / x)
CONVLAB_SIMT_IN_MODES(CONVLAB_SIMT_ROUNDED1, double, __dsqrt, std::sqrt(x))

CONVLAB_SIMT_IN_MODES(CONVLAB_SIMT_CONVERTED, float, int, __int2float)
CONVLAB_SIMT_IN_MODES(CONVLAB_SIMT_CONVERTED, float, unsigned, __uint2float)
CONVLAB_SIMT_IN_MODES(CONVLAB_SIMT_CONVERTED, float, long long, __ll2float)
CONVLAB_SIMT_IN_MODES(CONVLAB_SIMT_CONVERTED, float, unsigned long long, __ull2float)
CONVLAB_SIMT_IN_MODES(CONVLAB_SIMT_CONVERTED, float, double, __double2float)
CONVLAB_SIMT_IN_MODES(CONVLAB_SIMT_CONVERTED, double, long long, __ll2double)
CONVLAB_SIMT_IN_MODES(CONVLAB_SIMT_CONVERTED, double, unsigned long long, __ull2double)

}  // namespace convlab::simt::cuda
