// Executes PTX's arithmetic on integers and real numbers.

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "convlab/simt/cuda/integers.h"
#include "convlab/simt/cuda/rounded.h"
#include "convlab/simt/cuda/special_functions.h"
#include "convlab/simt/ptx/ptx_run.h"
#include "convlab/simt/worker.h"

namespace convlab::simt::ptx {
namespace {

enum class Mode : uint8_t { rn, rz, rm, rp };

Mode mode_of(const Instruction& i) {
  return i.has("rz"_word) ? Mode::rz : i.has("rm"_word) ? Mode::rm : i.has("rp"_word) ? Mode::rp : Mode::rn;
}

// PTX rounds down by .rm and up by .rp; CUDA's names for these are rd and ru.
#define CONVLAB_PTX_MODES(function, ...)       \
  switch (mode) {                              \
    case Mode::rn:                             \
      return cuda::function##_rn(__VA_ARGS__); \
    case Mode::rz:                             \
      return cuda::function##_rz(__VA_ARGS__); \
    case Mode::rm:                             \
      return cuda::function##_rd(__VA_ARGS__); \
    case Mode::rp:                             \
      return cuda::function##_ru(__VA_ARGS__); \
  }                                            \
  return {};

float plus(Mode mode, float a, float b) { CONVLAB_PTX_MODES(__fadd, a, b) }
double plus(Mode mode, double a, double b){CONVLAB_PTX_MODES(__dadd, a, b)} Half plus(Mode, Half a, Half b) {
  return cuda::__hadd(a, b);
}
Brain plus(Mode, Brain a, Brain b) { return cuda::__hadd(a, b); }
float times(Mode mode, float a, float b) { CONVLAB_PTX_MODES(__fmul, a, b) }
double times(Mode mode, double a, double b){CONVLAB_PTX_MODES(__dmul, a, b)} Half times(Mode, Half a, Half b) {
  return cuda::__hmul(a, b);
}
Brain times(Mode, Brain a, Brain b) { return cuda::__hmul(a, b); }
float fused(Mode mode, float a, float b, float c) { CONVLAB_PTX_MODES(__fmaf, a, b, c) }
double fused(Mode mode, double a, double b, double c){CONVLAB_PTX_MODES(__fma, a, b, c)} Half
    fused(Mode, Half a, Half b, Half c) {
  return cuda::__hfma(a, b, c);
}
Brain fused(Mode, Brain a, Brain b, Brain c) { return cuda::__hfma(a, b, c); }
float quotient(Mode mode, float a, float b) { CONVLAB_PTX_MODES(__fdiv, a, b) }
double quotient(Mode mode, double a, double b) { CONVLAB_PTX_MODES(__ddiv, a, b) }
float root(Mode mode, float a) { CONVLAB_PTX_MODES(__fsqrt, a) }
double root(Mode mode, double a) { CONVLAB_PTX_MODES(__dsqrt, a) }
float inverse(Mode mode, float a) { CONVLAB_PTX_MODES(__frcp, a) }
double inverse(Mode mode, double a) { CONVLAB_PTX_MODES(__drcp, a) }
#undef CONVLAB_PTX_MODES

float opposite(float a) { return -a; }
double opposite(double a) { return -a; }
Half opposite(Half a) { return cuda::__hneg(a); }
Brain opposite(Brain a) { return cuda::__hneg(a); }

template <class T>
using Unsigned = std::make_unsigned_t<T>;

/// Adds with the carry, if the instruction uses it, and keeps it, if .cc asks for it.
template <class T>
T added(Run& run, const Instruction& i, T a, T b, bool with_carry) {
  using U = Unsigned<T>;
  const Unsigned128 sum =
      static_cast<Unsigned128>(static_cast<U>(a)) + static_cast<U>(b) + (with_carry && run.carry ? 1 : 0);
  if (i.has("cc"_word)) run.carry = sum >> (8 * sizeof(T)) != 0;
  return static_cast<T>(static_cast<U>(sum));
}

template <class T>
T clamped(Int128 value) {
  return static_cast<T>(std::clamp<Int128>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

/// Writes the chosen part of a product. Returns it, as the addend's type.
template <class T, class F>
void with_product(const Instruction& i, T a, T b, F use) {
  if (i.has("wide"_word)) {
    if constexpr (sizeof(T) == 2) use(static_cast<std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>>(a * b));
    if constexpr (sizeof(T) == 4) {
      using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
      use(static_cast<Wide>(a) * static_cast<Wide>(b));
    }
    return;
  }
  const Int128 product = static_cast<Int128>(a) * static_cast<Int128>(b);
  const bool high = i.has("hi"_word);
  use(static_cast<T>(static_cast<Unsigned128>(product) >> (high ? 8 * sizeof(T) : 0)));
}

/// Ends the thread if an integer division has no result: a GPU returns an unspecified one.
template <class T>
void check_division(const Run& run, T a, T b) {
  bool fails = b == 0;
  if constexpr (std::is_signed_v<T>) fails = fails || (b == -1 && a == std::numeric_limits<T>::min());
  if (!fails) return;
  internal::Worker& worker = *internal::active_worker;
  const internal::HostScope host;
  internal::RawFault fault;
  fault.kind = FaultKind::division;
  fault.location = run.where;
  worker.fail(std::move(fault));
}

template <class F>
void on_numbers(Run& run, const Instruction& i, F operation) {
  const bool is_whole = with_integer(i.type(), [&]<class T>(T) {
    T x[3]{};
    for (size_t s = 0; s + 1 < i.group_count && s < 3; ++s) x[s] = run.get<T>(i.operand(s + 1));
    run.put(i.operand(0), static_cast<T>(operation(x)));
  });
  if (!is_whole) on_reals(run, i, i.type(), operation);
}

/// Counts operations of fp32 and fp64: those of fp16 are counted by what they call.
void count_flops(const Instruction& i, int flops) {
  if (internal::Counting* const counting = internal::active_worker->counting()) {
    if (i.type() == Type::f32 || i.type() == Type::f64) counting->arithmetic(flops);
  }
}

template <class T>
T larger(T a, T b) {
  if constexpr (std::is_integral_v<T>) return std::max(a, b);
  if constexpr (std::is_floating_point_v<T>) {
    if (a == b) return std::signbit(a) ? b : a;
    return std::fmax(a, b);
  }
  if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>) return cuda::__hmax(a, b);
}

template <class T>
T negative(T a) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(Unsigned<T>{0} - static_cast<Unsigned<T>>(a));
  } else {
    return opposite(a);
  }
}

template <class T>
bool is_nan(T a) {
  if constexpr (std::is_integral_v<T>) return false;
  if constexpr (!std::is_integral_v<T>) return std::isnan(static_cast<double>(a));
}

/// The functions of one argument, in double: one rounding makes them as accurate as a float can be.
double function_of(const Instruction& i, double x) {
  const std::string_view name = i.row->name;
  if (name == "rsqrt") return 1 / std::sqrt(x);
  if (name == "sin") return std::sin(x);
  if (name == "cos") return std::cos(x);
  if (name == "ex2") return std::exp2(x);
  if (name == "lg2") return std::log2(x);
  return std::tanh(x);
}

int32_t byte_of(uint32_t word, int n, bool is_signed) {
  const uint32_t byte = word >> 8 * n & 0xffu;
  return is_signed ? static_cast<int8_t>(byte) : static_cast<int32_t>(byte);
}

int32_t half_of(uint32_t word, int n, bool is_signed) {
  const uint32_t half = word >> 16 * n & 0xffffu;
  return is_signed ? static_cast<int16_t>(half) : static_cast<int32_t>(half);
}

}  // namespace

