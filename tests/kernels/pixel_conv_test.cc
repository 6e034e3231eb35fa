// Tests GPU depthwise convolutions in fp16 and fp32 nhwc, and 1x1
// convolutions without tensor cores, on the host (simt) against a reference in double: in dense arrays and in parts of
// joint ones, with filters that do and do not run down strips, images that fill no strip or band, and pixels and output
// channels that fill no tile.

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>

#include "convlab/kernels/registry.h"
#include "tests/kernels/op_checks.h"
#include "tests/kernels/pixel_checks.h"

namespace convlab {
namespace {

constexpr const char* kProblems[] = {
    "n3_c24h9w19_k24r3s3_p1_g24",
    "n2_c72h15w18_k72r3s3_p1_st2_g72",
    "n2_c40h15w18_k40r5s5_p2_g40",
    "n3_c8h23w17_k8r5s5_p2_st2_g8",
    "n1_c24h1w1_k24r3s3_p1_g24",
    "n2_c8h2w30_k8r5s5_p2_g8",
    "n1_c8h37w9_k8r3s3_p0x0x1x1_st2_g8",
    "n2_c16h6w7_k16r3s3_p4x3x5x2_g16",  // some windows are entirely in the padding
    "n1_c16h7w6_k16r5s5_p4_st2_g16",
    "n2_c8h9w9_k8r1s1_g8",
    "n1_c24h12w13_k24r7s7_p3_g24",
    "n1_c8h12w13_k8r3s3_p2_d2_g8",
    "n1_c8h11w16_k8r3s5_p1x2x1x2_st1x2_g8",
};

// The last five: more tiles than blocks; remainders of output channels; several blocks for the output channels of a
// pixel, and warps without any.
constexpr const char* kPointwiseProblems[] = {
    "n1_c8h1w1_k8r1s1",      "n2_c32h5w7_k16r1s1",  "n1_c32h9w13_k32r1s1", "n1_c24h5w7_k40r1s1",
    "n2_c16h13w11_k96r1s1",  "n1_c40h9w9_k240r1s1", "n1_c32h2w3_k8r1s1",   "n2_c24h24w23_k24r1s1",
    "n3_c24h17w19_k144r1s1", "n1_c56h3w3_k72r1s1",  "n1_c16h5w3_k104r1s1", "n1_c8h5w3_k552r1s1",
};

constexpr Activation kActivations[] = {{},
                                       {ActivationKind::relu},
                                       {ActivationKind::clip, 0, 0.5f},
                                       {ActivationKind::swish},
                                       {ActivationKind::hard_swish},
                                       {ActivationKind::sigmoid},
                                       {ActivationKind::tanh},
                                       {ActivationKind::leaky_relu, 0.25f}};

double activated(const Activation& activation, double value) {
  switch (activation.kind) {
    case ActivationKind::relu:
      return value < 0 ? 0 : value;
    case ActivationKind::clip:
      return std::isnan(value) ? value : std::clamp<double>(value, activation.alpha, activation.beta);
    case ActivationKind::swish:
      return value / (1 + std::exp(-value));
    case ActivationKind::hard_swish:
      return std::isnan(value) ? value : value * std::clamp(value + 3, 0.0, 6.0) / 6;
    case ActivationKind::sigmoid:
      return 1 / (1 + std::exp(-value));
    case ActivationKind::tanh:
      return std::tanh(value);
    case ActivationKind::leaky_relu:
      return value < 0 ? activation.alpha * value : value;
    default:
      return value;
  }
}

struct Inputs {
  Tensor x, w, bias, added;
};

double sum_of(const ConvProblem& problem, const Inputs& inputs, const Index& y) {
  const int64_t channels = problem.channels_per_group(), first = y[1] / problem.maps_per_group() * channels;
  double sum = 0;
  for (int64_t r = 0; r < problem.r; ++r) {
    for (int64_t s = 0; s < problem.s; ++s) {
      const int64_t h = y[2] * problem.stride_h + r * problem.dilation_h - problem.pad_top;
      const int64_t w = y[3] * problem.stride_w + s * problem.dilation_w - problem.pad_left;
      if (h < 0 || h >= problem.h || w < 0 || w >= problem.w) continue;
      for (int64_t c = 0; c < channels; ++c) {
        sum += at(inputs.x, {y[0], first + c, h, w}) * at(inputs.w, {y[1], c, r, s});
      }
    }
  }
  return sum;
}

class PixelConv : public PixelTest {
 protected:
  explicit PixelConv(std::string kernel) : kernel_(std::move(kernel)) {}

