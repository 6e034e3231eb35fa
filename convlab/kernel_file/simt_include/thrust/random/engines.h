#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <ostream>

/// Random number engines with the sequences that Thrust documents; those that C++ has as well have its sequences,
/// except ranlux48.
namespace thrust {

namespace detail {

/// a * x + c modulo m; m = 0 is 2^w.
template <class UInt, UInt kA, UInt kC, UInt kM>
constexpr UInt next_congruential(UInt x) {
  if constexpr (kM == 0) {
    return static_cast<UInt>(kA * x + kC);
  } else {
    return static_cast<UInt>((static_cast<unsigned __int128>(kA) * x + kC) % kM);
  }
}

}  // namespace detail

namespace random {

template <class UIntType, UIntType a, UIntType c, UIntType m>
class linear_congruential_engine {
 public:
  using result_type = UIntType;
  static constexpr UIntType multiplier = a, increment = c, modulus = m;
  static constexpr UIntType min = c == 0 ? 1 : 0, max = m - 1, default_seed = 1;

  explicit linear_congruential_engine(result_type s = default_seed) { seed(s); }
  void seed(result_type s = default_seed) { state_ = m != 0 ? s % m : s, state_ = c == 0 && state_ == 0 ? 1 : state_; }
  result_type operator()() {
    state_ = detail::next_congruential<UIntType, a, c, m>(state_);
    return state_;
  }
  /// Takes a number of steps that grows with the logarithm of n: squares the step.
  void discard(unsigned long long n) {
    UIntType factor = a, term = c;
    for (; n > 0; n /= 2) {
      if (n % 2 != 0) state_ = multiply(factor, state_, term);
      term = multiply(factor, term, term);
      factor = multiply(factor, factor, 0);
    }
  }
  friend bool operator==(const linear_congruential_engine&, const linear_congruential_engine&) = default;
  friend std::ostream& operator<<(std::ostream& stream, const linear_congruential_engine& e) {
    return stream << e.state_;
  }
  friend std::istream& operator>>(std::istream& stream, linear_congruential_engine& e) { return stream >> e.state_; }

 private:
  static UIntType multiply(UIntType x, UIntType y, UIntType z) {
    if constexpr (m == 0) {
      return static_cast<UIntType>(x * y + z);
    } else {
      return static_cast<UIntType>((static_cast<unsigned __int128>(x) * y + z) % m);
    }
  }
  UIntType state_;
};

using minstd_rand0 = linear_congruential_engine<uint32_t, 16807, 0, 2147483647>;
using minstd_rand = linear_congruential_engine<uint32_t, 48271, 0, 2147483647>;
using default_random_engine = minstd_rand;

/// A Tausworthe generator: a shift register of k bits with the polynomial x^k + x^q + 1, s steps at a time.
template <class UIntType, size_t w, size_t k, size_t q, size_t s>
class linear_feedback_shift_engine {
 public:
  using result_type = UIntType;
  static constexpr size_t word_size = w, exponent1 = k, exponent2 = q, step_size = s;
  static constexpr UIntType min = 0, default_seed = 341;
  static constexpr UIntType wordmask = static_cast<UIntType>(~UIntType{0}) >> (8 * sizeof(UIntType) - w);
  static constexpr UIntType max = wordmask;

  explicit linear_feedback_shift_engine(result_type value = default_seed) { seed(value); }
  void seed(result_type value = default_seed) { state_ = value; }
  result_type operator()() {
    constexpr UIntType kHigh = static_cast<UIntType>(wordmask << (w - k)) & wordmask;
    const UIntType b = static_cast<UIntType>((((state_ << q) ^ state_) & wordmask) >> (k - s));
    state_ = static_cast<UIntType>(((state_ & kHigh) << s) ^ b) & wordmask;
    return state_;
  }
  void discard(unsigned long long n) {
    for (; n > 0; --n) (*this)();
  }
  friend bool operator==(const linear_feedback_shift_engine&, const linear_feedback_shift_engine&) = default;

 private:
  UIntType state_;
};

/// Exclusive or of two engines' numbers, shifted to the left.
template <class Engine1, size_t s1, class Engine2, size_t s2 = 0>
class xor_combine_engine {
 public:
  using base1_type = Engine1;
  using base2_type = Engine2;
  using result_type = typename Engine1::result_type;
  static constexpr size_t shift1 = s1, shift2 = s2;
  static constexpr result_type min = 0, max = static_cast<result_type>((Engine1::max << s1) | (Engine2::max << s2));

