// Tests kernels on uint8 nhwc4 uint8 against the reference definitions (convlab/model/op.h), with
// every instruction set and any number of threads. Sums are exact, so quantized values are equal. Only after an
// addition or a mean of real numbers may a quantized value be off by one, if the number is halfway between two.

#include <fmt/format.h>

#include <cmath>

#include "convlab/conv/problem.h"
#include "convlab/kernels/cpu/nhwc_int8/byte_unit.h"
#include "tests/kernels/byte_checks.h"
#include "tests/support/kernels_simd_targets.h"

namespace convlab {
namespace {

/// Rounds half to even, adds the zero point, saturates.
template <class Rule>
double level(double value, const Rule& rule) {
  return std::clamp<double>(std::nearbyint(value) + rule.zero, rule.low, rule.high);
}

/// Whether a quantized value is that of a number, or of one so close that fp32 rounding decides between them.
template <class Rule>
bool is_level(double got, double value, const Rule& rule) {
  const double off = 1e-5 * std::max(1.0, std::abs(value));
  return got == level(value, rule) || got == level(value - off, rule) || got == level(value + off, rule);
}

const char* const kProblems[] = {
    "n2_c3h9w11_k5r3s3_p1",            // first layer: padded channels
    "n1_c3h20w21_k33r7s7_p3_st2",      // one output channel more than a panel
    "n3_c4h1w1_k1r1s1",                // dense layer
    "n5_c67h1w1_k70r1s1",              //
    "n2_c16h7w7_k64r1s1",              // joined images
    "n1_c20h15w13_k40r1s1_st2",        //
    "n2_c13h6w10_k17r1s1_p1",          //
    "n2_c12h8w9_k24r3s3_p2_d2",        //
    "n1_c8h12w10_k9r2s3_p1_st2",       //
    "n1_c6h5w40_k48r1s5_p2",           //
    "n2_c24h7w6_k18r3s3_p1_g3",        // groups of 8 input and 6 output channels
    "n1_c16h9w9_k80r3s3_d2_g2",        // not copied
    "n1_c8h6w6_k8r1s1_g2",             //
    "n2_c64h14w14_k40r3s3_p1",         // several blocks of pixels
    "n2_c7h9w10_k7r3s3_p1_g7",         // depthwise
    "n1_c16h8w8_k16r3s3_p1_st2_g16",   //
    "n2_c70h6w19_k70r3s3_p1_g70",      // a full block and a partial one
    "n1_c128h5w5_k128r5s5_p2_g128",    //
    "n1_c33h12w11_k33r3s3_p2_d2_g33",  //
    "n1_c20h9w30_k20r7s2_p3_st3_g20",  //
    "n1_c9h7w1_k9r3s3_p1_g9",          // narrower than the filter
    "n1_c36h1w1_k36r1s1_g36",          //
};

const char* const kKernels[] = {"cpu.nhwc_int8_conv", "cpu.nhwc_int8_conv_dots", "cpu.nhwc_int8_conv_amx",
                                "cpu.nhwc_int8_depthwise", "cpu.nhwc_int8_depthwise_dots"};

struct Conv {
  ByteConvOp op;
  ConvProblem problem;
  Tensor x, w, weights, factors, bias, added;  ///< weights: w as int8

