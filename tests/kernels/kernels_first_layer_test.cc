// Tests kernels for first layers: fused epilogues in both output layouts, every partition of the work, and refusals.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "convlab/base/half.h"
#include "convlab/base/rng.h"
#include "convlab/device/device.h"
#include "convlab/device/devices.h"
#include "convlab/kernels/registry.h"
#include "convlab/verify/oracle.h"

namespace convlab {
namespace {

constexpr Pool kMax2x2{.kind = PoolKind::max, .kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2};

ConvStep pooled_step(const char* problem, Format input, Activation activation, Format output_format = kNchw) {
  return {.problem = parse_problem(problem),
          .epilogue = {.bias = true, .pool = kMax2x2, .activation = activation},
          .input_format = input,
          .output_format = output_format};
}

/// A step's arrays on the host, with random values, and a simt device without a GPU's limits.
class FirstLayer : public testing::Test {
 protected:
  void SetUp() override {
    if (find_kernel("cuda.first_layer_fp16", DeviceKind::simt) == nullptr) GTEST_SKIP() << "a build without simt";
    device_ = open_device("simt", {});
    stream_ = device_->make_stream();
  }

  void fill(const ConvStep& step) {
    Rng rng(7);
    x_ = Tensor(step.input_format.type, step.problem.input_shape());
    w_ = Tensor(ElementType::f32, step.problem.filter_shape());
    bias_ = Tensor(ElementType::f32, {step.problem.k});
    const bool bytes = step.input_format == kRawPixels;
    if (bytes) {
      for (uint8_t& pixel : x_.values<uint8_t>()) pixel = static_cast<uint8_t>(rng.integer(0, 255));
    } else {
      for (float& pixel : x_.values<float>()) pixel = rng.uniform(-1, 1);
    }
    for (float& weight : w_.values<float>()) weight = rng.uniform(-1, 1) * (bytes ? 0.002f : 0.3f);
    for (float& value : bias_.values<float>()) value = rng.uniform(-0.5f, 0.5f);
  }

  /// Returns the output's bytes, which were 0xee before.
  std::vector<uint8_t> launch(const char* name, const ConvStep& step, std::vector<int> tuning = {}) {
    const Kernel& kernel = require_conv_kernel(name, DeviceKind::simt);
    EXPECT_EQ(kernel.refuses(step, device_->caps()), std::nullopt);
    std::vector<uint8_t> output(static_cast<size_t>(byte_count(step.output_shape(), step.output_format)));
    const Buffer x = device_->allocate(x_.bytes()), w = device_->allocate(w_.bytes());
    const Buffer bias = device_->allocate(bias_.bytes()), y = device_->allocate(output.size());
    stream_->upload(x.data(), x_.raw(), x_.bytes());
    stream_->upload(w.data(), w_.raw(), w_.bytes());
    stream_->upload(bias.data(), bias_.raw(), bias_.bytes());
    stream_->fill(y.data(), 0xee, output.size());
    call(kernel.launch,
         {.step = step,
          .x = x.data(),
          .w = static_cast<const float*>(w.data()),
          .bias = static_cast<const float*>(bias.data()),
          .y = static_cast<float*>(y.data()),
          .tuning = tuning},
         *stream_);
    stream_->download(output.data(), y.data(), output.size());
    stream_->synchronize();
    return output;
  }

  Expected expected(const ConvStep& step) {
    ThreadPool threads(1);
    return finish(step, convolve(step, x_, w_, threads), bias_, Tensor(), threads);
  }

  /// Expects each output within `tolerance` times the magnitude of its products; tanh is off by another `absolute`.
  void expect_right(const char* name, const ConvStep& step, double tolerance, double absolute) {
    fill(step);
    const std::vector<uint8_t> output = launch(name, step);
    const Expected want = expected(step);
    ASSERT_EQ(output.size(), want.value.size() * sizeof(float));
    for (size_t i = 0; i < want.value.size(); ++i) {
      float got = 0;
      std::memcpy(&got, output.data() + i * sizeof got, sizeof got);
      ASSERT_LE(std::abs(got - want.value[i]), tolerance * want.scale[i] + absolute) << name << " " << i;
    }
  }

