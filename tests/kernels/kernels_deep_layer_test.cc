// Tests cuda.deep_layer_fp16 and cuda.deep_layer_1xfp16 on the host (simt): edge cases of shapes, and values outside
// fp16's range.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "convlab/base/error.h"
#include "convlab/device/devices.h"
#include "convlab/kernels/registry.h"
#include "convlab/verify/cases.h"
#include "convlab/verify/fills.h"
#include "convlab/verify/verify.h"

namespace convlab {
namespace {

constexpr const char* kProblems[] = {
    "n3_c12h13w11_k24r5s5",      // a last plane with right neighbors, odd number of taps
    "n2_c5h13w11_k7r3s3",        // missing input and output channels
    "c8h9w9_k8r3s3_p1",          // a repeated K slice
    "n2_c9h10w8_k12r7s7_p2",     // a last block of 4 output channels
    "c2h12w16_k4r3s5",           // only planes with neighbors
    "c16h7w7_k33r3s3",           // several blocks of output channels
    "c2h9w8_k5r5s1",             // no neighbors
    "c3h6w40_k17r3s3_p1x2x0x3",  // different padding on each side
    "c40h30w60_k4r3s3",          // bands
};

class DeepLayer : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    try {
      device_ = open_device("simt", {});
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    kernel_ = &require_conv_kernel(GetParam(), DeviceKind::simt);
  }