  const Kernel& kernel() const { return require_conv_kernel(kernel_, DeviceKind::simt); }

  Tensor convolve(ConvStep step, const Inputs& inputs, bool joint) {
    const Kernel& kernel = this->kernel();
    const DeviceCaps& caps = simt_->device().caps();
    EXPECT_EQ(kernel.refuses(step, caps), std::nullopt);
    const PixelArray x = array(inputs.x, joint), added = array(inputs.added, joint);
    const PixelArray y = array(step.output_shape(), joint);
    step.input_step = x.step(), step.added_step = added.step(), step.output_step = y.step();
    const Buffer w = simt_->copy_of(inputs.w), bias = simt_->copy_of(inputs.bias);
    const Buffer prepared = simt_->uninitialized(kernel.prepared_bytes(step, caps));
    ConvArgs args{.step = step,
                  .x = x.first(),
                  .w = static_cast<const float*>(w.data()),
                  .bias = step.epilogue.bias ? static_cast<const float*>(bias.data()) : nullptr,
                  .added = step.adds ? added.first() : nullptr,
                  .y = y.first(),
                  .prepared = prepared.data()};
    call(kernel.prepare, args, simt_->stream());
    args.w = nullptr;
    call(kernel.launch, args, simt_->stream());
    return y.images();
  }

  void expect_right(const ConvStep& step, const Inputs& inputs) {
    for (const bool joint : {false, true}) {
      SCOPED_TRACE(joint ? "joint" : "dense");
      const int64_t terms = step.problem.groups == 1 ? std::max<int64_t>(step.problem.c, 32) : 32;  // roundings add up
      expect_close(convolve(step, inputs, joint), step.output_shape(),
                   of_floats() ? static_cast<double>(terms) / 32 * unit() : 0x1.2p-11, [&](const Index& y) {
                     double sum = sum_of(step.problem, inputs, y);
                     if (step.epilogue.bias) sum += at(inputs.bias, {y[1]});
                     if (step.adds) sum += at(inputs.added, y);
                     return activated(step.epilogue.activation, sum);
                   });
    }
  }

  static Inputs inputs_of(const ConvProblem& problem) {
    return {rounded(random(problem.input_shape(), 1)), random(problem.filter_shape(), 2), random({problem.k}, 3),
            rounded(random(problem.output_shape(), 4))};
  }

  static ConvStep step_of(const ConvProblem& problem) {
    return {.problem = problem, .input_format = GetParam(), .output_format = GetParam()};
  }

  void expect_right_bare_and_ended(const char* text) {
    SCOPED_TRACE(text);
    const ConvProblem problem = parse_problem(text);
    const Inputs inputs = inputs_of(problem);
    ConvStep step = step_of(problem);
    expect_right(step, inputs);
    step.epilogue.bias = true;
    step.adds = true;
    expect_right(step, inputs);
  }

  void expect_right_activations(const char* text) {
    const ConvProblem problem = parse_problem(text);
    const Inputs inputs = inputs_of(problem);
    for (const Activation& activation : kActivations) {
      SCOPED_TRACE(fmt::format("{} {}", text, to_text(activation)));
      ConvStep step = step_of(problem);
      step.epilogue = {.bias = true, .activation = activation};
      expect_right(step, inputs);
    }
  }

  void expect_nan_stays(const char* text, std::initializer_list<size_t> places) {
    SCOPED_TRACE(text);
    const ConvProblem problem = parse_problem(text);
    Inputs inputs = inputs_of(problem);
    for (const size_t at : places) inputs.x.values<float>()[at] = kNan;
    ConvStep step = step_of(problem);
    step.epilogue.activation = {ActivationKind::clip, 0, 6};
    expect_right(step, inputs);
    step.epilogue.activation = {ActivationKind::swish};
    expect_right(step, inputs);
  }

  void expect_same_image_by_image(const char* text) {
    SCOPED_TRACE(text);
    ConvProblem problem = parse_problem(text);
    const Inputs inputs = inputs_of(problem);
    const Tensor all = convolve(step_of(problem), inputs, false);
    const int64_t images = std::exchange(problem.n, 1);
    const auto image_of = [](const Tensor& batch, int64_t n) {
      Shape shape = batch.shape();
      const auto size = static_cast<size_t>(element_count(shape) / shape[0]);
      shape[0] = 1;
      return Tensor::of<float>(shape, batch.values<float>().subspan(static_cast<size_t>(n) * size, size));
    };
    for (int64_t n = 0; n < images; ++n) {
      const Inputs own{image_of(inputs.x, n), inputs.w.clone(), inputs.bias.clone(), image_of(inputs.added, n)};
      const Tensor got = convolve(step_of(problem), own, false), expected = image_of(all, n);
      EXPECT_EQ(std::memcmp(got.raw(), expected.raw(), got.bytes()), 0);
    }
  }

