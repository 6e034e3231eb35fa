// Tests the verifier: kernels with planted faults must fail, each for its own reason, and a correct one must pass.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <vector>

#include "convlab/device/cpu.h"
#include "convlab/tensor/format.h"
#include "convlab/verify/verify.h"
#include "tests/support/conv_kernels.h"

namespace convlab {
namespace {

using testing::HasSubstr;

/// Hooks of a simple correct kernel. Faults are planted by changing one of them.
struct Habits {
  float (*read_pixel)(float) = [](float pixel) { return pixel; };
  float (*read_weight)(float) = [](float weight) { return weight; };
  float (*relu)(float) = [](float value) { return value < 0 ? 0 : value; };
  float (*finish)(float) = [](float value) { return value; };
  int64_t column_shift = 0;
  bool swap_r_and_s = false;
};

float convolved(const ConvArgs& args, const float* weights, const Habits& habits, int64_t n, int64_t k, int64_t p,
                int64_t q) {
  const ConvProblem& problem = args.step.problem;
  const int64_t channels = problem.channels_per_group(), group = k / problem.maps_per_group();
  const auto* x = static_cast<const float*>(args.x);
  float sum = args.step.epilogue.bias ? args.bias[k] : 0;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t r = 0; r < problem.r; ++r) {
      for (int64_t s = 0; s < problem.s; ++s) {
        const int64_t h = p * problem.stride_h + r * problem.dilation_h - problem.pad_top;
        const int64_t w = q * problem.stride_w + s * problem.dilation_w - problem.pad_left + habits.column_shift;
        if (h < 0 || h >= problem.h || w < 0 || w >= problem.w) continue;
        const int64_t tap = habits.swap_r_and_s ? s * problem.r + r : r * problem.s + s;
        const float weight = habits.read_weight(weights[(k * channels + c) * problem.r * problem.s + tap]);
        const int64_t pixel = ((n * problem.c + group * channels + c) * problem.h + h) * problem.w + w;
        sum += habits.read_pixel(x[pixel]) * weight;
      }
    }
  }
  return sum;
}

/// Writes all outputs except the last `left_out`. The only supported pooling is max 2x2.
void compute(const ConvArgs& args, const Habits& habits = {}, const float* weights = nullptr, int64_t left_out = 0) {
  const Shape shape = args.step.output_shape();
  const int64_t count = element_count(shape);
  const auto pool = args.step.epilogue.pool;
  if (weights == nullptr) weights = args.w;
  for (int64_t i = 0; i < count - left_out; ++i) {
    const int64_t q = i % shape[3], p = i / shape[3] % shape[2], map = i / shape[3] / shape[2];
    const int64_t n = map / shape[1], k = map % shape[1];
    float value = 0;
    if (pool) {
      value = -INFINITY;
      for (int64_t r = 0; r < 2; ++r) {
        for (int64_t s = 0; s < 2; ++s) {
          const float each = convolved(args, weights, habits, n, k, 2 * p + r, 2 * q + s);
          if (!(each <= value) && !std::isnan(value)) value = each;
        }
      }
    } else {
      value = convolved(args, weights, habits, n, k, p, q);
    }
    if (args.step.epilogue.activation.kind == ActivationKind::relu) value = habits.relu(value);
    args.y[i] = habits.finish(value);
  }
}

using Launch = void (*)(const ConvArgs&, Stream&);

ConvKernel fake(Launch launch) {
  return {.info = {.name = "test.fake"},
          .refuses = [](const ConvStep&, const DeviceCaps&) -> Refusal { return std::nullopt; },
          .prepared_bytes = [](const ConvStep&, const DeviceCaps&) -> size_t { return 12; },
          .workspace_bytes = [](const ConvStep&, const DeviceCaps&) -> size_t { return 20; },
          .launch = launch};
}

const ConvStep kPlain{parse_problem("n2_c4h7w9_k3r3s3_p1")};
const ConvStep kRelu{kPlain.problem, {.bias = true, .activation = {ActivationKind::relu}}};

CaseResult verified(const ConvKernel& kernel, const ConvStep& step = kPlain) {
  const std::unique_ptr<Device> device = open_cpu({.threads = 1});
  Oracle oracle(1);
  return verify_kernel(adapted(kernel), step, *device, oracle);
}

/// Returns the name of the check in a reason.
std::string check_of(const std::string& reason) {
  if (reason.find("with integer inputs") != std::string::npos) return "integers";
  return reason.find("with one NaN among the inputs") != std::string::npos ? "one NaN pixel" : "reals";
}

