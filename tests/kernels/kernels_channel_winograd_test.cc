// Tests what verify does not cover in cpu.nchw8c_winograd, with every instruction set: added arrays, parts of joint
// arrays, all activations, tiles that extend beyond the image, and equal bits for any number of threads and images.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "convlab/device/device.h"
#include "convlab/device/devices.h"
#include "convlab/kernels/cpu/nchw8c/channels.h"
#include "convlab/kernels/registry.h"
#include "tests/support/kernels_simd_targets.h"

namespace convlab {
namespace {

// Tiles of 4x4 and of 2x2 outputs, in few and in many blocks, remainders of all sizes, and a last panel of 8 channels.
constexpr const char* kProblems[] = {
    "c16h13w14_k24r3s3_p1", "c24h4w5_k16r3s3_p1x0x1x2",      "n3_c16h9w10_k40r3s3",
    "c256h7w7_k264r3s3_p1", "n2_c16h23w31_k16r3s3_p4x3x0x1", "c136h14w13_k136r3s3_p1",
};

constexpr Activation kActivations[] = {{ActivationKind::none},        {ActivationKind::relu},
                                       {ActivationKind::clip, -1, 6}, {ActivationKind::leaky_relu, 0.25f},
                                       {ActivationKind::swish},       {ActivationKind::hard_swish}};

double activation_of(const Activation& activation, double x) {
  switch (activation.kind) {
    case ActivationKind::relu:
      return std::max(x, 0.0);
    case ActivationKind::clip:
      return std::clamp<double>(x, activation.alpha, activation.beta);
    case ActivationKind::leaky_relu:
      return x < 0 ? activation.alpha * x : x;
    case ActivationKind::swish:
      return x / (1 + std::exp(-x));
    case ActivationKind::hard_swish:
      return x * std::clamp((x + 3) / 6, 0.0, 1.0);
    default:
      return x;
  }
}

/// Returns the offset of a pixel of a channel in nchw8c.
size_t at(const Shape& shape, int64_t step, int64_t n, int64_t c, int64_t h, int64_t w) {
  return static_cast<size_t>(n * image_step(step, shape) +
                             ((c / kChannelLanes * shape[2] + h) * shape[3] + w) * kChannelLanes + c % kChannelLanes);
}

/// A step and its arrays.
struct Case {
  ConvStep step;
  std::vector<float> x, w, bias, added;

  explicit Case(const ConvStep& of) : step(of) {
    const ConvProblem& problem = step.problem;
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    const auto fill = [&](std::vector<float>& values, int64_t count) {
      values.resize(static_cast<size_t>(count));
      for (float& value : values) value = normal(random);
    };
    fill(x, problem.n * image_step(step.input_step, problem.input_shape()));
    fill(w, problem.filter_count());
    fill(bias, problem.k);
    fill(added, problem.n * image_step(step.added_step, problem.output_shape()));
  }

  /// Returns the outputs, in an array that was filled with 77.
  std::vector<float> computed(int threads) const {
    const auto device = open_device("cpu", {.threads = threads});
    const auto stream = device->make_stream();
    const Kernel& kernel = require_conv_kernel("cpu.nchw8c_winograd", DeviceKind::cpu);
    EXPECT_EQ(kernel.refuses(step, device->caps()).value_or(""), "");
    std::vector<float> y(
        static_cast<size_t>(step.problem.n * image_step(step.output_step, step.problem.output_shape())), 77.0f);
    const Buffer prepared = device->allocate(kernel.prepared_bytes(step, device->caps()));
    const Buffer workspace = device->allocate(kernel.workspace_bytes(step, device->caps()));
    std::memset(workspace.data(), 0xff, workspace.bytes());  // NaN
    const ConvArgs args{.step = step,
                        .x = x.data(),
                        .w = w.data(),
                        .bias = step.epilogue.bias ? bias.data() : nullptr,
                        .added = step.adds ? added.data() : nullptr,
                        .y = y.data(),
                        .prepared = prepared.data(),
                        .workspace = workspace.data()};
    call(kernel.prepare, args, *stream);
    call(kernel.launch, args, *stream);
    return y;
  }

