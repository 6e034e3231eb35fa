// Tests elementwise operators against references in double.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "tests/kernels/op_checks.h"

namespace convlab {
namespace {

/// Numbers where functions bend, end or overflow, and many in between.
Tensor interesting_numbers(bool infinite = true) {
  std::vector<float> values{-100, -20, -3.5f, -2.5f, -1.5f, -1, -0.5f, -1e-3f, -0.0f, 0,   1e-3f,
                            0.5f, 1,   1.5f,  2.5f,  3.5f,  20, 88,    100,    1e-6f, kNan};
  if (infinite) values.insert(values.end(), {kInfinity, -kInfinity});
  Rng rng(1);
  for (int i = 0; i < 9000; ++i) values.push_back(rng.uniform(-6, 6));
  return Tensor::of<float>({std::ssize(values)}, values);
}

struct UnaryCase {
  UnaryOp op;
  std::function<double(double)> definition;
  bool sums_x = false;  ///< the result is a sum of numbers as large as x, and no more precise
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST(CpuUnary, EveryKind) {
  using enum UnaryKind;
  const double a = 0.3f, b = 1.7f;
  const UnaryCase cases[] = {
      {{abs}, [](double x) { return std::fabs(x); }},
      {{neg}, [](double x) { return -x; }},
      {{sign}, [](double x) { return x > 0   ? 1
                                     : x < 0 ? -1
                                             : x; }},
      {{reciprocal}, [](double x) { return 1 / x; }},
      {{sqrt}, [](double x) { return std::sqrt(x); }},
      {{exp}, [](double x) { return double(float(std::exp(x))); }},
      {{log}, [](double x) { return std::log(x); }},
      {{erf}, [](double x) { return std::erf(x); }},
      {{floor}, [](double x) { return std::floor(x); }},
      {{ceil}, [](double x) { return std::ceil(x); }},
      {{round},
       [](double x) { return std::fabs(x) < 1e9 ? std::remainder(x, 1) == 0 ? x : x - std::remainder(x, 1) : x; }},
      {{truncate}, [](double x) { return std::isfinite(x) ? double(int64_t(x)) : x; }},
      {{to_bool}, [](double x) { return x != 0 ? 1 : 0; }},
      {{logical_not}, [](double x) { return x == 0 ? 1 : 0; }},
      {{is_nan}, [](double x) { return x != x ? 1 : 0; }},
      {{is_inf, 1, 0}, [](double x) { return x == -kInfinity ? 1 : 0; }},
      {{is_inf, 0, 1}, [](double x) { return x == kInfinity ? 1 : 0; }},
      {{sin}, [](double x) { return std::sin(x); }},
      {{cos}, [](double x) { return std::cos(x); }},
      {{tan}, [](double x) { return std::tan(x); }},
      {{asin}, [](double x) { return std::asin(x); }},
      {{acos}, [](double x) { return std::acos(x); }},
      {{atan}, [](double x) { return std::atan(x); }},
      {{sinh}, [](double x) { return double(float(std::sinh(x))); }},
      {{cosh}, [](double x) { return double(float(std::cosh(x))); }},
      {{asinh}, [](double x) { return std::asinh(x); }},
      {{acosh}, [](double x) { return std::acosh(x); }},
      {{atanh}, [](double x) { return std::atanh(x); }},
      {{softplus}, [](double x) { return x > 700 ? x : std::log1p(std::exp(x)); }},
      {{softsign}, [](double x) { return x / (1 + std::fabs(x)); }},
      {{elu, 0.3f}, [=](double x) { return x >= 0 ? x : a * std::expm1(x); }},
      {{selu, 0.3f, 1.7f}, [=](double x) { return b * (x > 0 ? x : a * std::expm1(x)); }},
      {{celu, 0.3f}, [=](double x) { return std::isnan(x) ? x
                                            : x > 0       ? x
                                                          : a * std::expm1(x / a); }},
      {{hard_sigmoid, 0.3f, 0.6f},
       [=](double x) { return std::isnan(x) ? x : std::max(0.0, std::min(1.0, a * x + double(0.6f))); },
       true},
      {{hard_swish}, [](double x) { return std::isnan(x) ? x : x * std::max(0.0, std::min(1.0, x / 6 + 0.5)); }},
      {{mish}, [](double x) { return x > 700 ? x : x * std::tanh(std::log1p(std::exp(x))); }},
      {{swish, 1.7f}, [=](double x) { return x * sigmoid(b * x); }},
      {{gelu}, [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }, true},
      {{gelu_tanh},
       [](double x) { return x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x))); },
       true},
      {{thresholded_relu, 1.7f}, [=](double x) { return x > b ? x : 0; }},
      {{shrink, 0.3f, 1.7f}, [=](double x) { return x < -a  ? x + b
                                                    : x > a ? x - b
                                                            : 0; }},
  };
  const Tensor x = interesting_numbers();
  for (const UnaryCase& one : cases) {
    SCOPED_TRACE(name_of(Op{one.op}));
    const Tensor y = run(one.op, {&x});
    for (size_t i = 0; i < static_cast<size_t>(x.count()); ++i) {
      const double from = x.values<float>()[i], got = y.values<float>()[i], wanted = one.definition(from);
      if (std::isnan(wanted)) {
        EXPECT_TRUE(std::isnan(got)) << "of " << from << ": " << got;
        continue;
      }
      // Steep functions multiply the argument's own rounding error: 16 units of x times the slope, which is at most |y|
      // here.
      const double scale =
          std::fabs(wanted) * (1 + std::min(std::fabs(from), 100.0) / 4) + (one.sums_x ? std::fabs(from) : 0);
      EXPECT_TRUE(got == wanted || std::fabs(got - wanted) <= 16 * kUnit * scale + 1e-37)
          << "of " << from << ": " << got << ", expected " << wanted;
    }
  }
}

