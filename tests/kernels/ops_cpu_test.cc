// Tests every operator's CPU kernel against a simple reference in double. Outputs and workspaces are filled with NaN
// first, and results must not depend on the number of threads.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "convlab/base/half.h"
#include "convlab/base/rng.h"
#include "convlab/kernels/registry.h"
#include "convlab/kernels/select.h"
#include "convlab/model/shapes.h"
#include "tests/kernels/op_checks.h"

namespace convlab {
namespace {

TEST(CpuActivation, EachKindAndNan) {
  const Tensor x = filled({7}, {-kInfinity, -2, -0.5f, 0, 0.25f, 3, kNan});
  const auto activated = [&](ActivationKind kind, float alpha = 0, float beta = 0) {
    return run(ActivationOp{{kind, alpha, beta}}, {&x});
  };
  const auto value = [&](const Index& index) { return at(x, index); };
  expect_near(activated(ActivationKind::none), {7}, 0, value);
  expect_near(activated(ActivationKind::relu), {7}, 0, [&](const Index& i) { return value(i) < 0 ? 0 : value(i); });
  expect_near(activated(ActivationKind::leaky_relu, 0.5f), {7}, 0,
              [&](const Index& i) { return value(i) < 0 ? value(i) / 2 : value(i); });
  expect_near(activated(ActivationKind::clip, -1, 2), {7}, 0, [&](const Index& i) {
    return value(i) < -1 ? -1 : value(i) > 2 ? 2 : value(i);
  });
  expect_near(activated(ActivationKind::clip, 2, 1), {7}, 0, [&](const Index& i) {
    return std::isnan(value(i)) ? value(i) : 1;  // ONNX: the maximum if the minimum is above it
  });
  expect_near(activated(ActivationKind::sigmoid), {7}, 16 * kUnit,
              [&](const Index& i) { return 1 / (1 + std::exp(-value(i))); });
  expect_near(activated(ActivationKind::tanh), {7}, 16 * kUnit, [&](const Index& i) { return std::tanh(value(i)); });
}

TEST(CpuActivation, ManyPiecesAndATail) {
  const Tensor x = random({3, 7, 1001}, 1);
  expect_near(run(ActivationOp{{ActivationKind::tanh}}, {&x}), x.shape(), 16 * kUnit,
              [&](const Index& index) { return std::tanh(at(x, index)); });
}

TEST(CpuActivation, TakesPixels) {
  Tensor x(ElementType::u8, {256});
  for (size_t i = 0; i < 256; ++i) x.values<uint8_t>()[i] = static_cast<uint8_t>(i);
  expect_near(run(ActivationOp{}, {&x}), {256}, 0, [](const Index& index) { return double(index[0]); });
  expect_near(run(ActivationOp{{ActivationKind::clip, 10, 20}}, {&x}), {256}, 0,
              [](const Index& index) { return double(std::clamp<int64_t>(index[0], 10, 20)); });
}

void expect_pooled(const Pool& pool, const Tensor& x) {
  SCOPED_TRACE(to_text(pool));
  const PoolOp op{pool};
  const Shape shape = output_shape(op, std::vector<Shape>{x.shape()});
  const int64_t height = x.shape()[2], width = x.shape()[3];
  expect_near(run(op, {&x}), shape, 2 * kUnit, [&](const Index& y) {
    double most = -kInfinity, sum = 0;
    int64_t inside = 0, counted = 0;
    for (int64_t r = 0; r < pool.kernel_h; ++r) {
      for (int64_t s = 0; s < pool.kernel_w; ++s) {
        const int64_t h = y[2] * pool.stride_h + r * pool.dilation_h - pool.pad_top;
        const int64_t w = y[3] * pool.stride_w + s * pool.dilation_w - pool.pad_left;
        counted += h < height + pool.pad_bottom && w < width + pool.pad_right;
        if (h < 0 || w < 0 || h >= height || w >= width) continue;
        const double value = at(x, {y[0], y[1], h, w});
        if (std::isnan(value)) return value;
        most = std::max(most, value);
        sum += value;
        ++inside;
      }
    }
    if (pool.kind == PoolKind::max) return most;
    return sum / static_cast<double>(pool.count_include_pad ? counted : inside);
  });
}

TEST(CpuPool, RandomWindows) {
  Rng rng(7);
  int pooled = 0;
  for (int round = 0; round < 300; ++round) {
    Pool pool{.kind = rng.integer(0, 1) == 0 ? PoolKind::max : PoolKind::average};
    pool.kernel_h = rng.integer(1, 4), pool.kernel_w = rng.integer(1, 4);
    pool.stride_h = rng.integer(1, 4), pool.stride_w = rng.integer(1, 4);
    pool.dilation_h = rng.integer(1, 2), pool.dilation_w = rng.integer(1, 2);
    pool.pad_top = rng.integer(0, pool.kernel_h - 1), pool.pad_bottom = rng.integer(0, pool.kernel_h - 1);
    pool.pad_left = rng.integer(0, pool.kernel_w - 1), pool.pad_right = rng.integer(0, pool.kernel_w - 1);
    pool.ceil_mode = rng.integer(0, 1) == 0;
    pool.count_include_pad = rng.integer(0, 1) == 0;
    Tensor x = random({2, 3, rng.integer(1, 11), rng.integer(1, 40)}, rng.next());
    x.values<float>()[static_cast<size_t>(rng.integer(0, x.count() - 1))] = kNan;
    try {
      resolved_pool({pool}, x.shape());
    } catch (const Error&) {
      continue;  // the window does not fit
    }
    expect_pooled(pool, x);
    ++pooled;
  }
  EXPECT_GT(pooled, 100);
}

TEST(CpuPool, WindowsFarLargerThanTheImageTakeNoLonger) {
  constexpr int64_t kHuge = int64_t{1} << 30;
  const Tensor x = random({1, 1, 5, 5}, 4);
  Pool pool{.kernel_h = kHuge, .kernel_w = kHuge, .stride_h = kHuge, .stride_w = kHuge};
  pool.pad_top = pool.pad_left = pool.pad_bottom = pool.pad_right = kHuge - 1;
  for (const PoolKind kind : {PoolKind::max, PoolKind::average}) {
    pool.kind = kind;
    expect_near(run(PoolOp{pool}, {&x}), {1, 1, 2, 2}, 2 * kUnit, [&](const Index& y) {  // row 0 alone, or all others
      double most = -kInfinity, sum = 0, count = 0;
      for (int64_t h = y[2]; h < (y[2] == 0 ? 1 : 5); ++h) {
        for (int64_t w = y[3]; w < (y[3] == 0 ? 1 : 5); ++w, ++count) {
          most = std::max(most, at(x, {0, 0, h, w}));
          sum += at(x, {0, 0, h, w});
        }
      }
      return kind == PoolKind::max ? most : sum / count;
    });
  }
}

TEST(CpuPool, TheCoursesOwn) {
  const Tensor x = random({3, 5, 66, 34}, 3);
  expect_pooled({.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2}, x);
}

TEST(CpuPool, NanFirstOrLastOfAWindow) {
  for (size_t place = 0; place < 4; ++place) {
    Tensor x = filled({1, 1, 2, 2}, {1, 2, 3, 4});
    x.values<float>()[place] = kNan;
    expect_pooled({.kernel_h = 2, .kernel_w = 2}, x);
  }
}

TEST(CpuGlobalAveragePool, MeansOfMaps) {
  const Tensor x = random({3, 5, 7, 9}, 4);
  expect_near(run(GlobalAveragePoolOp{}, {&x}), {3, 5, 1, 1}, kUnit, [&](const Index& index) {
    double sum = 0;
    for (int64_t h = 0; h < 7; ++h) {
      for (int64_t w = 0; w < 9; ++w) sum += at(x, {index[0], index[1], h, w});
    }
    return sum / 63;
  });
}

TEST(CpuBatchNorm, ByChannelForAnyRank) {
  for (const Shape& shape : {Shape{4, 3, 5, 6}, Shape{2, 3}, Shape{2, 3, 7}}) {
    const Tensor x = random(shape, 5), scale = random({3}, 6), shift = random({3}, 7), mean = random({3}, 8);
    Tensor variance = random({3}, 9);
    for (float& value : variance.values<float>()) value = value * value;
    expect_near(
        run(BatchNormOp{0.01f}, {&x, &scale, &shift, &mean, &variance}), shape, 100 * kUnit, [&](const Index& index) {
          const Index c{index[1]};
          return (at(x, index) - at(mean, c)) / std::sqrt(at(variance, c) + 0.01f) * at(scale, c) + at(shift, c);
        });
  }
}

TEST(CpuAddAndMul, BroadcastAsNumpyDoes) {
  const std::pair<Shape, Shape> pairs[] = {
      {{2, 3, 4, 5}, {2, 3, 4, 5}},
      {{2, 3, 4, 5}, {3, 1, 1}},
      {{2, 3, 4, 5}, {5}},
      {{2, 3, 4, 5}, {4, 1}},
      {{2, 3, 4, 5}, {}},
      {{}, {}},
      {{4, 1}, {1, 5}},
      {{2, 1, 4, 1}, {3, 1, 5}},
      {{1, 1}, {3, 3}},
      {{2, 3, 1, 1}, {4, 5}},
      {{100, 300}, {100, 1}},
      {{1, 3, 4}, {2, 1, 4}},
      {{7, 1, 9}, {7, 8, 9}},
      {{3, 4}, {1, 4}},
      {{2, 2, 2, 2}, {2, 1, 2}},
      {{1, 1, 1}, {1}},
  };
  for (const auto& [first, second] : pairs) {
    SCOPED_TRACE(to_text(first) + " and " + to_text(second));
    const Tensor a = random(first, 10), b = random(second, 11);
    const Shape shape = broadcast_shape(first, second);
    for (const auto& [x, y] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
      expect_near(run(AddOp{}, {x, y}), shape, kUnit * 2,
                  [&](const Index& index) { return broadcast_at(a, index) + broadcast_at(b, index); });
      expect_near(run(MulOp{}, {x, y}), shape, kUnit * 2,
                  [&](const Index& index) { return broadcast_at(a, index) * broadcast_at(b, index); });
    }
  }
}

TEST(CpuGemm, TransposesScalesAndAddends) {
  const int64_t m = 19, n = 37, k = 300;
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      for (const Shape& addend : {Shape{}, Shape{37}, Shape{1, 37}, Shape{19, 1}, Shape{19, 37}, Shape{1, 1}}) {
        SCOPED_TRACE(fmt::format("{} {} {}", transpose_a, transpose_b, to_text(addend)));
        const Tensor a = random(transpose_a ? Shape{k, m} : Shape{m, k}, 12);
        const Tensor b = random(transpose_b ? Shape{n, k} : Shape{k, n}, 13);
        const Tensor c = random(addend, 14);
        const auto product = [&](const Index& i) {
          double sum = 0;
          for (int64_t j = 0; j < k; ++j) {
            sum += at(a, transpose_a ? Index{j, i[0]} : Index{i[0], j}) *
                   at(b, transpose_b ? Index{i[1], j} : Index{j, i[1]});
          }
          return sum;
        };
        const GemmOp op{0.5f, 2, transpose_a, transpose_b};
        expect_near(run(op, {&a, &b}), {m, n}, static_cast<double>(k) * kUnit * static_cast<double>(k),
                    [&](const Index& i) { return 0.5 * product(i); });
        Step step = step_of(op, {&a, &b, &c});
        step.epilogue.activation = {ActivationKind::relu};
        expect_near(run(step, {&a, &b, &c}), {m, n}, static_cast<double>(k) * kUnit * static_cast<double>(k),
                    [&](const Index& i) { return std::max(0.0, 0.5 * product(i) + 2 * broadcast_at(c, i)); });
      }
    }
  }
}

