// Tests operators with windows over images against references in double.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "tests/kernels/op_checks.h"

namespace convlab {
namespace {

/// Adds each pixel's multiples of its filters to an output without padding, and crops it.
std::vector<double> transposed(const ConvTransposeOp& op, const TransposedConv& conv, const Tensor& x, const Tensor& w,
                               const Tensor* bias) {
  const Shape &of_x = x.shape(), &of_w = w.shape();
  const int64_t maps = of_w[1] * op.groups, per_group = of_x[1] / op.groups;
  std::vector<double> y(static_cast<size_t>(of_x[0] * maps * conv.output_h * conv.output_w));
  for (size_t i = 0; i < y.size() && bias != nullptr; ++i) {
    const int64_t map = static_cast<int64_t>(i) / (conv.output_h * conv.output_w) % maps;
    y[i] = at(*bias, {map});
  }
  for_each(of_x, [&](const Index& from, size_t) {
    for_each({of_w[1], of_w[2], of_w[3]}, [&](const Index& filter, size_t) {
      const int64_t h = from[2] * op.stride_h + filter[1] * op.dilation_h - conv.pad_top;
      const int64_t v = from[3] * op.stride_w + filter[2] * op.dilation_w - conv.pad_left;
      if (h < 0 || v < 0 || h >= conv.output_h || v >= conv.output_w) return;
      const int64_t map = from[1] / per_group * of_w[1] + filter[0];
      const int64_t flat = ((from[0] * maps + map) * conv.output_h + h) * conv.output_w + v;
      y[static_cast<size_t>(flat)] += at(x, from) * at(w, {from[1], filter[0], filter[1], filter[2]});
    });
  });
  return y;
}

TEST(CpuConvTranspose, RandomShapes) {
  Rng rng(1);
  int computed = 0;
  for (int round = 0; round < 200; ++round) {
    ConvTransposeOp op;
    op.stride_h = rng.integer(1, 3), op.stride_w = rng.integer(1, 3);
    op.dilation_h = rng.integer(1, 2), op.dilation_w = rng.integer(1, 2);
    op.pad_top = rng.integer(0, 2), op.pad_left = rng.integer(0, 2);
    op.pad_bottom = rng.integer(0, 2), op.pad_right = rng.integer(0, 2);
    op.output_pad_h = rng.integer(0, op.stride_h - 1), op.output_pad_w = rng.integer(0, op.stride_w - 1);
    op.groups = rng.integer(1, 3);
    op.auto_pad = static_cast<AutoPad>(rng.integer(0, 3));
    const int64_t channels = op.groups * rng.integer(1, 4);
    const Tensor x = random({2, channels, rng.integer(1, 6), rng.integer(1, 9)}, rng.next());
    const Tensor w = random({channels, rng.integer(1, 4), rng.integer(1, 4), rng.integer(1, 4)}, rng.next());
    const Tensor bias = random({w.shape()[1] * op.groups}, rng.next());
    if (rng.integer(0, 3) == 0) {
      op.output_h = x.shape()[2] * op.stride_h;
      op.output_w = x.shape()[3] * op.stride_w + 1;
    }
    TransposedConv conv;
    try {
      conv = transposed_conv(op, x.shape(), w.shape());
    } catch (const Error&) {
      continue;  // the padding leaves nothing
    }
    ++computed;
    const Shape shape{2, w.shape()[1] * op.groups, conv.output_h, conv.output_w};
    for (const bool has_bias : {false, true}) {
      const std::vector<double> wanted = transposed(op, conv, x, w, has_bias ? &bias : nullptr);
      std::vector<const Tensor*> inputs{&x, &w};
      if (has_bias) inputs.push_back(&bias);
      size_t i = 0;
      expect_close(run(op, inputs), shape, 32 * kUnit, [&](const Index&) { return wanted[i++]; });
    }
  }
  EXPECT_GT(computed, 100);
}

TEST(CpuConvTranspose, SizesAsOnnxHasThem) {
  const Shape x{1, 1, 3, 3}, w{1, 2, 3, 3};
  const auto sizes = [&](const ConvTransposeOp& op) {
    const TransposedConv conv = transposed_conv(op, x, w);
    return std::vector<int64_t>{conv.pad_top, conv.pad_left, conv.output_h, conv.output_w};
  };
  using Sizes = std::vector<int64_t>;
  EXPECT_EQ(sizes({}), (Sizes{0, 0, 5, 5}));
  EXPECT_EQ(sizes({.stride_h = 3, .stride_w = 2}), (Sizes{0, 0, 9, 7}));
  EXPECT_EQ(sizes({.stride_h = 3, .stride_w = 2, .output_pad_h = 1, .output_pad_w = 1}), (Sizes{0, 0, 10, 8}));
  EXPECT_EQ(sizes({.stride_h = 3, .stride_w = 2, .output_h = 10, .output_w = 8}), (Sizes{0, 0, 10, 8}));
  EXPECT_EQ(sizes({.stride_h = 3, .stride_w = 2, .pad_top = 1, .pad_left = 2, .pad_bottom = 1, .pad_right = 2}),
            (Sizes{1, 2, 7, 3}));
  EXPECT_EQ(sizes({.stride_h = 2, .stride_w = 2, .auto_pad = AutoPad::same_upper}), (Sizes{0, 0, 6, 6}));
  EXPECT_EQ(sizes({.stride_h = 2, .stride_w = 2, .auto_pad = AutoPad::same_lower}), (Sizes{1, 1, 6, 6}));
  EXPECT_EQ(sizes({.output_h = 4, .output_w = 4}), (Sizes{1, 1, 4, 4}));
}

TEST(CpuConvTranspose, NanReachesItsPixelsAlone) {
  Tensor x = random({1, 2, 5, 5}, 2);
  const Tensor w = random({2, 3, 3, 3}, 3);
  x.values<float>()[12] = kNan;  // channel 0, in the middle
  const Tensor y = run(ConvTransposeOp{.stride_h = 2, .stride_w = 2}, {&x, &w});
  for_each(y.shape(), [&](const Index& index, size_t flat) {
    const bool reached = index[2] >= 4 && index[2] <= 6 && index[3] >= 4 && index[3] <= 6;
    EXPECT_EQ(std::isnan(y.values<float>()[flat]), reached) << flat;
  });
}

Pool random_pool(Rng& rng) {
  Pool pool;
  pool.kernel_h = rng.integer(1, 4), pool.kernel_w = rng.integer(1, 4);
  pool.stride_h = rng.integer(1, 3), pool.stride_w = rng.integer(1, 3);
  pool.dilation_h = rng.integer(1, 2), pool.dilation_w = rng.integer(1, 2);
  pool.pad_top = rng.integer(0, pool.kernel_h - 1), pool.pad_bottom = rng.integer(0, pool.kernel_h - 1);
  pool.pad_left = rng.integer(0, pool.kernel_w - 1), pool.pad_right = rng.integer(0, pool.kernel_w - 1);
  pool.ceil_mode = rng.integer(0, 1) == 0;
  return pool;
}

/// Returns the indices of x in the window of an output, in order.
std::vector<Index> window_of(const Pool& pool, const Shape& x, const Index& y) {
  std::vector<Index> window;
  for (int64_t r = 0; r < pool.kernel_h; ++r) {
    for (int64_t s = 0; s < pool.kernel_w; ++s) {
      const int64_t h = y[2] * pool.stride_h + r * pool.dilation_h - pool.pad_top;
      const int64_t w = y[3] * pool.stride_w + s * pool.dilation_w - pool.pad_left;
      if (h >= 0 && w >= 0 && h < x[2] && w < x[3]) window.push_back({y[0], y[1], h, w});
    }
  }
  return window;
}

TEST(CpuLpPool, RandomWindows) {
  Rng rng(4);
  int pooled = 0;
  for (int round = 0; round < 200; ++round) {
    const Pool pool = random_pool(rng);
    const Tensor x = random({2, 2, rng.integer(1, 9), rng.integer(1, 9)}, rng.next());
    const LpPoolOp op{pool, rng.integer(1, 4)};
    try {
      resolved_pool({pool}, x.shape());
    } catch (const Error&) {
      continue;
    }
    ++pooled;
    const Step step = step_of(op, {&x});
    expect_close(run(step, {&x}), step.outputs[0].shape, 4 * kUnit, [&](const Index& index) {
      double sum = 0;
      for (const Index& each : window_of(pool, x.shape(), index)) {
        sum += std::pow(std::fabs(at(x, each)), static_cast<double>(op.p));
      }
      return std::pow(sum, 1 / static_cast<double>(op.p));
    });
  }
  EXPECT_GT(pooled, 60);
}

TEST(CpuMaxPoolIndices, FirstOfEqualsAndNan) {
  Rng rng(5);
  int pooled = 0;
  for (int round = 0; round < 200; ++round) {
    const Pool pool = random_pool(rng);
    Tensor x = random({2, 2, rng.integer(1, 9), rng.integer(1, 9)}, rng.next());
    for (float& value : x.values<float>()) value = rng.integer(0, 15) == 0 ? kNan : std::round(value * 3);
    try {
      resolved_pool({pool}, x.shape());
    } catch (const Error&) {
      continue;
    }
    ++pooled;
    for (const bool columns_first : {false, true}) {
      const Step step = step_of(MaxPoolIndicesOp{.pool = pool, .columns_first = columns_first}, {&x});
      expect_near(run(step, {&x}), step.outputs[0].shape, 0, [&](const Index& index) {
        const std::vector<Index> window = window_of(pool, x.shape(), index);
        const auto score = [&](const Index& each) { return std::isnan(at(x, each)) ? 1e9 : at(x, each); };
        const Index best = *std::max_element(window.begin(), window.end(),
                                             [&](const Index& a, const Index& b) { return score(a) < score(b); });
        const int64_t height = x.shape()[2], width = x.shape()[3];
        const int64_t place = columns_first ? best[3] * height + best[2] : best[2] * width + best[3];
        return static_cast<double>((best[0] * 2 + best[1]) * height * width + place);
      });
    }
  }
  EXPECT_GT(pooled, 60);
}

TEST(CpuMaxUnpool, AsInOnnxsDocumentation) {
  const Tensor x = filled({1, 1, 2, 2}, {5, 6, 7, 8}), indices = filled({1, 1, 2, 2}, {5, 7, 13, 15});
  const Pool pool{.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2};
  for (const int64_t side : {4, 5}) {  // in a larger output, indices are still those of 4 x 4
    MaxUnpoolOp op{.pool = pool};
    if (side == 5) op.output_shape = {1, 1, 5, 5};
    expect_near(run(op, {&x, &indices}), {1, 1, side, side}, 0, [](const Index& i) {
      if (i[2] == 1) return i[3] == 1 ? 5.0 : i[3] == 3 ? 6.0 : 0;
      if (i[2] == 3) return i[3] == 1 ? 7.0 : i[3] == 3 ? 8.0 : 0;
      return 0.0;
    });
  }
  const Tensor outside = filled({1, 1, 2, 2}, {5, 7, 13, 16});
  EXPECT_THROW(run(MaxUnpoolOp{.pool = pool}, {&x, &outside}), Error);
  EXPECT_THROW(step_of(MaxUnpoolOp{.pool = pool, .output_shape = {1, 1, 3, 4}}, {&x, &indices}), Error);
}

TEST(CpuMaxUnpool, UndoesPooling) {
  const Tensor x = random({2, 3, 6, 8}, 6);
  const Pool pool{.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2};
  const Tensor most = run(PoolOp{pool}, {&x}), indices = run(MaxPoolIndicesOp{pool}, {&x});
  const std::set<double> kept(most.values<float>().begin(), most.values<float>().end());
  expect_near(run(MaxUnpoolOp{pool}, {&most, &indices}), x.shape(), 0,
              [&](const Index& i) { return kept.contains(at(x, i)) ? at(x, i) : 0; });
}

}  // namespace
}  // namespace convlab