  /// Same for fp16 in nchw8c float16; padding must be zero.
  void expect_right_in_blocks(const ConvStep& step) {
    fill(step);
    const std::vector<uint8_t> output = launch("cuda.first_layer_fp16", step);
    const Expected want = expected(step);
    const int64_t n = want.shape[0], k = want.shape[1], pixels = want.shape[2] * want.shape[3];
    const int64_t image = element_count(want.shape, kNchw8cF16) / n;
    std::vector<bool> seen(output.size() / 2);
    for (int64_t i = 0; i < n * k * pixels; ++i) {
      const int64_t pixel = i % pixels, channel = i / pixels % k, block = channel / 8;
      const int64_t width = k - block * 8 <= 4 ? 4 : 8;
      const int64_t at = i / pixels / k * image + block * 8 * pixels + pixel * width + channel % 8;
      uint16_t half = 0;
      std::memcpy(&half, output.data() + at * 2, sizeof half);
      seen[static_cast<size_t>(at)] = true;
      const auto index = static_cast<size_t>(i);
      const double tolerance = 0x1p-9 * std::max<double>(want.scale[index], std::abs(want.value[index]));
      ASSERT_LE(std::abs(half_to_float(half) - want.value[index]), tolerance) << i;
    }
    for (size_t at = 0; at < seen.size(); ++at) {
      ASSERT_TRUE(seen[at] || (output[2 * at] == 0 && output[2 * at + 1] == 0)) << at << " belongs to no channel";
    }
  }