TEST(CpuUnary, EachElementAlone) {  // whatever its index, in vectors or in the tail
  const Tensor x = interesting_numbers();
  for (const UnaryKind kind : {UnaryKind::gelu, UnaryKind::exp, UnaryKind::softplus, UnaryKind::hard_swish}) {
    const Tensor all = run(UnaryOp{kind}, {&x});
    for (size_t i = 0; i < 100; ++i) {
      const Tensor one = filled({1}, {x.values<float>()[i]});
      const Tensor y = run(UnaryOp{kind}, {&one});
      EXPECT_EQ(std::memcmp(y.raw(), &all.values<float>()[i], sizeof(float)), 0) << x.values<float>()[i];
    }
  }
}

const std::pair<Shape, Shape> kBroadcasts[] = {
    {{2, 3, 4, 5}, {2, 3, 4, 5}},
    {{2, 3, 4, 5}, {3, 1, 1}},
    {{2, 3, 4, 5}, {5}},
    {{2, 3, 4, 5}, {}},
    {{4, 1}, {1, 5}},
    {{2, 1, 4, 1}, {3, 1, 5}},
    {{100, 300}, {100, 1}},
    {{}, {}},
    {{7, 1, 9}, {7, 8, 9}},
    {{1, 1, 1}, {1}},
    {{2, 2, 2, 2}, {2, 1, 2}},
};

/// Random integers, so that many are equal, and NaN.
Tensor whole_numbers(const Shape& shape, uint64_t seed) {
  Rng rng(seed);
  Tensor tensor(ElementType::f32, shape);
  for (float& value : tensor.values<float>()) {
    value = rng.integer(0, 20) == 0 ? kNan : static_cast<float>(rng.integer(-4, 4));
  }
  return tensor;
}

TEST(CpuBinary, EveryKindBroadcastAsNumpyDoes) {
  using enum BinaryKind;
  const auto nan_or = [](double a, double b, double y) { return std::isnan(a) || std::isnan(b) ? double(kNan) : y; };
  const std::pair<BinaryKind, std::function<double(double, double)>> cases[] = {
      {subtract, [](double a, double b) { return a - b; }},
      {divide, [](double a, double b) { return a / b; }},
      {minimum, [&](double a, double b) { return nan_or(a, b, std::min(a, b)); }},
      {maximum, [&](double a, double b) { return nan_or(a, b, std::max(a, b)); }},
      {power, [](double a, double b) { return std::pow(a, b); }},
      {modulo,
       [&](double a, double b) {
         if (std::isnan(a) || std::isnan(b) || b == 0) return double(kNan);
         const auto n = int64_t(a), d = int64_t(b);
         return double(((n % d) + d) % d);
       }},
      {fmod,
       [&](double a, double b) {
         return std::isnan(a) || std::isnan(b) || b == 0 ? double(kNan) : double(int64_t(a) % int64_t(b));
       }},
      {equal, [](double a, double b) { return a == b; }},
      {greater, [](double a, double b) { return a > b; }},
      {greater_equal, [](double a, double b) { return a >= b; }},
      {less, [](double a, double b) { return a < b; }},
      {less_equal, [](double a, double b) { return a <= b; }},
      {logical_and, [](double a, double b) { return a != 0 && b != 0; }},
      {logical_or, [](double a, double b) { return a != 0 || b != 0; }},
      {logical_xor, [](double a, double b) { return (a != 0) != (b != 0); }},
  };
  for (const auto& [first, second] : kBroadcasts) {
    const Tensor a = whole_numbers(first, 10), b = whole_numbers(second, 11);
    const Shape shape = broadcast_shape(first, second);
    for (const auto& [kind, definition] : cases) {
      SCOPED_TRACE(name_of(Op{BinaryOp{kind}}) + " of " + to_text(first) + " and " + to_text(second));
      expect_close(run(BinaryOp{kind}, {&a, &b}), shape, 2 * kUnit,
                   [&](const Index& i) { return definition(broadcast_at(a, i), broadcast_at(b, i)); });
      expect_close(run(BinaryOp{kind}, {&b, &a}), shape, 2 * kUnit,
                   [&](const Index& i) { return definition(broadcast_at(b, i), broadcast_at(a, i)); });
    }
  }
}