  std::vector<const Tensor*> inputs() const {
    std::vector<const Tensor*> all{&x, &weights, &factors, &bias};
    if (op.adds) all.push_back(&added);
    return all;
  }
  Step step() const { return byte_step(op, inputs(), 1, op.adds); }
};

/// Returns random quantized values and weights. Factors differ by output channel, so that some sums saturate and others
/// do not.
Conv conv_of(const char* text, uint64_t seed, bool adds) {
  Rng rng(seed);
  const ConvProblem p = parse_problem(text);
  Conv conv{.problem = p};
  conv.op.conv = {.stride_h = p.stride_h,
                  .stride_w = p.stride_w,
                  .dilation_h = p.dilation_h,
                  .dilation_w = p.dilation_w,
                  .pad_top = p.pad_top,
                  .pad_left = p.pad_left,
                  .pad_bottom = p.pad_bottom,
                  .pad_right = p.pad_right,
                  .groups = p.groups};
  conv.op.x_zero = static_cast<int>(rng.integer(0, 255));
  conv.op.zero = static_cast<int>(rng.integer(0, 255));
  if (rng.integer(0, 1) == 1) {  // fused activation
    conv.op.low = static_cast<int>(rng.integer(0, 120));
    conv.op.high = static_cast<int>(rng.integer(121, 255));
  }
  conv.x = whole(p.input_shape(), 0, 255, rng.next());
  conv.w = whole(p.filter_shape(), -128, 127, rng.next());
  conv.weights = converted(conv.w, ElementType::i8);
  conv.bias = whole({p.k}, -20000, 20000, rng.next());
  conv.factors = random({p.k}, rng.next());
  const float size = 1 / std::sqrt(static_cast<float>(p.channels_per_group() * p.r * p.s));
  for (float& factor : conv.factors.values<float>()) factor = std::abs(factor) * size * 0.05f + 1e-6f;
  conv.op.adds = adds;
  conv.op.sum = {.a_factor = rng.uniform(0.1f, 2),
                 .b_factor = rng.uniform(0.1f, 2),
                 .a_zero = conv.op.zero,
                 .b_zero = static_cast<int>(rng.integer(0, 255)),
                 .zero = static_cast<int>(rng.integer(0, 255))};
  conv.added = whole(p.output_shape(), 0, 255, rng.next());
  return conv;
}

bool has_avx3() { return (hwy::SupportedTargets() & HWY_AVX3) != 0; }

/// Returns why the kernel does not support the step, except for missing AMX: its tiles are emulated.
Refusal refuses(const Kernel& kernel, const Step& step) {
  const Refusal refusal = kernel.refuses(step, {});
  const bool imitated = has_avx3() && refusal == refuse_without(ByteUnit::tiles);
  return imitated ? std::nullopt : refusal;
}

/// Returns the sums, scaled to quantized units but not rounded, as fp32.
Tensor numbers_of(const Conv& conv) {
  const ConvProblem& p = conv.problem;
  Tensor numbers(ElementType::f32, p.output_shape());
  for_each(p.output_shape(), [&](const Index& y, size_t flat) {
    auto sum = static_cast<int64_t>(conv.bias.values<float>()[static_cast<size_t>(y[1])]);
    const int64_t group = y[1] / p.maps_per_group(), channels = p.channels_per_group();
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t r = 0; r < p.r; ++r) {
        for (int64_t s = 0; s < p.s; ++s) {
          const int64_t h = y[2] * p.stride_h + r * p.dilation_h - p.pad_top;
          const int64_t w = y[3] * p.stride_w + s * p.dilation_w - p.pad_left;
          if (h < 0 || w < 0 || h >= p.h || w >= p.w) continue;
          const double pixel = at(conv.x, {y[0], group * channels + c, h, w}) - conv.op.x_zero;
          sum += static_cast<int64_t>(pixel * at(conv.w, {y[1], c, r, s}));
        }
      }
    }
    numbers.values<float>()[flat] = static_cast<float>(sum) * conv.factors.values<float>()[static_cast<size_t>(y[1])];
  });
  return numbers;
}

void expect_levels(const Conv& conv, const Tensor& numbers, const Tensor& got) {
  const ByteConvOp& op = conv.op;
  for_each(got.shape(), [&](const Index&, size_t flat) {
    const double value = got.values<float>()[flat], own = level(numbers.values<float>()[flat], op);
    if (!op.adds) {
      ASSERT_EQ(value, own) << "at " << flat;
      return;
    }
    const double a = (own - op.sum.a_zero) * op.sum.a_factor;
    const double sum = a + (conv.added.values<float>()[flat] - op.sum.b_zero) * op.sum.b_factor;
    ASSERT_TRUE(is_level(value, sum, op.sum)) << "at " << flat << ": " << value << " of " << sum;
  });
}

class ByteConvolution : public testing::TestWithParam<std::tuple<int64_t, const char*>> {
 protected:
  const char* problem() const { return std::get<1>(GetParam()); }