  std::unique_ptr<Device> device_;
  const Kernel* kernel_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Simt, DeepLayer, testing::Values("cuda.deep_layer_fp16", "cuda.deep_layer_1xfp16"),
                         [](const auto& info) { return std::string(info.param).substr(5); });

TEST_P(DeepLayer, IsRightOnItsEdges) {
  Oracle oracle;
  for (const char* text : kProblems) {
    int passed = 0;
    for (const ConvStep& step : steps_to_verify(*kernel_, parse_problem(text), device_->caps())) {
      const CaseResult result = verify_kernel(*kernel_, step, *device_, oracle);
      EXPECT_NE(result.outcome, Outcome::failed) << describe(step) << ": " << result.reason;
      passed += result.outcome == Outcome::passed;
    }
    EXPECT_GE(passed, 3) << text;
  }
}

TEST_P(DeepLayer, RefusesInWords) {
  const Format format = kernel_->format;
  const auto refusal = [&](const char* text, Epilogue epilogue = {}) {
    const ConvStep step{.problem = parse_problem(text), .epilogue = epilogue, .input_format = format};
    return kernel_->refuses(step, device_->caps()).value_or("");
  };
  EXPECT_EQ(refusal("c12h33w33_k24r5s5"), "");
  EXPECT_EQ(refusal("c12h33w33_k24r5s5_st2"), "strides other than 1 are not supported");
  EXPECT_EQ(refusal("c12h33w33_k24r5s5_d2"), "dilation is not supported");
  EXPECT_EQ(refusal("c12h33w33_k24r5s5_g3"), "groups are not supported");
  EXPECT_EQ(refusal("c12h33w33_k24r4s4"), "filter height must be 3, 5 or 7");
  EXPECT_EQ(refusal("c12h33w33_k24r5s5", {.pool = Pool{}}), "fused pooling is not supported");
  EXPECT_EQ(refusal("c12h33w33_k24r5s5", {.activation = {ActivationKind::tanh}}),
            "activations other than ReLU are not supported");
  EXPECT_NE(refusal("c512h14w14_k512r3s3"), "");
  EXPECT_NE(refusal("c12h33w70000_k24r5s5"), "");
  DeviceCaps old = device_->caps();
  old.compute_capability = 75;
  const ConvStep step{.problem = parse_problem("c12h33w33_k24r5s5"), .input_format = format};
  EXPECT_EQ(kernel_->refuses(step, old), "compute capability 8.0 or later is required");
}

/// Runs the kernel on nchw arrays on the device and returns y.
std::vector<float> convolved(const Kernel& kernel, const ConvStep& step, Device& device, std::span<const float> x,
                             std::span<const float> w) {
  const std::unique_ptr<Stream> stream = device.make_stream();
  const auto uploaded = [&](std::span<const float> values) {
    Buffer buffer = device.allocate(values.size_bytes());
    stream->upload(buffer.data(), values.data(), values.size_bytes());
    return buffer;
  };
  const Buffer device_x = uploaded(x), device_w = uploaded(w);
  std::vector<float> y(static_cast<size_t>(step.problem.output_count()));
  const Buffer device_y = device.allocate(y.size() * sizeof(float));
  const Buffer prepared = device.allocate(kernel.prepared_bytes(step, device.caps()));
  const ConvArgs args{.step = step,
                      .x = device_x.data(),
                      .w = static_cast<const float*>(device_w.data()),
                      .y = static_cast<float*>(device_y.data()),
                      .prepared = prepared.data()};
  call(kernel.prepare, args, *stream);
  call(kernel.launch, args, *stream);
  stream->download(y.data(), device_y.data(), y.size() * sizeof(float));
  stream->synchronize();
  return y;
}

/// Expects each output to be the sum of its own products, as precise as TF32, NaN and infinity included.
void expect_by_definition(const ConvProblem& problem, std::span<const float> x, std::span<const float> w,
                          std::span<const float> y, const std::string& what) {
  int64_t wrong = 0, i = 0;
  for (int64_t n = 0; n < problem.n; ++n) {
    for (int64_t k = 0; k < problem.k; ++k) {
      for (int64_t p = 0; p < problem.p(); ++p) {
        for (int64_t q = 0; q < problem.q(); ++q, ++i) {
          double sum = 0, size = 0;
          for (int64_t c = 0; c < problem.c; ++c) {
            for (int64_t r = 0; r < problem.r; ++r) {
              for (int64_t s = 0; s < problem.s; ++s) {
                const double term = double{x[((n * problem.c + c) * problem.h + p + r) * problem.w + q + s]} *
                                    w[((k * problem.c + c) * problem.r + r) * problem.s + s];
                sum += term;
                size += std::abs(term);
              }
            }
          }
          const auto expected = static_cast<float>(sum);  // may be infinite although the sum is finite
          const double tolerance = 0x1p-9 * size + 1e-40;
          const bool right = std::isnan(expected)   ? std::isnan(y[i])
                             : std::isinf(expected) ? y[i] == expected
                                                    : std::abs(y[i] - expected) <= tolerance;
          wrong += !right;
        }
      }
    }
  }
  EXPECT_EQ(wrong, 0) << what << ": of " << i;
}

TEST(DeepLayerRange, IsNoticedAndComputedByDefinition) {
  std::unique_ptr<Device> device;
  try {
    device = open_device("simt", {});
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const Kernel& kernel = require_conv_kernel("cuda.deep_layer_1xfp16", DeviceKind::simt);
  const ConvStep step{.problem = parse_problem("n5_c12h11w10_k10r5s5")};
  const Tensor images = fill_images(step, Fill::reals, {}), filters = fill_filters(step, Fill::reals, {}, 0);
  const std::vector<float> x(images.values<float>().begin(), images.values<float>().end());
  const std::vector<float> w(filters.values<float>().begin(), filters.values<float>().end());
  const size_t image = x.size() / 5;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float value : {kInfinity, -kInfinity, NAN, 1e30f, -3e38f, 1e-30f, 1e-42f}) {
    std::vector<float> odd_x = x, odd_w = w;
    odd_x[2 * image + 317] = odd_w[123] = value;
    expect_by_definition(step.problem, odd_x, w, convolved(kernel, step, *device, odd_x, w),
                         fmt::format("x {}", value));
    expect_by_definition(step.problem, x, odd_w, convolved(kernel, step, *device, x, odd_w),
                         fmt::format("w {}", value));
  }
  // Each image has its own scale; one has only tiny values, one only zeros.
  std::vector<float> scaled = x;
  const float scales[] = {1, 0x1p20f, 0x1p-30f, 0, 0x1p-140f};
  for (size_t i = 0; i < x.size(); ++i) scaled[i] *= scales[i / image];
  const std::vector<float> y = convolved(kernel, step, *device, scaled, w),
                           unscaled = convolved(kernel, step, *device, x, w);
  expect_by_definition(step.problem, scaled, w, y, "scaled");
  for (size_t i = 0; i < y.size() / 5 * 3; ++i) {
    ASSERT_EQ(y[i], unscaled[i] * scales[i / (y.size() / 5)]) << "a power of two changes no other bits";
  }
}

}  // namespace
}  // namespace convlab