void add(Run& run, const Instruction& i) {
  const bool is_whole = with_integer(i.type(), [&]<class T>(T) {
    const T a = run.get<T>(i.operand(1)), b = run.get<T>(i.operand(2));
    if (i.has("sat"_word)) return run.put(i.operand(0), clamped<T>(static_cast<Int128>(a) + b));
    run.put(i.operand(0), added(run, i, a, b, i.row->name == "addc"));
  });
  if (is_whole) return;
  count_flops(i, 1);
  on_reals(run, i, i.type(), [mode = mode_of(i)](const auto* x) { return plus(mode, x[0], x[1]); });
}

void subtract(Run& run, const Instruction& i) {
  const bool is_whole = with_integer(i.type(), [&]<class T>(T) {
    using U = Unsigned<T>;
    const T a = run.get<T>(i.operand(1)), b = run.get<T>(i.operand(2));
    if (i.has("sat"_word)) return run.put(i.operand(0), clamped<T>(static_cast<Int128>(a) - b));
    const Int128 difference =
        static_cast<Int128>(static_cast<U>(a)) - static_cast<U>(b) - (i.row->name == "subc" && run.carry ? 1 : 0);
    if (i.has("cc"_word)) run.carry = difference < 0;  // the borrow
    run.put(i.operand(0), static_cast<T>(static_cast<U>(static_cast<Unsigned128>(difference))));
  });
  if (is_whole) return;
  count_flops(i, 1);
  on_reals(run, i, i.type(), [mode = mode_of(i)](const auto* x) { return plus(mode, x[0], opposite(x[1])); });
}