TEST(CpuMatMul, AsNumpyDoes) {
  const std::pair<Shape, Shape> pairs[] = {
      {{5, 7}, {7, 3}},
      {{7}, {7, 3}},
      {{5, 7}, {7}},
      {{7}, {7}},
      {{2, 5, 7}, {7, 3}},
      {{2, 5, 7}, {2, 7, 3}},
      {{1, 5, 7}, {2, 7, 3}},
      {{4, 1, 5, 7}, {3, 7, 2}},
      {{5, 7}, {4, 7, 2}},
      {{2, 5, 7}, {7}},
      {{7}, {2, 7, 3}},
      {{3, 2, 5, 7}, {3, 1, 7, 2}},
      {{1, 2, 5, 7}, {4, 1, 7, 2}},
      {{2, 3, 4, 7}, {1, 1, 7, 6}},
      {{2, 1, 4, 7}, {1, 3, 7, 6}},
      {{6, 1, 1, 4}, {4, 2}},
  };
  for (const auto& [first, second] : pairs) {
    SCOPED_TRACE(to_text(first) + " by " + to_text(second));
    const Tensor a = random(first, 15), b = random(second, 16);
    const Shape shape = output_shape(MatMulOp{}, std::vector<Shape>{first, second});
    const int64_t k = first.back();
    expect_near(run(MatMulOp{}, {&a, &b}), shape, static_cast<double>(k * k) * kUnit, [&](const Index& index) {
      // The result's index, with the dimensions restored that a vector operand removes.
      Index full = index;
      if (second.size() == 1) full.push_back(0);
      if (first.size() == 1) full.insert(full.end() - 1, 0);
      double sum = 0;
      for (int64_t j = 0; j < k; ++j) {
        Index of_a = full, of_b = full;
        of_a.back() = j;
        of_b[of_b.size() - 2] = j;
        if (first.size() == 1) of_a = {j};
        if (second.size() == 1) of_b = {j};
        sum += broadcast_at(a, of_a) * broadcast_at(b, of_b);
      }
      return sum;
    });
  }
}

