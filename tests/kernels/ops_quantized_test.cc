// Tests quantized operators against integer references: results must be equal.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/kernels/op_checks.h"

namespace convlab {
namespace {

Tensor whole(const Shape& shape, int64_t low, int64_t high, uint64_t seed) {
  Rng rng(seed);
  Tensor tensor(ElementType::f32, shape);
  for (float& value : tensor.values<float>()) value = static_cast<float>(rng.integer(low, high));
  return tensor;
}

Tensor scales(const Shape& shape, uint64_t seed) {
  Rng rng(seed);
  Tensor tensor(ElementType::f32, shape);
  for (float& value : tensor.values<float>()) value = rng.uniform(0.001f, 0.1f);
  return tensor;
}

/// Returns round(value), half to even, + zero, saturated.
double saturated(float value, double zero, double low, double high) {
  return std::clamp(std::nearbyint(double{value}) + zero, low, high);
}

double one_or(const Tensor& tensor, int64_t place) {
  return tensor.values<float>()[tensor.count() == 1 ? 0 : static_cast<size_t>(place)];
}

TEST(CpuQuantize, HalvesGoToEvenAndLevelsSaturate) {
  const Tensor x = filled({9}, {-1000, -3, -1, 1, 3, 5, 1000, kInfinity, kNan}), scale = filled({}, {2});
  const Tensor zero = filled({}, {1});
  const double plain[] = {0, 0, 0, 0, 2, 2, 255, 255, kNan};
  expect_near(run(QuantizeOp{}, {&x, &scale}), {9}, 0, [&](const Index& i) { return plain[i[0]]; });
  // The zero point is added after rounding: -0.5 becomes 0, then 1.
  const double moved[] = {-128, -1, 1, 1, 3, 3, 127, 127, kNan};
  expect_near(run(QuantizeOp{.low = -128, .high = 127}, {&x, &scale, &zero}), {9}, 0,
              [&](const Index& i) { return moved[i[0]]; });
}

TEST(CpuQuantize, ByAxisAndByBlock) {
  const Tensor x = random({3, 4, 5}, 1);
  struct Case {
    int64_t axis, block;
    Shape shape;
  };
  for (const auto& [axis, block, shape] : {Case{0, 0, {3}}, Case{-2, 0, {4}}, Case{2, 0, {5}}, Case{1, 0, {1}},
                                           Case{1, 2, {3, 2, 5}}, Case{-1, 3, {3, 4, 2}}, Case{0, 3, {1, 4, 5}}}) {
    SCOPED_TRACE(fmt::format("axis {}, block {}", axis, block));
    const Tensor scale = scales(shape, 2), zero = whole(shape, 0, 255, 3);
    const auto along = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
    const auto own = [&, &block = block, &shape = shape](const Tensor& tensor, Index index) {
      if (block == 0) return one_or(tensor, shape == Shape{1} ? 0 : index[along]);
      index[along] /= block;
      return at(tensor, index);
    };
    const Tensor y = run(QuantizeOp{axis, block}, {&x, &scale, &zero});
    expect_near(y, x.shape(), 0, [&](const Index& i) {
      const float quotient = static_cast<float>(at(x, i)) / static_cast<float>(own(scale, i));
      return saturated(quotient, own(zero, i), 0, 255);
    });
    expect_near(run(DequantizeOp{axis, block}, {&y, &scale, &zero}), x.shape(), 0, [&](const Index& i) {
      return static_cast<float>(at(y, i) - own(zero, i)) * static_cast<float>(own(scale, i));
    });
    expect_near(run(DequantizeOp{axis, block}, {&y, &scale}), x.shape(), 0,
                [&](const Index& i) { return static_cast<float>(at(y, i)) * static_cast<float>(own(scale, i)); });
  }
  const Tensor wrong = scales({3}, 4);
  EXPECT_THROW(step_of(QuantizeOp{1}, {&x, &wrong}), Error);
  EXPECT_THROW(step_of(DequantizeOp{1, 2}, {&x, &wrong}), Error);
}

/// Returns the sums of a convolution of integers, less their zero points; padding counts as the zero point.
std::vector<int64_t> convolved(const ConvProblem& problem, const Tensor& x, double x_zero, const Tensor& w,
                               const Tensor& w_zero) {
  std::vector<int64_t> sums;
  for_each(problem.output_shape(), [&](const Index& y, size_t) {
    int64_t sum = 0;
    for_each({problem.channels_per_group(), problem.r, problem.s}, [&](const Index& tap, size_t) {
      const int64_t h = y[2] * problem.stride_h + tap[1] * problem.dilation_h - problem.pad_top;
      const int64_t v = y[3] * problem.stride_w + tap[2] * problem.dilation_w - problem.pad_left;
      if (h < 0 || v < 0 || h >= problem.h || v >= problem.w) return;
      const int64_t channel = y[1] / problem.maps_per_group() * problem.channels_per_group() + tap[0];
      const double pixel = at(x, {y[0], channel, h, v}) - x_zero;
      sum += static_cast<int64_t>(pixel * (at(w, {y[1], tap[0], tap[1], tap[2]}) - one_or(w_zero, y[1])));
    });
    sums.push_back(sum);
  });
  return sums;
}

TEST(CpuQLinearConv, RandomProblems) {
  Rng rng(5);
  for (int round = 0; round < 60; ++round) {
    ConvOp conv{.stride_h = rng.integer(1, 2), .stride_w = rng.integer(1, 2), .dilation_h = rng.integer(1, 2)};
    conv.pad_top = rng.integer(0, 2), conv.pad_right = rng.integer(0, 2);
    conv.groups = rng.integer(1, 3);
    const int64_t channels = rng.integer(1, round % 10 == 0 ? 80 : 4), maps = conv.groups * rng.integer(1, 20);
    const Tensor x = whole({2, conv.groups * channels, rng.integer(5, 9), rng.integer(5, 20)}, 0, 255, rng.next());
    const Tensor w = whole({maps, channels, rng.integer(1, 3), rng.integer(1, 3)}, -128, 127, rng.next());
    const Shape each = rng.integer(0, 1) == 0 ? Shape{} : Shape{maps};
    const Tensor x_scale = scales({}, rng.next()), w_scale = scales(each, rng.next()), y_scale = filled({}, {1.5f});
    const Tensor x_zero = whole({}, 0, 255, rng.next()), w_zero = whole(each, -5, 5, rng.next());
    const Tensor y_zero = whole({1}, 0, 255, rng.next()), bias = whole({maps}, -100000, 100000, rng.next());
    const ConvProblem problem = conv_problem(conv, x.shape(), w.shape());
    const std::vector<int64_t> sums = convolved(problem, x, x_zero.values<float>()[0], w, w_zero);
    for (const bool has_bias : {false, true}) {
      std::vector<const Tensor*> inputs{&x, &x_scale, &x_zero, &w, &w_scale, &w_zero, &y_scale, &y_zero};
      if (has_bias) inputs.push_back(&bias);
      size_t i = 0;
      expect_near(run(QLinearConvOp{conv}, inputs), problem.output_shape(), 0, [&](const Index& index) {
        const float factor = x_scale.values<float>()[0] * static_cast<float>(one_or(w_scale, index[1])) / 1.5f;
        const double sum = static_cast<double>(sums[i++]) + (has_bias ? at(bias, {index[1]}) : 0);
        return saturated(static_cast<float>(sum) * factor, y_zero.values<float>()[0], 0, 255);
      });
    }
    size_t i = 0;
    std::vector<const Tensor*> inputs{&x, &w, &x_zero, &w_zero};
    expect_near(run(ConvIntegerOp{conv}, inputs), problem.output_shape(), 0,
                [&](const Index&) { return static_cast<float>(sums[i++]); });
  }
}

TEST(CpuConvInteger, WithoutZeroPointsAndAtTheLargest) {
  // 300 channels of the largest numbers: the sum needs 25 bits, and fp32 represents only its multiples of 2.
  Tensor x(ElementType::f32, {1, 300, 1, 1}), w(ElementType::f32, {2, 300, 1, 1});
  std::ranges::fill(x.values<float>(), 255.0f);
  std::ranges::fill(w.values<float>(), 255.0f);
  w.values<float>()[599] = 253;
  const double sums[] = {300 * 255 * 255, 300 * 255 * 255 - 2 * 255};
  expect_near(run(ConvIntegerOp{}, {&x, &w}), {1, 2, 1, 1}, 0,
              [&](const Index& i) { return static_cast<float>(sums[i[1]]); });
}

TEST(CpuMatMulInteger, AsNumpyDoesWithZeroPoints) {
  const std::pair<Shape, Shape> pairs[] = {
      {{5, 7}, {7, 3}},         {{7}, {7, 3}},          {{5, 7}, {7}},          {{7}, {7}},
      {{2, 5, 300}, {300, 40}}, {{2, 5, 7}, {2, 7, 3}}, {{1, 5, 7}, {2, 7, 3}}, {{4, 1, 5, 7}, {3, 7, 2}},
      {{2, 3, 4, 7}, {7, 300}},
  };
  for (const auto& [first, second] : pairs) {
    SCOPED_TRACE(to_text(first) + " by " + to_text(second));
    const Tensor a = whole(first, 0, 255, 6), b = whole(second, -128, 127, 7);
    const int64_t m = first.size() < 2 ? 1 : first[first.size() - 2], n = second.size() < 2 ? 1 : second.back();
    const int64_t k = first.back();
    const Shape shape = output_shape(MatMulOp{}, std::vector<Shape>{first, second});
    for (int kind = 0; kind < 3; ++kind) {
      const Tensor a_zero = whole(kind == 0 ? Shape{} : kind == 1 ? Shape{m} : Shape{m, 1}, 0, 255, 8);
      const Tensor b_zero = whole(kind == 0 ? Shape{1} : kind == 1 ? Shape{n} : Shape{1, n}, -9, 9, 9);
      struct Place {
        int64_t row, column, sum;
      };
      const auto sum_at = [&, &first = first, &second = second](const Index& index, bool zeros) {
        Index full = index;
        if (second.size() == 1) full.push_back(0);
        if (first.size() == 1) full.insert(full.end() - 1, 0);
        const int64_t row = full[full.size() - 2], column = full.back();
        int64_t sum = 0;
        for (int64_t j = 0; j < k; ++j) {
          Index of_a = full, of_b = full;
          of_a.back() = j;
          of_b[of_b.size() - 2] = j;
          if (first.size() == 1) of_a = {j};
          if (second.size() == 1) of_b = {j};
          const double left = broadcast_at(a, of_a) - (zeros ? one_or(a_zero, row) : 0);
          const double right = broadcast_at(b, of_b) - (zeros ? one_or(b_zero, column) : 0);
          sum += static_cast<int64_t>(left * right);
        }
        return Place{row, column, sum};
      };
      expect_near(run(MatMulIntegerOp{}, {&a, &b}), shape, 0,
                  [&](const Index& i) { return static_cast<float>(sum_at(i, false).sum); });
      expect_near(run(MatMulIntegerOp{}, {&a, &b, &a_zero, &b_zero}), shape, 0,
                  [&](const Index& i) { return static_cast<float>(sum_at(i, true).sum); });
      const Tensor a_scale = scales(a_zero.shape(), 10), b_scale = scales(b_zero.shape(), 11);
      const Tensor y_scale = filled({}, {0.7f}), y_zero = filled({1}, {3});
      const QLinearMatMulOp op{-128, 127};
      expect_near(run(op, {&a, &a_scale, &a_zero, &b, &b_scale, &b_zero, &y_scale, &y_zero}), shape, 0,
                  [&](const Index& index) {
                    const auto [row, column, sum] = sum_at(index, true);
                    const auto a_own = static_cast<float>(one_or(a_scale, row));
                    const auto b_own = static_cast<float>(one_or(b_scale, column));
                    return saturated(static_cast<float>(sum) * (a_own * b_own / 0.7f), 3, -128, 127);
                  });
    }
  }
  const Tensor a = whole({5, 7}, 0, 255, 12), b = whole({7, 3}, 0, 255, 13), zeros = whole({4}, 0, 9, 14);
  EXPECT_THROW(step_of(MatMulIntegerOp{}, {&a, &b, &zeros}), Error);
}

}  // namespace
}  // namespace convlab