TEST(CpuBinary, RemaindersOfReals) {
  const Tensor a = filled({4}, {5.3f, -5.3f, 5.3f, -5.3f}), b = filled({4}, {2, 2, -2, -2});
  const double python[] = {1.3, 0.7, -0.7, -1.3}, c[] = {1.3, -1.3, 1.3, -1.3};
  expect_near(run(BinaryOp{BinaryKind::modulo}, {&a, &b}), {4}, 1e-6, [&](const Index& i) { return python[i[0]]; });
  expect_near(run(BinaryOp{BinaryKind::fmod}, {&a, &b}), {4}, 1e-6, [&](const Index& i) { return c[i[0]]; });
}

TEST(CpuBinary, SquaresAndOtherPowers) {
  const Tensor x = random({1000}, 3), two = filled({}, {2}), more = filled({1}, {2.5f});
  expect_near(run(BinaryOp{BinaryKind::power}, {&x, &two}), {1000}, kUnit,
              [&](const Index& i) { return at(x, i) * at(x, i); });
  expect_near(run(BinaryOp{BinaryKind::power}, {&x, &more}), {1000}, 2 * kUnit,
              [&](const Index& i) { return std::pow(at(x, i), 2.5); });
}

TEST(CpuBinary, SlopesBelowZero) {
  const Tensor x = random({2, 3, 4, 5}, 4), slope = random({3, 1, 1}, 5), wide = random({2, 2, 3, 4, 5}, 6);
  expect_near(run(BinaryOp{BinaryKind::prelu}, {&x, &slope}), x.shape(), kUnit,
              [&](const Index& i) { return at(x, i) < 0 ? at(x, i) * broadcast_at(slope, i) : at(x, i); });
  EXPECT_THROW(step_of(BinaryOp{BinaryKind::prelu}, {&x, &wide}), Error);
}

TEST(CpuWhere, AllThreeBroadcast) {
  const std::vector<Shape> cases[] = {
      {{2, 3, 4}, {2, 3, 4}, {2, 3, 4}},
      {{3, 1}, {2, 3, 4}, {4}},
      {{}, {4}, {3, 1}},
      {{2, 1, 4}, {}, {}},
      {{1, 4}, {3, 1}, {2, 1, 1}},
      {{}, {}, {}},
      {{100, 90}, {}, {100, 90}},
      {{5, 1}, {1, 7}, {}},
  };
  for (const std::vector<Shape>& shapes : cases) {
    SCOPED_TRACE(to_text(shapes[0]) + " " + to_text(shapes[1]) + " " + to_text(shapes[2]));
    Tensor condition = whole_numbers(shapes[0], 7);
    for (float& value : condition.values<float>()) value = std::max(value, 0.0f);
    const Tensor a = random(shapes[1], 8), b = random(shapes[2], 9);
    const Shape shape = broadcast_shape(shapes[0], broadcast_shape(shapes[1], shapes[2]));
    expect_near(run(WhereOp{}, {&condition, &a, &b}), shape, 0, [&](const Index& i) {
      return broadcast_at(condition, i) != 0 ? broadcast_at(a, i) : broadcast_at(b, i);
    });
  }
}

}  // namespace
}  // namespace convlab