/// Expects that verification fails in this check, for this reason.
void expect_caught(const ConvKernel& kernel, const char* check, const char* reason, const ConvStep& step = kPlain) {
  const CaseResult result = verified(kernel, step);
  EXPECT_EQ(result.outcome, Outcome::failed);
  // Only reasons about wrong outputs name the check.
  const std::string_view kind = result.findings.empty() ? "" : std::string_view(result.findings[0].kind);
  if (kind.find("output") != std::string_view::npos) {
    EXPECT_EQ(check_of(result.reason), check) << result.reason;
  }
  EXPECT_THAT(result.reason, HasSubstr(reason));
}

TEST(PlantedFaults, RightKernelPasses) {
  const Pool max2x2{.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2};
  const ConvKernel right = fake([](const ConvArgs& args, Stream&) { compute(args); });
  for (const ConvStep& step :
       {kPlain, kRelu, ConvStep{kPlain.problem, {.pool = max2x2}},
        ConvStep{parse_problem("n3_c6h8w5_k4r2s3_p1x0x2x1_st2x1_d1x2_g2"), {.bias = true, .pool = max2x2}}}) {
    const CaseResult result = verified(right, step);
    EXPECT_EQ(result.outcome, Outcome::passed) << result.reason;
    EXPECT_LE(result.relative_l2, 1e-6);
    EXPECT_GT(result.relative_l2, 0);
  }
}

TEST(PlantedFaults, RefusalIsSkippedWithItsWords) {
  ConvKernel kernel = fake([](const ConvArgs&, Stream&) { FAIL() << "launched after a refusal"; });
  kernel.refuses = [](const ConvStep&, const DeviceCaps&) -> Refusal { return "takes filters of 5x5 only"; };
  const CaseResult result = verified(kernel);
  EXPECT_EQ(result.outcome, Outcome::skipped);
  EXPECT_EQ(result.reason, "takes filters of 5x5 only");
}

TEST(PlantedFaults, OffByOneColumn) {
  expect_caught(fake([](const ConvArgs& args, Stream&) { compute(args, {.column_shift = 1}); }), "integers",
                "outputs are wrong (first: image 0, output channel 0, row 0, column 0");
}

TEST(PlantedFaults, SwappedRAndS) {
  expect_caught(fake([](const ConvArgs& args, Stream&) { compute(args, {.swap_r_and_s = true}); }), "integers",
                "outputs are wrong");
}

TEST(PlantedFaults, UnwrittenTail) {
  expect_caught(fake([](const ConvArgs& args, Stream&) { compute(args, {}, nullptr, 1); }), "integers",
                "first: image 1, output channel 2, row 6, column 8");
}

TEST(PlantedFaults, NanReturned) {
  expect_caught(fake([](const ConvArgs& args, Stream&) {
                  compute(args);
                  args.y[5] = NAN;
                }),
                "integers", "1 of 378 outputs is wrong (first: image 0, output channel 0, row 0, column 5");
}

TEST(PlantedFaults, ZeroOutput) {
  expect_caught(fake([](const ConvArgs& args, Stream&) { compute(args, {.finish = [](float) { return 0.0f; }}); }),
                "integers", "got 0");
}

TEST(PlantedFaults, OverrunOfEachArray) {
  expect_caught(fake([](const ConvArgs& args, Stream&) {
                  compute(args);
                  args.y[args.step.problem.output_count()] = 0;
                }),
                "integers", "launch wrote past the end of y: byte 1 after");
  expect_caught(fake([](const ConvArgs& args, Stream&) {
                  compute(args);
                  static_cast<char*>(args.workspace)[20] = 0;
                }),
                "integers", "launch wrote past the end of workspace");
  ConvKernel kernel = fake([](const ConvArgs& args, Stream&) { compute(args); });
  kernel.prepare = [](const ConvArgs& args, Stream&) { static_cast<char*>(args.prepared)[12] = 0; };
  expect_caught(kernel, "integers", "prepare wrote past the end of prepared: byte 1 after");
}

TEST(PlantedFaults, OverrunThatAdds) {
  expect_caught(fake([](const ConvArgs& args, Stream&) {
                  compute(args);
                  args.y[args.step.problem.output_count() + 3] += 1;
                }),
                "integers", "launch wrote past the end of y");
}

TEST(PlantedFaults, Underrun) {
  expect_caught(fake([](const ConvArgs& args, Stream&) {
                  compute(args);
                  args.y[-1] = 0;
                }),
                "integers", "launch wrote before the start of y");
}