  /// Expects the reference's quantized values from every kernel that supports the step, with any number of threads.
  static void expect_as_defined(const Conv& conv) {
    const Step step = conv.step();
    const Tensor numbers = numbers_of(conv);
    int kernels = 0;
    for (const char* name : kKernels) {
      Kernel kernel = op_kernel(name);
      if (refuses(kernel, step)) continue;
      kernel.refuses = [](const Step&, const DeviceCaps&) { return Refusal(); };
      ++kernels;
      for (const int threads : {1, 3}) {
        SCOPED_TRACE(fmt::format("{} with {} threads", name, threads));
        expect_levels(conv, numbers, run_on_bytes(kernel, step, conv.inputs(), threads));
      }
    }
    const bool depthwise = conv.problem.groups > 1 && conv.problem.channels_per_group() == 1;
    const int units = 1 + (has_unit(ByteUnit::dots) ? 1 : 0);
    const bool tiles = !depthwise && (has_avx3() || has_unit(ByteUnit::tiles));
    EXPECT_EQ(kernels, depthwise && conv.op.adds ? 0 : units + (tiles ? 1 : 0));
  }

 private:
  ForcedTarget forced_{std::get<0>(GetParam())};
};

INSTANTIATE_TEST_SUITE_P(Cpu, ByteConvolution,
                         testing::Combine(testing::ValuesIn(simd_targets()), testing::ValuesIn(kProblems)),
                         [](const auto& info) {
                           return fmt::format("{}_{}", std::get<1>(info.param),
                                              hwy::TargetName(std::get<0>(info.param)));
                         });

TEST_P(ByteConvolution, GivesLevels) {
  for (uint64_t seed = 1; seed <= 2; ++seed) expect_as_defined(conv_of(problem(), seed, false));
}

TEST_P(ByteConvolution, AddsLevels) {
  for (uint64_t seed = 1; seed <= 2; ++seed) expect_as_defined(conv_of(problem(), seed, true));
}

TEST_P(ByteConvolution, LargestSumsAreExact) {
  // Pairs and quadruples of the largest products must not saturate.
  for (const float weight : {-128.0f, 127.0f}) {
    Conv conv = conv_of(problem(), 4, false);
    std::ranges::fill(conv.x.values<float>(), 255.0f);
    std::ranges::fill(conv.w.values<float>(), weight);
    conv.weights = converted(conv.w, ElementType::i8);
    conv.op.x_zero = weight > 0 ? 255 : 0;
    conv.op.low = 0, conv.op.high = 255, conv.op.zero = weight > 0 ? 3 : 250;
    for (float& factor : conv.factors.values<float>()) factor *= 0.2f;
    expect_as_defined(conv);
  }
}

TEST_P(ByteConvolution, SmallWeightsAreSummedInSixteenBits) {
  for (const int64_t most : {10, 30, 64}) {
    Conv conv = conv_of(problem(), 5, false);
    conv.w = whole(conv.w.shape(), -most, most, 6);
    conv.weights = converted(conv.w, ElementType::i8);
    for (float& level : conv.x.values<float>()) level = std::min(255.0f, 2 * level);
    for (float& factor : conv.factors.values<float>()) factor *= 100 / static_cast<float>(most);
    expect_as_defined(conv);
  }
}

class Bytes : public testing::TestWithParam<int64_t> {
  ForcedTarget forced_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Cpu, Bytes, testing::ValuesIn(simd_targets()),
                         [](const auto& info) { return hwy::TargetName(info.param); });

const Shape kShapes[] = {{2, 3, 5, 7}, {1, 4, 1, 1}, {1, 70, 3, 3}, {3, 1, 9, 2}, {1, 300, 2, 1}, {1, 17, 65, 65}};

/// Returns the result and expects that it does not depend on the number of threads.
Tensor result_of(const char* kernel, const Step& step, const std::vector<const Tensor*>& inputs) {
  Tensor result = run_on_bytes(op_kernel(kernel), step, inputs, 1);
  for (const int threads : {2, 3}) {
    const Tensor again = run_on_bytes(op_kernel(kernel), step, inputs, threads);
    EXPECT_EQ(std::memcmp(result.raw(), again.raw(), result.bytes()), 0) << threads << " threads";
  }
  return result;
}

