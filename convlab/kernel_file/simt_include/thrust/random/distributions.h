#pragma once

#include <cmath>
#include <limits>
#include <utility>

#include "convlab/simt/cuda/cuda_on_host.h"

/// Distributions: each takes one number of the engine for each of its own.
namespace thrust {

namespace detail {

/// An engine's range, whether it has constants or functions for it.
template <class Engine>
constexpr auto least_of() {
  if constexpr (requires { Engine::min(); }) {
    return Engine::min();
  } else {
    return Engine::min;
  }
}
template <class Engine>
constexpr auto most_of() {
  if constexpr (requires { Engine::max(); }) {
    return Engine::max();
  } else {
    return Engine::max;
  }
}

/// What distributions share: two parameters.
template <class Result, class Parameter>
class TwoParameters {
 public:
  using result_type = Result;
  using param_type = std::pair<Parameter, Parameter>;
  TwoParameters(Parameter a, Parameter b) : a_(a), b_(b) {}
  void reset() {}
  param_type param() const { return {a_, b_}; }
  void param(const param_type& parameters) {
    a_ = parameters.first;
    b_ = parameters.second;
  }
  friend bool operator==(const TwoParameters&, const TwoParameters&) = default;

 protected:
  Parameter a_, b_;
};

}  // namespace detail

namespace random {

/// Reals in [a, b).
template <class RealType = double>
class uniform_real_distribution : public detail::TwoParameters<RealType, RealType> {
 public:
  using typename detail::TwoParameters<RealType, RealType>::param_type;
  explicit uniform_real_distribution(RealType a = 0, RealType b = 1)
      : detail::TwoParameters<RealType, RealType>(a, b) {}
  explicit uniform_real_distribution(const param_type& p) : uniform_real_distribution(p.first, p.second) {}
  template <class Engine>
  RealType operator()(Engine& engine) {
    return (*this)(engine, this->param());
  }
  template <class Engine>
  RealType operator()(Engine& engine, const param_type& p) {
    constexpr auto kLeast = detail::least_of<Engine>(), kMost = detail::most_of<Engine>();
    const RealType number = static_cast<RealType>(engine() - kLeast);
    const RealType unit = number / (RealType(1) + static_cast<RealType>(kMost - kLeast));
    return unit * (p.second - p.first) + p.first;
  }
  RealType a() const { return this->a_; }
  RealType b() const { return this->b_; }
  RealType min() const { return this->a_; }
  RealType max() const { return this->b_; }
};

/// Integers in [a, b], as the whole part of a real.
template <class IntType = int>
class uniform_int_distribution : public detail::TwoParameters<IntType, IntType> {
 public:
  using typename detail::TwoParameters<IntType, IntType>::param_type;
  explicit uniform_int_distribution(IntType a = 0, IntType b = std::numeric_limits<IntType>::max())
      : detail::TwoParameters<IntType, IntType>(a, b) {}
  explicit uniform_int_distribution(const param_type& p) : uniform_int_distribution(p.first, p.second) {}
  template <class Engine>
  IntType operator()(Engine& engine) {
    return (*this)(engine, this->param());
  }
  template <class Engine>
  IntType operator()(Engine& engine, const param_type& p) {
    uniform_real_distribution<double> real(static_cast<double>(p.first), static_cast<double>(p.second) + 1.0);
    return static_cast<IntType>(real(engine));
  }
  IntType a() const { return this->a_; }
  IntType b() const { return this->b_; }
  IntType min() const { return this->a_; }
  IntType max() const { return this->b_; }
};

/// Normally distributed reals, by the inverse of the complementary error function, as device code of Thrust computes
/// them. Thrust's host code may take another way.
template <class RealType = double>
class normal_distribution : public detail::TwoParameters<RealType, RealType> {
 public:
  using typename detail::TwoParameters<RealType, RealType>::param_type;
  explicit normal_distribution(RealType mean = 0, RealType stddev = 1)
      : detail::TwoParameters<RealType, RealType>(mean, stddev) {}
  explicit normal_distribution(const param_type& p) : normal_distribution(p.first, p.second) {}
  template <class Engine>
  RealType operator()(Engine& engine) {
    return (*this)(engine, this->param());
  }
  template <class Engine>
  RealType operator()(Engine& engine, const param_type& p) {
    constexpr auto kLeast = detail::least_of<Engine>(), kMost = detail::most_of<Engine>();
    using Number = typename Engine::result_type;
    constexpr Number kRange = kMost - kLeast;
    Number number = engine() - kLeast;
    const bool is_upper = number > kRange / 2;
    if (is_upper) number = kRange - number;
    const RealType step = static_cast<RealType>(1.0 / static_cast<double>(kRange));
    const RealType root = static_cast<RealType>(is_upper ? M_SQRT2 : -M_SQRT2);
    const RealType half = static_cast<RealType>(number) * step + step / 2;
    return p.first + p.second * root * inverse(2 * half);
  }
  RealType mean() const { return this->a_; }
  RealType stddev() const { return this->b_; }
  RealType min() const { return -std::numeric_limits<RealType>::infinity(); }
  RealType max() const { return std::numeric_limits<RealType>::infinity(); }

 private:
  static float inverse(float x) { return erfcinvf(x); }
  static double inverse(double x) { return erfcinv(x); }
};

}  // namespace random

using namespace random;

}  // namespace thrust