  xor_combine_engine() = default;
  explicit xor_combine_engine(result_type s) { seed(s); }
  xor_combine_engine(const Engine1& a, const Engine2& b) : first_(a), second_(b) {}
  void seed() { *this = xor_combine_engine(); }
  void seed(result_type s) {
    first_.seed(s);
    second_.seed(s);
  }
  const Engine1& base1() const { return first_; }
  const Engine2& base2() const { return second_; }
  result_type operator()() {
    const result_type a = static_cast<result_type>(first_() - Engine1::min) << s1;
    return a ^ (static_cast<result_type>(second_() - Engine2::min) << s2);
  }
  void discard(unsigned long long n) {
    for (; n > 0; --n) (*this)();
  }
  friend bool operator==(const xor_combine_engine&, const xor_combine_engine&) = default;

 private:
  Engine1 first_;
  Engine2 second_;
};

using taus88 = xor_combine_engine<linear_feedback_shift_engine<uint32_t, 32, 31, 13, 12>, 0,
                                  xor_combine_engine<linear_feedback_shift_engine<uint32_t, 32, 29, 2, 4>, 0,
                                                     linear_feedback_shift_engine<uint32_t, 32, 28, 3, 17>, 0>,
                                  0>;

/// x[i] = x[i - s] - x[i - r] - carry modulo 2^w.
template <class UIntType, size_t w, size_t s, size_t r>
class subtract_with_carry_engine {
 public:
  using result_type = UIntType;
  static constexpr size_t word_size = w, short_lag = s, long_lag = r;
  static constexpr UIntType min = 0, max = static_cast<UIntType>(~UIntType{0}) >> (8 * sizeof(UIntType) - w);
  static constexpr UIntType default_seed = 19780503u;

  explicit subtract_with_carry_engine(result_type value = default_seed) { seed(value); }
  /// One number for each word, also for words of more than 32 bits: std::subtract_with_carry_engine takes two.
  void seed(result_type value = default_seed) {
    linear_congruential_engine<UIntType, 40014, 0, 2147483563> words(value == 0 ? default_seed : value);
    for (UIntType& each : x_) each = words() & max;
    carry_ = x_[r - 1] == 0;
    at_ = 0;
  }
  result_type operator()() {
    const size_t other = at_ >= s ? at_ - s : at_ + r - s;
    const UIntType minuend = x_[other], subtrahend = x_[at_];
    const UIntType difference = static_cast<UIntType>(minuend - subtrahend - (carry_ ? 1 : 0)) & max;
    carry_ = minuend < subtrahend || (minuend == subtrahend && carry_);
    x_[at_] = difference;
    at_ = at_ + 1 == r ? 0 : at_ + 1;
    return difference;
  }
  void discard(unsigned long long n) {
    for (; n > 0; --n) (*this)();
  }
  friend bool operator==(const subtract_with_carry_engine&, const subtract_with_carry_engine&) = default;

 private:
  UIntType x_[r];
  size_t at_;
  bool carry_;
};

/// Uses r of each p numbers of another engine.
template <class Engine, size_t p, size_t r>
class discard_block_engine {
 public:
  using base_type = Engine;
  using result_type = typename Engine::result_type;
  static constexpr size_t block_size = p, used_block = r;
  static constexpr result_type min = Engine::min, max = Engine::max;

  discard_block_engine() = default;
  template <class Seed>
  requires(!std::is_same_v<Seed, discard_block_engine>) explicit discard_block_engine(const Seed& s) : engine_(s) {}
  void seed() { *this = discard_block_engine(); }
  void seed(result_type s) {
    engine_.seed(s);
    used_ = 0;
  }
  const Engine& base() const { return engine_; }
  result_type operator()() {
    if (used_ == r) {
      engine_.discard(p - r);
      used_ = 0;
    }
    ++used_;
    return engine_();
  }
  void discard(unsigned long long n) {
    for (; n > 0; --n) (*this)();
  }
  friend bool operator==(const discard_block_engine&, const discard_block_engine&) = default;

 private:
  Engine engine_;
  size_t used_ = 0;
};

using ranlux24_base = subtract_with_carry_engine<uint32_t, 24, 10, 24>;
using ranlux48_base = subtract_with_carry_engine<uint64_t, 48, 5, 12>;
using ranlux24 = discard_block_engine<ranlux24_base, 223, 23>;
using ranlux48 = discard_block_engine<ranlux48_base, 389, 11>;

}  // namespace random

using namespace random;

}  // namespace thrust