TEST_P(Bytes, Additions) {
  const ByteAddOp ops[] = {{.a_factor = 0.7f, .b_factor = 0.31f, .a_zero = 128, .b_zero = 3, .zero = 77},
                           {.a_factor = 2, .b_factor = 0.5f, .a_zero = 255, .b_zero = 0, .zero = 0, .low = 9},
                           {.a_factor = 1e6f, .b_factor = 1e6f, .zero = 128, .low = 128, .high = 200}};
  for (const Shape& shape : kShapes) {
    for (const ByteAddOp& op : ops) {
      const Tensor a = whole(shape, 0, 255, 1), b = whole(shape, 0, 255, 2);
      const Tensor y = result_of("cpu.nhwc_int8_add", byte_step(op, {&a, &b}, 2), {&a, &b});
      for_each(shape, [&](const Index& i, size_t) {
        const double value = (at(a, i) - op.a_zero) * op.a_factor + (at(b, i) - op.b_zero) * op.b_factor;
        ASSERT_TRUE(is_level(at(y, i), value, op)) << at(y, i) << " of " << value;
      });
    }
  }
}

TEST_P(Bytes, Means) {
  for (const Shape& shape : kShapes) {
    const ByteMeanOp op{.factor = 1.7f, .x_zero = 100, .zero = 20, .low = 5};
    const Tensor x = whole(shape, 0, 255, 1);
    const Tensor y = result_of("cpu.nhwc_int8_mean", byte_step(op, {&x}, 1), {&x});
    for_each(y.shape(), [&](const Index& i, size_t) {
      double sum = 0;
      for_each({shape[2], shape[3]}, [&](const Index& pixel, size_t) {
        sum += at(x, {i[0], i[1], pixel[0], pixel[1]}) - op.x_zero;
      });
      const double value = sum / static_cast<double>(shape[2] * shape[3]) * op.factor;
      ASSERT_TRUE(is_level(at(y, i), value, op)) << at(y, i) << " of " << value;
    });
  }
}

TEST_P(Bytes, LargestLevels) {
  const Pool pools[] = {{.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2},
                        {.kernel_h = 3, .kernel_w = 3, .stride_h = 2, .pad_top = 1, .pad_left = 1, .pad_bottom = 1},
                        {.kernel_h = 2, .kernel_w = 3, .dilation_w = 2, .pad_left = 2, .pad_right = 1}};
  for (const Shape& shape : kShapes) {
    for (const Pool& pool : pools) {
      if (shape[2] < 3 || shape[3] < 3) continue;
      const Tensor x = whole(shape, 0, 255, 1);
      const Tensor y = result_of("cpu.nhwc_int8_max_pool", byte_step(PoolOp{pool}, {&x}, 1), {&x});
      for_each(y.shape(), [&](const Index& i, size_t) {
        double most = 0;
        for_each({pool.kernel_h, pool.kernel_w}, [&](const Index& tap, size_t) {
          const int64_t h = i[2] * pool.stride_h - pool.pad_top + tap[0] * pool.dilation_h;
          const int64_t w = i[3] * pool.stride_w - pool.pad_left + tap[1] * pool.dilation_w;
          if (h >= 0 && w >= 0 && h < shape[2] && w < shape[3]) most = std::max(most, at(x, {i[0], i[1], h, w}));
        });
        ASSERT_EQ(at(y, i), most);
      });
    }
  }
}

TEST_P(Bytes, JoinedChannels) {
  const ByteConcatOp op{
      .parts = {{0.5f, 10}, {0.25f, 3}, {1.75f, 128}}, .scale = 0.25f, .zero = 3, .low = 0, .high = 255};
  for (const Shape& shape : kShapes) {
    Shape second = shape, third = shape;
    second[1] = 5, third[1] = 8;
    const Tensor parts[] = {whole(shape, 0, 255, 1), whole(second, 0, 255, 2), whole(third, 0, 255, 3)};
    const std::vector<const Tensor*> inputs{&parts[0], &parts[1], &parts[2]};
    const Tensor y = result_of("cpu.nhwc_int8_concat", byte_step(op, inputs, 3), inputs);
    for_each(y.shape(), [&](const Index& i, size_t) {
      Index from = i;
      size_t part = 0;
      for (; from[1] >= parts[part].shape()[1]; ++part) from[1] -= parts[part].shape()[1];
      const double value = (at(parts[part], from) - op.parts[part].zero) * op.parts[part].scale / op.scale;
      ASSERT_EQ(at(y, i), level(value, op));
    });
  }
}