TEST(CpuConcat, AlongEachAxis) {
  for (const int64_t axis : {0, 1, 2, -1, -3}) {
    const size_t place = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
    Shape shapes[] = {{2, 3, 4}, {2, 3, 4}, {2, 3, 4}};
    shapes[0][place] = 1, shapes[2][place] = 5;
    const Tensor parts[] = {random(shapes[0], 17), random(shapes[1], 18), random(shapes[2], 19)};
    const Step step = step_of(ConcatOp{axis}, {&parts[0], &parts[1], &parts[2]});
    expect_near(run(step, {&parts[0], &parts[1], &parts[2]}), step.outputs[0].shape, 0, [&](Index index) {
      size_t part = 0;
      while (index[place] >= shapes[part][place]) index[place] -= shapes[part++][place];
      return at(parts[part], index);
    });
  }
}

TEST(CpuTranspose, EveryPermutation) {
  const Tensor x = random({2, 3, 4, 5}, 20);
  std::vector<int64_t> permutation{0, 1, 2, 3};
  do {
    const Step step = step_of(TransposeOp{permutation}, {&x});
    expect_near(run(step, {&x}), step.outputs[0].shape, 0, [&](const Index& index) {
      Index from(4);
      for (size_t i = 0; i < 4; ++i) from[static_cast<size_t>(permutation[i])] = index[i];
      return at(x, from);
    });
  } while (std::next_permutation(permutation.begin(), permutation.end()));
  expect_near(run(TransposeOp{}, {&x}), {5, 4, 3, 2}, 0, [&](const Index& i) {
    return at(x, {i[3], i[2], i[1], i[0]});
  });
  const Tensor row = random({9}, 21);
  expect_near(run(TransposeOp{}, {&row}), {9}, 0, [&](const Index& i) { return at(row, i); });
}