TEST(PlantedFaults, AddsToWhatWasThere) {
  expect_caught(fake([](const ConvArgs& args, Stream&) {
                  const std::vector<float> before(args.y, args.y + args.step.problem.output_count());
                  compute(args);
                  for (size_t i = 0; i < before.size(); ++i) args.y[i] += before[i];
                }),
                "integers", "378 of 378 outputs are wrong");
}

TEST(PlantedFaults, ReadsBeyondTheEndOfX) {
  expect_caught(fake([](const ConvArgs& args, Stream&) {
                  compute(args);
                  args.y[0] += 0 * static_cast<const float*>(args.x)[args.step.problem.input_count()];
                }),
                "integers", "1 of 378 outputs is wrong, 1 of them never written");
}

TEST(PlantedFaults, ReliesOnClearedWorkspace) {
  expect_caught(fake([](const ConvArgs& args, Stream&) {
                  compute(args);
                  args.y[1] += static_cast<const float*>(args.workspace)[0];
                }),
                "integers", "first: image 0, output channel 0, row 0, column 1");
}

TEST(PlantedFaults, InputsChanged) {
  expect_caught(fake([](const ConvArgs& args, Stream&) {
                  compute(args);
                  static_cast<float*>(const_cast<void*>(args.x))[7] += 1;
                }),
                "integers", "launch changed its input x at byte");
  ConvKernel kernel = fake([](const ConvArgs& args, Stream&) { compute(args); });
  kernel.prepare = [](const ConvArgs& args, Stream&) { const_cast<float*>(args.w)[0] = 0.5f; };
  expect_caught(kernel, "integers", "prepare changed its input w at byte");
  expect_caught(fake([](const ConvArgs& args, Stream&) {
                  compute(args, {});
                  const_cast<float*>(args.bias)[2] = 0.5f;
                }),
                "integers", "launch changed its input bias at byte 10", kRelu);
}

TEST(PlantedFaults, CachedAnswerOfTheCallBefore) {
  static std::map<const void*, std::vector<float>> answers;
  answers.clear();
  expect_caught(fake([](const ConvArgs& args, Stream&) {
                  std::vector<float>& answer = answers[args.x];  // a cache keyed by the images' address
                  if (answer.empty()) {
                    compute(args);
                    answer.assign(args.y, args.y + args.step.problem.output_count());
                  }
                  std::copy(answer.begin(), answer.end(), args.y);
                }),
                "integers", "outputs are wrong");
}

TEST(PlantedFaults, CachedAnswerOfTheseWeights) {
  static std::map<const void*, std::vector<float>> answers;
  answers.clear();
  expect_caught(fake([](const ConvArgs& args, Stream&) {
                  std::vector<float>& answer = answers[args.w];
                  if (answer.empty()) {
                    compute(args);
                    answer.assign(args.y, args.y + args.step.problem.output_count());
                  }
                  std::copy(answer.begin(), answer.end(), args.y);
                }),
                "reals", "outputs are wrong");
}

TEST(PlantedFaults, StateBetweenLayers) {
  static std::vector<float> symbol;  // like constant memory that prepare fills
  ConvKernel kernel = fake([](const ConvArgs& args, Stream&) { compute(args, {}, symbol.data()); });
  kernel.prepare = [](const ConvArgs& args, Stream&) {
    symbol.assign(args.w, args.w + args.step.problem.filter_count());
  };
  expect_caught(kernel, "integers", "right alone, but wrong when launches of two layers alternate");
}

TEST(PlantedFaults, LessPreciseThanClaimed) {
  const auto to_bf16 = [](float value) {
    return std::isnan(value) ? value : std::bit_cast<float>((std::bit_cast<uint32_t>(value) + 0x8000u) & 0xffff0000u);
  };
  const auto to_tf32 = [](float value) {
    return std::isnan(value) ? value : std::bit_cast<float>((std::bit_cast<uint32_t>(value) + 0x1000u) & 0xffffe000u);
  };
  static const Habits bf16{.read_pixel = to_bf16, .read_weight = to_bf16};
  static const Habits tf32{.read_pixel = to_tf32, .read_weight = to_tf32};
  ConvKernel kernel = fake([](const ConvArgs& args, Stream&) { compute(args, bf16); });
  expect_caught(kernel, "integers", "outputs are wrong");
  kernel.info.math = Math::tf32;
  expect_caught(kernel, "integers", "outputs are wrong");
  kernel.info.math = Math::bf16;
  EXPECT_EQ(verified(kernel).reason, "");

  kernel = fake([](const ConvArgs& args, Stream&) { compute(args, tf32); });
  expect_caught(kernel, "integers", "outputs are wrong");
  kernel.info.math = Math::tf32;
  EXPECT_EQ(verified(kernel).reason, "");
  // Exact results for integer inputs must not hide it.
  kernel.info = {.name = "test.fake", .math = Math::fp32, .sum = Sum::transform};
  kernel.launch = [](const ConvArgs& args, Stream&) {
    const auto* x = static_cast<const float*>(args.x);
    const bool integers =
        std::all_of(x, x + args.step.problem.input_count(), [](float v) { return v == std::rint(v); });
    compute(args, integers ? Habits{} : tf32);
  };
  expect_caught(kernel, "reals", "wrong");
}