TEST_P(Bytes, FromPlainNumbersAndBack) {
  for (const Shape& shape : {Shape{2, 3, 5, 7}, Shape{1, 1, 70, 70}, Shape{2, 2, 3, 3}, Shape{1, 4, 65, 64},
                             Shape{3, 9, 4, 5}, Shape{2, 10}}) {
    SCOPED_TRACE(to_text(shape));
    Tensor x = random(shape, 1);
    for (float& each : x.values<float>()) each *= 200;
    x.values<float>()[0] = kInfinity, x.values<float>()[1] = -kInfinity, x.values<float>()[2] = 1.5f;
    const Tensor scale = filled({}, {1}), fine = filled({}, {0.37f}), zero = filled({}, {130});
    for (const Tensor* by : {&scale, &fine}) {
      const std::vector<const Tensor*> inputs{&x, by, &zero};
      Step step = byte_step(QuantizeOp{}, inputs, 1);
      step.inputs[0].format = kNchw;
      const Tensor levels = result_of("cpu.nhwc_int8_reorder", step, inputs);
      const Tensor expected = run(QuantizeOp{}, inputs);
      EXPECT_EQ(std::memcmp(levels.raw(), expected.raw(), levels.bytes()), 0);
      const std::vector<const Tensor*> back{&levels, by, &zero};
      step = byte_step(DequantizeOp{}, back, 1);
      step.outputs[0].format = kNchw;
      const Tensor numbers = result_of("cpu.nhwc_int8_reorder", step, back);
      const Tensor wanted = run(DequantizeOp{}, back);
      EXPECT_EQ(std::memcmp(numbers.raw(), wanted.raw(), numbers.bytes()), 0);
    }
    const Tensor levels = whole(shape, 0, 255, 2);
    for (const bool to_bytes : {false, true}) {
      Step step = byte_step(ActivationOp{}, {&levels}, 1);
      (to_bytes ? step.inputs[0].format : step.outputs[0].format) = kNchw;
      const Tensor copy = result_of("cpu.nhwc_int8_reorder", step, {&levels});
      EXPECT_EQ(std::memcmp(copy.raw(), levels.raw(), copy.bytes()), 0);
    }
  }
}

TEST_P(Bytes, NoNumberIsTheLowestLevel) {
  for (const int64_t channels : {3, 5}) {
    Tensor x(ElementType::f32, {1, channels, 3, 9});
    std::ranges::fill(x.values<float>(), kNan);
    const Tensor scale = filled({}, {1}), zero = filled({}, {7});
    const std::vector<const Tensor*> inputs{&x, &scale, &zero};
    Step step = byte_step(QuantizeOp{}, inputs, 1);
    step.inputs[0].format = kNchw;
    const Tensor levels = result_of("cpu.nhwc_int8_reorder", step, inputs);
    for (const float each : levels.values<float>()) EXPECT_EQ(each, 0);
  }
}

TEST(ByteKernels, SayWhatTheyDoNotCompute) {
  const Conv odd = conv_of("n1_c6h4w4_k4r1s1_g2", 1, false);
  EXPECT_EQ(op_kernel("cpu.nhwc_int8_conv").refuses(odd.step(), {}),
            "input channels per group must be a multiple of 4");
  EXPECT_EQ(op_kernel("cpu.nhwc_int8_depthwise").refuses(odd.step(), {}),
            "only depthwise convolution with depth multiplier 1 is supported");
  Step plain = conv_of("n1_c4h4w4_k4r1s1", 1, false).step();
  plain.inputs[0].format = kNchw;
  for (const char* name : kKernels) {
    EXPECT_EQ(op_kernel(name).refuses(plain, {}), "input and output must be nhwc4 uint8") << name;
  }
  const Tensor x = whole({1, 4, 4, 4}, 0, 255, 1), scales = filled({4}, {1, 2, 3, 4});
  Step several = byte_step(QuantizeOp{}, {&x, &scales}, 1);
  several.inputs[0].format = kNchw;
  EXPECT_EQ(op_kernel("cpu.nhwc_int8_reorder").refuses(several, {}), "scale and zero point must be scalars");
}

}  // namespace
}  // namespace convlab