void multiply(Run& run, const Instruction& i) {
  const bool is_whole = with_integer(i.type(), [&]<class T>(T) {
    with_product<T>(i, run.get<T>(i.operand(1)), run.get<T>(i.operand(2)),
                    [&](auto product) { run.put(i.operand(0), product); });
  });
  if (is_whole) return;
  count_flops(i, 1);
  on_reals(run, i, i.type(), [mode = mode_of(i)](const auto* x) { return times(mode, x[0], x[1]); });
}

void multiply_add(Run& run, const Instruction& i) {
  const bool is_whole = with_integer(i.type(), [&]<class T>(T) {
    with_product<T>(i, run.get<T>(i.operand(1)), run.get<T>(i.operand(2)), [&]<class Sum>(Sum product) {
      const Sum addend = run.get<Sum>(i.operand(3));
      if (i.has("sat"_word)) return run.put(i.operand(0), clamped<Sum>(static_cast<Int128>(product) + addend));
      run.put(i.operand(0), added(run, i, product, addend, i.row->name == "madc"));
    });
  });
  if (is_whole) return;
  count_flops(i, 2);
  on_reals(run, i, i.type(), [mode = mode_of(i)](const auto* x) { return fused(mode, x[0], x[1], x[2]); });
}

void multiply24(Run& run, const Instruction& i) {
  const auto part = [&](const Operand& operand) -> int64_t {
    const uint32_t bits = run.get<uint32_t>(operand) << 8;
    return i.type() == Type::s32 ? static_cast<int32_t>(bits) >> 8 : static_cast<int64_t>(bits >> 8);
  };
  const uint64_t product = static_cast<uint64_t>(part(i.operand(1)) * part(i.operand(2)));
  uint32_t result = static_cast<uint32_t>(i.has("hi"_word) ? product >> 16 : product);
  if (i.row->name == "mad24") result += run.get<uint32_t>(i.operand(3));
  i.type() == Type::s32 ? run.put(i.operand(0), static_cast<int32_t>(result)) : run.put(i.operand(0), result);
}

void sum_of_differences(Run& run, const Instruction& i) {
  const bool known = with_integer(i.type(), [&]<class T>(T) {
    const T a = run.get<T>(i.operand(1)), b = run.get<T>(i.operand(2));
    const auto difference =
        static_cast<Unsigned<T>>(static_cast<Unsigned<T>>(a < b ? b : a) - static_cast<Unsigned<T>>(a < b ? a : b));
    run.put(i.operand(0), static_cast<T>(difference + static_cast<Unsigned<T>>(run.get<T>(i.operand(3)))));
  });
  if (!known) fail_unsupported(run, i);
}

void divide(Run& run, const Instruction& i) {
  const bool is_whole = with_integer(i.type(), [&]<class T>(T) {
    const T a = run.get<T>(i.operand(1)), b = run.get<T>(i.operand(2));
    check_division(run, a, b);
    run.put(i.operand(0), static_cast<T>(a / b));
  });
  if (is_whole) return;
  on_reals(run, i, i.type(), [&, mode = mode_of(i)]<class T>(const T* x) -> T {
    if constexpr (sizeof(T) >= 4) return quotient(mode, x[0], x[1]);
    fail_unsupported(run, i);
  });
}