TEST(CpuSoftmax, AlongEachAxisAndFlattened) {
  const Tensor x = random({3, 4, 5}, 22);
  for (const bool flattened : {false, true}) {
    for (const int64_t axis : {0, 1, 2, -1}) {
      const size_t place = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
      const auto sum = [&](Index index) {
        double total = 0;
        for_each(x.shape(), [&](const Index& other, size_t) {
          bool same_line = true;
          for (size_t i = 0; i < 3; ++i) same_line &= i == place || (flattened && i > place) || other[i] == index[i];
          if (same_line) total += std::exp(at(x, other));
        });
        return total;
      };
      expect_near(run(SoftmaxOp{axis, false, flattened}, {&x}), x.shape(), 8 * kUnit,
                  [&](const Index& index) { return std::exp(at(x, index)) / sum(index); });
      expect_near(run(SoftmaxOp{axis, true, flattened}, {&x}), x.shape(), 8 * kUnit,
                  [&](const Index& index) { return at(x, index) - std::log(sum(index)); });
    }
  }
}

TEST(CpuSoftmax, LargeScoresNeitherOverflowNorVanish) {
  const Tensor x = filled({2, 3}, {1e30f, 1e30f, -1e30f, -3e38f, -3e38f, -3e38f});
  const float expected[] = {0.5f, 0.5f, 0, 1 / 3.0f, 1 / 3.0f, 1 / 3.0f};
  expect_near(run(SoftmaxOp{}, {&x}), {2, 3}, kUnit,
              [&](const Index& i) { return expected[static_cast<size_t>(i[0] * 3 + i[1])]; });
}