TEST(PlantedFaults, ErrorsALittleAboveTheClass) {
  // Each element stays within its own tolerance, so only the norm shows the error. Integers below 2^18 do not change.
  static float factor = 1;
  const ConvKernel kernel = fake([](const ConvArgs& args, Stream&) {
    compute(args, {.finish = [](float value) { return value == std::rint(value) ? value : value * factor; }});
  });
  factor = 1 + 0x1p-20f * 1.5f;
  expect_caught(kernel, "reals", "relative L2 error");
  factor = 1 + 0x1p-21f;
  EXPECT_EQ(verified(kernel).reason, "");
}

TEST(PlantedFaults, LongSumsMayRoundAndNoMore) {
  // A K dimension of 4608, as in the last layers of VGG and ResNet: honest fp32 sums have errors above 1e-6.
  const ConvStep step{parse_problem("c512h7w7_k32r3s3")};
  static constexpr uint32_t kAll = 0xffffffffu;
  static uint32_t kept = kAll;  // bits kept of each partial sum
  const ConvKernel kernel = fake([](const ConvArgs& args, Stream&) {
    const ConvProblem& problem = args.step.problem;
    const auto* x = static_cast<const float*>(args.x);
    for (int64_t k = 0; k < problem.k; ++k) {
      for (int64_t at = 0; at < problem.p() * problem.q(); ++at) {
        float sum = 0;
        for (int64_t i = 0; i < problem.terms(); ++i) {
          const int64_t c = i / 9, h = at / problem.q() + i / 3 % 3, w = at % problem.q() + i % 3;
          sum += x[(c * problem.h + h) * problem.w + w] * args.w[k * problem.terms() + i];
          sum = std::bit_cast<float>(std::bit_cast<uint32_t>(sum) & kept);
        }
        args.y[k * problem.p() * problem.q() + at] = sum;
      }
    }
  });
  const CaseResult honest = verified(kernel, step);
  EXPECT_EQ(honest.reason, "");
  EXPECT_GT(honest.relative_l2, 1e-6);
  kept = kAll << 2;  // two bits less than fp32; integers up to 2^22 stay exact
  EXPECT_THAT(verified(kernel, step).reason, HasSubstr("relative L2 error"));
  kept = kAll;
}

TEST(PlantedFaults, OneElementALittleOff) {
  expect_caught(fake([](const ConvArgs& args, Stream&) {
                  compute(args);
                  if (args.y[9] != std::rint(args.y[9])) args.y[9] += 1e-4f;
                }),
                "reals", "1 of 378 outputs is wrong (first: image 0, output channel 0, row 1, column 0");
}

TEST(PlantedFaults, NanSwallowed) {
  const ConvKernel kernel = fake([](const ConvArgs& args, Stream&) {
    compute(args, {.relu = [](float value) { return std::fmax(value, 0.0f); }});
  });
  expect_caught(kernel, "one NaN pixel", "expected nan, got 0", kRelu);
}

TEST(PlantedFaults, NanLostInOneElement) {
  expect_caught(fake([](const ConvArgs& args, Stream&) {
                  compute(args);
                  float* last_nan = nullptr;
                  for (int64_t i = 0; i < args.step.problem.output_count(); ++i) {
                    if (std::isnan(args.y[i])) last_nan = args.y + i;
                  }
                  if (last_nan != nullptr) *last_nan = 0;
                }),
                "one NaN pixel", "1 of 378 outputs is wrong");
}