  Tensor x_, w_, bias_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
};

const Activation kActivations[] = {{},
                                   {ActivationKind::relu},
                                   {ActivationKind::leaky_relu, 0.1f},
                                   {ActivationKind::clip, -0.5f, 0.75f},
                                   {ActivationKind::sigmoid},
                                   {ActivationKind::tanh}};

TEST_F(FirstLayer, EachActivationIsRight) {
  for (const Activation& activation : kActivations) {
    for (const Format input : {kNchw, kRawPixels}) {
      const ConvStep step = pooled_step("n3_c1h19w22_k7r5s5", input, activation);
      expect_right("cuda.first_layer_3xfp16", step, 1e-6, 1e-6);
      expect_right("cuda.first_layer_1xfp16", step, 0x1p-10, 1e-6);
    }
  }
}

TEST_F(FirstLayer, BlocksAreRight) {
  for (const Activation& activation : kActivations) {
    if (activation.kind == ActivationKind::sigmoid || activation.kind == ActivationKind::clip) continue;
    expect_right_in_blocks(pooled_step("n3_c1h20w24_k12r5s5", kRawPixels, activation, kNchw8cF16));
  }
  for (const char* problem : {"n2_c1h21w23_k3r3s3", "n2_c1h18w30_k6r5s5_p2", "n2_c1h24w24_k9r7s7", "c1h16w16_k24r5s4",
                              "n2_c1h12w12_k16r1s1", "n5_c1h70w70_k12r5s5",
                              // Several bands, of whole image rows and with padding; only one cell per row.
                              "n2_c1h300w64_k12r5s5", "c1h260w81_k4r7s7_p3", "n3_c1h41w8_k8r7s7"}) {
    expect_right_in_blocks(pooled_step(problem, kRawPixels, {ActivationKind::tanh}, kNchw8cF16));
  }
}

TEST_F(FirstLayer, FiltersBeyondHalvesAreTakenAsTheyAre) {
  for (const char* problem : {"n2_c1h20w24_k12r5s5", "n2_c1h20w24_k24r5s5"}) {  // one pass, and three
    const ConvStep step = pooled_step(problem, kRawPixels, {}, kNchw8cF16);
    fill(step);
    w_.values<float>()[7] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<uint8_t> output = launch("cuda.first_layer_fp16", step);
    const Expected want = expected(step);
    const int64_t pixels = step.output_shape()[2] * step.output_shape()[3], maps = step.problem.k;
    for (int64_t i = 0; i < maps * pixels; ++i) {
      const int64_t map = i / pixels, width = maps - map / 8 * 8 < 8 ? 4 : 8;
      uint16_t half = 0;
      std::memcpy(&half, output.data() + (map / 8 * 8 * pixels + i % pixels * width + map % 8) * 2, sizeof half);
      const auto index = static_cast<size_t>(i);
      const double off = std::abs(half_to_float(half) - want.value[index]);
      ASSERT_TRUE(map == 0 ? std::isnan(half_to_float(half)) : off <= 0x1p-9 * want.scale[index])
          << problem << " " << i;
    }
  }
}

TEST_F(FirstLayer, HoweverTheWorkIsDividedTheBitsAreTheSame) {
  const ConvStep steps[] = {{parse_problem("n2_c1h70w70_k12r5s5")},
                            {parse_problem("n2_c1h37w41_k10r7s7")},
                            pooled_step("n2_c1h70w70_k12r5s5", kRawPixels, {ActivationKind::tanh})};
  const Kernel& kernel = require_conv_kernel("cuda.first_layer_3xfp16", DeviceKind::simt);
  ASSERT_EQ(kernel.tunables.size(), 5u);
  for (const ConvStep& step : steps) {
    fill(step);
    const std::vector<uint8_t> chosen = launch("cuda.first_layer_3xfp16", step);
    for (const std::vector<int>& tuning : {std::vector{128, 1, 12, 1, 1},
                                           {256, 3, 14, 2, 2},
                                           {384, 1, 34, 2, 0},
                                           {512, 3, 0, 1, 1},
                                           {128, 3, 18, 2, 2}}) {
      ASSERT_EQ(launch("cuda.first_layer_3xfp16", step, tuning), chosen) << testing::PrintToString(tuning);
    }
  }
}

TEST_F(FirstLayer, RefusesInWords) {
  const auto refusal = [&](const char* name, const ConvStep& step) {
    return require_conv_kernel(name, DeviceKind::simt).refuses(step, device_->caps()).value_or("");
  };
  const auto split = [&](const char* problem) { return refusal("cuda.first_layer_3xfp16", {parse_problem(problem)}); };
  EXPECT_EQ(split("c3h9w9_k4r3s3"), "only one input channel is supported");
  EXPECT_EQ(split("c1h9w9_k4r3s3_st2"), "strides other than 1 are not supported");
  EXPECT_EQ(split("c1h9w9_k4r3s3_d2"), "dilation is not supported");
  EXPECT_THAT(split("c1h20w20_k4r8s8"), testing::HasSubstr("at most 7x7"));
  EXPECT_THAT(split("c1h20w200_k4r3s3"), testing::HasSubstr("at most 88 pixels"));
  const char* problem = "c1h20w20_k4r5s5";
  ConvStep step{parse_problem(problem), {.bias = true}};
  EXPECT_THAT(refusal("cuda.first_layer_3xfp16", step), testing::HasSubstr("only supported with fused pooling"));
  step = {parse_problem(problem), {}, kRawPixels};
  EXPECT_THAT(refusal("cuda.first_layer_1xfp16", step),
              testing::HasSubstr("uint8 input is only supported with fused pooling"));
  step = pooled_step(problem, kNchw, {}, kNchw8cF16);
  EXPECT_EQ(refusal("cuda.first_layer_3xfp16", step), "output must be nchw");
  EXPECT_EQ(refusal("cuda.first_layer_fp16", step), "input must be uint8");
  step = pooled_step(problem, kRawPixels, {ActivationKind::sigmoid}, kNchw8cF16);
  EXPECT_THAT(refusal("cuda.first_layer_fp16", step), testing::HasSubstr("must map 0 to 0"));
  step = pooled_step("c1h20w20_k4r10s3", kRawPixels, {}, kNchw8cF16);
  EXPECT_THAT(refusal("cuda.first_layer_fp16", step), testing::HasSubstr("at most 7x7"));
  step = pooled_step("c1h20w20_k20r5s5", kRawPixels, {}, kNchw8cF16);
  EXPECT_THAT(refusal("cuda.first_layer_fp16", step), testing::HasSubstr("last block of 8 must have more than 4"));
}

}  // namespace
}  // namespace convlab