TEST(CpuSoftmax, NanTakesItsLineAndNoOther) {
  for (size_t place = 0; place < 3; ++place) {
    Tensor x = filled({2, 3}, {1, 2, 3, 1, 1, 1});
    x.values<float>()[place] = kNan;
    expect_near(run(SoftmaxOp{}, {&x}), {2, 3}, kUnit,
                [](const Index& i) { return i[0] == 0 ? double(kNan) : 1 / 3.0; });
  }
}

/// Pads one dimension by building the list of indices, unlike the kernel.
std::vector<int64_t> padded_places(PadMode mode, int64_t size, int64_t before, int64_t after) {
  std::vector<int64_t> places;
  for (int64_t i = std::max<int64_t>(-before, 0); i < size - std::max<int64_t>(-after, 0); ++i) places.push_back(i);
  const std::vector<int64_t> kept = places;
  const auto wrapped = [&](int64_t at) {
    while (at < 0) at += std::ssize(kept);
    return kept[static_cast<size_t>(at % std::ssize(kept))];
  };
  for (int64_t i = 1; i <= before; ++i) {
    places.insert(places.begin(), mode == PadMode::constant ? -1
                                  : mode == PadMode::edge   ? kept.front()
                                  : mode == PadMode::wrap   ? wrapped(-i)
                                                            : kept[static_cast<size_t>(i)]);
  }
  for (int64_t i = 1; i <= after; ++i) {
    places.push_back(mode == PadMode::constant ? -1
                     : mode == PadMode::edge   ? kept.back()
                     : mode == PadMode::wrap   ? wrapped(std::ssize(kept) - 1 + i)
                                               : kept[kept.size() - 1 - static_cast<size_t>(i)]);
  }
  return places;
}

TEST(CpuPad, RandomPadsOfEachMode) {
  Rng rng(23);
  int padded = 0;
  for (int round = 0; round < 400; ++round) {
    const auto mode = static_cast<PadMode>(rng.integer(0, 3));
    const size_t rank = static_cast<size_t>(rng.integer(1, 4));
    Shape shape;
    PadOp op{mode, std::vector<int64_t>(2 * rank), 0.5f};
    for (size_t i = 0; i < rank; ++i) shape.push_back(rng.integer(1, 6));
    for (int64_t& pad : op.pads) pad = rng.integer(-2, 3);
    const Tensor x = random(shape, rng.next());
    Shape out;
    try {
      out = output_shape(op, std::vector<Shape>{shape});
    } catch (const Error&) {
      continue;
    }
    ++padded;
    std::vector<std::vector<int64_t>> places;
    for (size_t i = 0; i < rank; ++i) places.push_back(padded_places(mode, shape[i], op.pads[i], op.pads[rank + i]));
    expect_near(run(op, {&x}), out, 0, [&](const Index& index) {
      Index from(rank);
      for (size_t i = 0; i < rank; ++i) from[i] = places[i][static_cast<size_t>(index[i])];
      const bool outside = std::find(from.begin(), from.end(), -1) != from.end();
      return outside ? 0.5 : at(x, from);
    });
  }
  EXPECT_GT(padded, 100);
}

TEST(CpuRound, ToBinary16) {
  const Tensor x = filled({6}, {0.1f, 65520, -65519, 1e-8f, kNan, 1 + 0x1p-11f});
  const double expected[] = {half_to_float(0x2e66), kInfinity, -65504, 0, kNan, 1};
  expect_near(run(RoundOp{}, {&x}), {6}, 0, [&](const Index& i) { return expected[static_cast<size_t>(i[0])]; });
}

TEST(OpKernels, RefuseOtherOperatorsInWords) {
  const Tensor x = random({2, 2}, 24);
  const Step step = step_of(SoftmaxOp{}, {&x});
  int refusing = 0;
  for (const Kernel& kernel : kernels()) {
    if (kernel.info.device != DeviceKind::cpu) continue;
    const Refusal refusal = kernel.refuses(step, {});
    EXPECT_EQ(refusal.has_value(), kernel.info.name != "cpu.softmax") << kernel.info.name;
    refusing += refusal.has_value() && !refusal->empty();
  }
  EXPECT_GE(refusing, 12);
}

TEST(OpKernels, AStepThatNoneTakesIsUnavailable) {
  const Step step{.op = FlattenOp{}, .inputs = {{{2, 2}}}, .outputs = {{{2, 2}}}};
  EXPECT_EQ(find_kernel(step, {.kind = DeviceKind::cpu}), nullptr);
  EXPECT_THROW(choose_kernel(step, {.kind = DeviceKind::cpu}), Error);
}

}  // namespace
}  // namespace convlab