TEST(PlantedFaults, NanSpreadsTooFar) {
  // The tail of a tile multiplies elements outside the image by zero weights, which does not mask NaN.
  const Launch launch = [](const ConvArgs& args, Stream&) {
    const auto* x = static_cast<const float*>(args.x);
    compute(args);
    const ConvProblem& problem = args.step.problem;
    const int64_t image = problem.c * problem.h * problem.w, outputs = problem.k * problem.p() * problem.q();
    for (int64_t n = 0; n < problem.n; ++n) {
      for (int64_t i = 0; i < image; ++i) args.y[n * outputs] += 0 * x[n * image + i];
    }
  };
  ConvKernel kernel = fake(launch);
  const ConvStep step{parse_problem("n2_c4h12w12_k3r3s3")};
  expect_caught(kernel, "one NaN pixel", "got NaN", step);
  kernel.info.sum = Sum::transform;  // a transform may spread NaN within an image
  EXPECT_EQ(verified(kernel, step).reason, "");
  kernel.launch = [](const ConvArgs& args, Stream&) {  // but not to another image
    const auto* x = static_cast<const float*>(args.x);
    compute(args);
    for (int64_t i = 0; i < args.step.problem.input_count(); ++i) {
      args.y[0] += 0 * x[i];
      args.y[args.step.problem.output_count() / 2] += 0 * x[i];
    }
  };
  expect_caught(kernel, "one NaN pixel", "got NaN", step);
}

TEST(PlantedFaults, OtherBitsTheSecondTime) {
  static int calls = 0;
  const Launch launch = [](const ConvArgs& args, Stream&) {
    compute(args);
    if (++calls % 2 == 0) {
      const bool whole = args.y[0] == std::rint(args.y[0]);
      if (!whole) args.y[0] = std::nextafter(args.y[0], 1e9f);
    }
  };
  ConvKernel kernel = fake(launch);
  expect_caught(kernel, "reals", "a second launch with the same input returns other bits (first at y[0]");
  kernel.info.repeat = Repeat::order_dependent;
  EXPECT_EQ(verified(kernel).reason, "");
}

/// compute() with nchw8c float16 input and output where the step has them.
void compute_in_blocks(const ConvArgs& args) {
  ConvStep plain = args.step;
  plain.input_format = plain.output_format = kNchw;
  const Shape input = plain.problem.input_shape(), output = plain.output_shape();
  std::vector<float> x;
  ConvArgs inside{.step = plain, .x = args.x, .w = args.w, .bias = args.bias, .y = args.y};
  if (args.step.input_format == kNchw8cF16) {
    x = unpack(args.x, input, kNchw8cF16);
    inside.x = x.data();
  }
  Tensor y(ElementType::f32, output);
  if (args.step.output_format == kNchw8cF16) inside.y = y.values<float>().data();
  compute(inside);
  if (args.step.output_format.order == Order::nchw) return;
  const Tensor blocks = pack(y, kNchw8cF16);
  std::memcpy(args.y, blocks.raw(), blocks.bytes());
}

TEST(PlantedFaults, ChannelBlocksAreChecked) {
  const ConvStep step{
      .problem = parse_problem("n2_c5h7w9_k6r3s3_p1"), .input_format = kNchw8cF16, .output_format = kNchw8cF16};
  ConvStep from = step, to = step;
  from.output_format = to.input_format = kNchw;
  ConvKernel kernel = fake([](const ConvArgs& args, Stream&) { compute_in_blocks(args); });
  kernel.info.math = Math::fp16;
  for (const ConvStep& each : {step, from, to}) {
    const CaseResult result = verified(kernel, each);
    EXPECT_EQ(result.outcome, Outcome::passed) << result.reason;
    EXPECT_GT(result.relative_l2, 1e-5) << "float16 rounds";
  }
  kernel.launch = [](const ConvArgs& args, Stream&) {
    compute_in_blocks(args);
    reinterpret_cast<uint16_t*>(args.y)[6] = 0x3c00;
  };
  expect_caught(kernel, "integers", "padding element 6 of an nchw8c float16 array must be 0, got 1", to);
  kernel.launch = [](const ConvArgs& args, Stream&) {
    compute_in_blocks(args);
    reinterpret_cast<uint16_t*>(args.y)[8] = 0x7c00;
  };
  expect_caught(kernel, "integers", "1 of 756 outputs is wrong (first: image 0, output channel 0, row 0, column 1",
                step);
}

TEST(PlantedFaults, ErrorOfTheKernelIsAFailureOfTheCase) {
  expect_caught(fake([](const ConvArgs&, Stream&) { throw std::runtime_error("an illegal access was met"); }),
                "integers", "an illegal access was met");
}

TEST(PlantedFaults, ProblemLargerThanMemoryIsBadInput) {
  const ConvStep huge{parse_problem("n2000000_c100h1000w1000_k1r1s1")};
  EXPECT_THROW(verified(fake([](const ConvArgs&, Stream&) {}), huge), Error);
}

}  // namespace
}  // namespace convlab