  double expected(int64_t n, int64_t k, int64_t p, int64_t q) const {
    const ConvProblem& problem = step.problem;
    const Shape input = problem.input_shape(), output = problem.output_shape();
    double sum = step.epilogue.bias ? bias[static_cast<size_t>(k)] : 0;
    for (int64_t r = 0; r < 3; ++r) {
      for (int64_t s = 0; s < 3; ++s) {
        const int64_t h = p + r - problem.pad_top, v = q + s - problem.pad_left;
        if (h < 0 || h >= problem.h || v < 0 || v >= problem.w) continue;
        for (int64_t c = 0; c < problem.c; ++c) {
          sum += static_cast<double>(x[at(input, step.input_step, n, c, h, v)]) *
                 w[static_cast<size_t>(((k * problem.c + c) * 3 + r) * 3 + s)];
        }
      }
    }
    if (step.adds) sum += added[at(output, step.added_step, n, k, p, q)];
    return activation_of(step.epilogue.activation, sum);
  }

  void expect_right() const {
    const ConvProblem& problem = step.problem;
    const Shape output = problem.output_shape();
    std::vector<float> y = computed(2);
    const double tolerance = 1e-5 * std::sqrt(static_cast<double>(problem.terms()));
    for (int64_t n = 0; n < problem.n; ++n) {
      for (int64_t k = 0; k < problem.k; ++k) {
        for (int64_t p = 0; p < problem.p(); ++p) {
          for (int64_t q = 0; q < problem.q(); ++q) {
            float& got = y[at(output, step.output_step, n, k, p, q)];
            ASSERT_NEAR(got, expected(n, k, p, q), tolerance)
                << to_text(problem) << " " << n << " " << k << " " << p << " " << q;
            got = 77;
          }
        }
      }
    }
    EXPECT_EQ(std::count(y.begin(), y.end(), 77.0f), static_cast<int64_t>(y.size())) << "written beyond the output";
  }
};

ConvStep step_of(const char* problem) {
  return {.problem = parse_problem(problem), .input_format = kNchw8c, .output_format = kNchw8c};
}

class ChannelWinograd : public testing::TestWithParam<int64_t> {
 private:
  ForcedTarget forced_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Cpu, ChannelWinograd, testing::ValuesIn(simd_targets()),
                         [](const auto& info) { return hwy::TargetName(info.param); });

TEST_P(ChannelWinograd, IsRightWithEveryEnd) {
  for (const Activation& activation : kActivations) {
    for (const bool adds : {false, true}) {
      ConvStep step = step_of(kProblems[0]);
      step.epilogue = {.bias = adds, .activation = activation};
      step.adds = adds;
      Case(step).expect_right();
    }
  }
}

TEST_P(ChannelWinograd, IsRightInPartsOfJointArrays) {
  for (const char* problem : kProblems) {
    ConvStep step = step_of(problem);
    step.epilogue.bias = step.adds = true;
    const int64_t input = image_step(0, step.problem.input_shape()),
                  output = image_step(0, step.problem.output_shape());
    step.input_step = input + 24;
    step.added_step = output + 8;
    step.output_step = 2 * output;
    Case(step).expect_right();
  }
}

TEST_P(ChannelWinograd, GivesTheSameBitsForAnyNumberOfThreadsAndImages) {
  for (const char* problem : kProblems) {
    ConvStep step = step_of(problem);
    step.problem.n = 3;
    const Case three(step);
    const std::vector<float> y = three.computed(1);
    for (const int threads : {2, 3, 16}) EXPECT_EQ(three.computed(threads), y) << problem << " " << threads;
    step.problem.n = 1;
    Case one(step);
    one.w = three.w;
    one.x.assign(three.x.end() - static_cast<int64_t>(one.x.size()), three.x.end());
    const std::vector<float> last = one.computed(2);
    EXPECT_TRUE(std::equal(last.begin(), last.end(), y.end() - static_cast<int64_t>(last.size()))) << problem;
  }
}

TEST(ChannelWinogradRefusals, AreExplained) {
  const auto device = open_device("cpu", {.threads = 1});
  const Kernel& kernel = require_conv_kernel("cpu.nchw8c_winograd", DeviceKind::cpu);
  const auto refusal = [&](const ConvStep& step) { return kernel.refuses(step, device->caps()).value_or(""); };
  EXPECT_EQ(refusal(step_of("c16h8w8_k16r3s3_p1")), "");
  for (const char* problem :
       {"c16h8w8_k16r5s5_p2", "c16h8w8_k16r3s3_p1_st2", "c16h8w8_k16r3s3_d2", "c32h8w8_k32r3s3_g2", "c8h8w8_k16r3s3",
        "c16h8w8_k8r3s3", "c16h5w8_k16r3s3", "c20h8w8_k16r3s3", "c16h8w8_k20r3s3"}) {
    EXPECT_NE(refusal(step_of(problem)), "") << problem;
  }
  EXPECT_NE(refusal({.problem = parse_problem("c16h8w8_k16r3s3_p1")}), "");
}

}  // namespace
}  // namespace convlab