void remainder(Run& run, const Instruction& i) {
  with_integer(i.type(), [&]<class T>(T) {
    const T a = run.get<T>(i.operand(1)), b = run.get<T>(i.operand(2));
    check_division(run, a, b);
    run.put(i.operand(0), static_cast<T>(a % b));
  });
}

void absolute(Run& run, const Instruction& i) {
  on_numbers(run, i, []<class T>(const T* x) {
    if constexpr (std::is_integral_v<T>) return x[0] < 0 ? negative(x[0]) : x[0];
    if constexpr (std::is_floating_point_v<T>) return std::abs(x[0]);
    if constexpr (!std::is_integral_v<T> && sizeof(T) == 2) return cuda::__habs(x[0]);
  });
}

void negate(Run& run, const Instruction& i) {
  on_numbers(run, i, [](const auto* x) { return negative(x[0]); });
}

void extremum(Run& run, const Instruction& i) {
  const bool is_max = i.row->name == "max", keeps_nan = i.has("NaN"_word);
  on_numbers(run, i, [=]<class T>(const T* x) -> T {
    if (keeps_nan && (is_nan(x[0]) || is_nan(x[1]))) return is_nan(x[0]) ? x[0] : x[1];
    if (is_max) return larger(x[0], x[1]);
    if constexpr (std::is_integral_v<T>) return std::min(x[0], x[1]);
    if constexpr (!std::is_integral_v<T>) return opposite(larger(opposite(x[0]), opposite(x[1])));
  });
}

void float_function(Run& run, const Instruction& i) {
  on_reals(run, i, i.type(), [&, mode = mode_of(i)]<class T>(const T* x) -> T {
    if constexpr (sizeof(T) >= 4) {
      if (i.row->name == "sqrt") return root(mode, x[0]);
      if (i.row->name == "rcp") return inverse(mode, x[0]);
    }
    const double result = function_of(i, static_cast<double>(x[0]));
    if constexpr (sizeof(T) == 8) return result;
    if constexpr (sizeof(T) != 8) return T(static_cast<float>(result));
  });
}

void copy_sign(Run& run, const Instruction& i) {  // of the first source
  on_reals(run, i, i.type(), [&]<class T>(const T* x) -> T {
    if constexpr (sizeof(T) >= 4) return std::copysign(x[1], x[0]);
    fail_unsupported(run, i);
  });
}

void test_property(Run& run, const Instruction& i) {
  const auto test = [&](auto x) {
    if (i.has("finite"_word)) return std::isfinite(x);
    if (i.has("infinite"_word)) return std::isinf(x);
    if (i.has("number"_word)) return !std::isnan(x);
    if (i.has("notanumber"_word)) return std::isnan(x);
    return std::fpclassify(x) == (i.has("normal"_word) ? FP_NORMAL : FP_SUBNORMAL);
  };
  const bool result = i.type() == Type::f32 ? test(run.get<float>(i.operand(1))) : test(run.get<double>(i.operand(1)));
  run.put(i.operand(0), uint8_t{result});
}

void dot_product4(Run& run, const Instruction& i) {
  const uint32_t a = run.get<uint32_t>(i.operand(1)), b = run.get<uint32_t>(i.operand(2));
  uint32_t sum = run.get<uint32_t>(i.operand(3));
  for (int n = 0; n < 4; ++n) {
    sum += static_cast<uint32_t>(byte_of(a, n, is_signed(i.type(0))) * byte_of(b, n, is_signed(i.type(1))));
  }
  run.put(i.operand(0), static_cast<int32_t>(sum));
}

void dot_product2(Run& run, const Instruction& i) {
  const uint32_t a = run.get<uint32_t>(i.operand(1)), b = run.get<uint32_t>(i.operand(2));
  uint32_t sum = run.get<uint32_t>(i.operand(3));
  for (int n = 0; n < 2; ++n) {
    const int byte = n + (i.has("hi"_word) ? 2 : 0);
    sum += static_cast<uint32_t>(half_of(a, n, is_signed(i.type(0))) * byte_of(b, byte, is_signed(i.type(1))));
  }
  run.put(i.operand(0), static_cast<int32_t>(sum));
}

}  // namespace convlab::simt::ptx