 private:
  std::string kernel_;
};

class PixelDepthwise : public PixelConv {
 protected:
  PixelDepthwise() : PixelConv(named("cuda.nhwc_depthwise")) {}
};

class PixelPointwise : public PixelConv {
 protected:
  PixelPointwise() : PixelConv("cuda.nhwc_pointwise_fp32") {}
};

INSTANTIATE_TEST_SUITE_P(Layouts, PixelDepthwise, kPixelFormats, format_in_name);
INSTANTIATE_TEST_SUITE_P(Layouts, PixelPointwise, testing::Values(kNhwc), format_in_name);

TEST_P(PixelDepthwise, IsRight) {
  for (const char* text : kProblems) expect_right_bare_and_ended(text);
}

TEST_P(PixelPointwise, IsRight) {
  for (const char* text : kPointwiseProblems) expect_right_bare_and_ended(text);
}

TEST_P(PixelDepthwise, AppliesActivations) {
  for (const char* text : {"n1_c24h9w10_k24r3s3_p1_g24", "n1_c8h9w10_k8r5s5_p2_st2_g8", "n1_c8h5w4_k8r2s2_g8"}) {
    expect_right_activations(text);
  }
}

TEST_P(PixelPointwise, AppliesActivations) {
  for (const char* text : {"n1_c16h5w7_k16r1s1", "n1_c16h5w7_k48r1s1", "n1_c16h5w7_k80r1s1"}) {
    expect_right_activations(text);
  }
}

TEST_P(PixelDepthwise, SpreadsNanToItsReceptiveField) {
  for (const char* text : {"n2_c8h18w17_k8r3s3_p1_g8", "n2_c8h18w17_k8r3s3_p1_st2_g8", "n2_c8h18w17_k8r5s5_p2_g8",
                           "n2_c8h18w17_k8r5s5_p2_st2_g8", "n2_c8h18w17_k8r7s7_p3_g8"}) {
    expect_nan_stays(text, {0u, 20u, 17u * 18u + 5u, 17u * 18u * 8u - 1u, 17u * 18u * 16u - 1u});
  }
}

TEST_P(PixelPointwise, SpreadsNanToItsPixel) {
  for (const char* text : {"n2_c24h9w7_k8r1s1", "n2_c24h9w7_k40r1s1", "n2_c24h9w7_k144r1s1"}) {
    expect_nan_stays(text, {0u, 20u, 9u * 7u + 5u, 9u * 7u * 24u - 1u, 9u * 7u * 48u - 1u});
  }
}

TEST_P(PixelDepthwise, GivesTheSameBitsImageByImage) {  // although a single image is partitioned differently
  expect_same_image_by_image("n3_c24h29w31_k24r3s3_p1_g24");
}

TEST_P(PixelPointwise, GivesTheSameBitsImageByImage) {
  for (const char* text : {"n3_c32h9w11_k24r1s1", "n3_c24h9w11_k96r1s1"}) expect_same_image_by_image(text);
}

TEST_P(PixelPointwise, RefusesWhatPaysOnTensorCoresAndOtherConvolutions) {
  const DeviceCaps& caps = simt_->device().caps();
  for (const char* text : {"n1_c64h8w8_k80r1s1", "n1_c96h8w8_k24r1s1", "n1_c16h8w8_k32r1s1_st2",
                           "n1_c16h8w8_k32r1s1_p1", "n1_c16h8w8_k32r1s1_p1x0x0x0_st2x1", "n1_c16h8w8_k32r3s3_p1",
                           "n1_c16h8w8_k32r1s1_g2", "n1_c16h8w8_k12r1s1", "n1_c100000h1w1_k8r1s1"}) {
    EXPECT_TRUE(kernel().refuses(step_of(parse_problem(text)), caps)) << text;
  }
  ConvStep step = step_of(parse_problem("n1_c64h8w8_k72r1s1"));
  EXPECT_EQ(kernel().refuses(step, caps), std::nullopt);
  step.output_format = kNchw;
  EXPECT_TRUE(kernel().refuses(step, caps));
}

}  // namespace
}  // namespace convlab
