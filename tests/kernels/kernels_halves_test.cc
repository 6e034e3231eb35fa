// Tests bf16 nhwc convolutions that read and write parts of joint arrays, with any number of
// threads, and image by image: the bits must equal those of dense arrays, with every instruction set.
// kernels_cpu_conv_test.cc verifies the values themselves.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "convlab/base/bf16.h"
#include "convlab/device/cpu.h"
#include "convlab/kernels/registry.h"
#include "tests/kernels/channel_checks.h"
#include "tests/kernels/half_checks.h"
#include "tests/kernels/op_checks.h"
#include "tests/support/kernels_simd_targets.h"

namespace convlab {
namespace {

constexpr const char* kKernels[] = {"cpu.nhwc_bf16_conv", "cpu.nhwc_bf16_conv_dots", "cpu.nhwc_bf16_conv_amx",
                                    "cpu.nhwc_bf16_depthwise"};

constexpr const char* kProblems[] = {"n3_c24h9w19_k40r3s3_p1",
                                     "n2_c64h12w17_k48r1s1",
                                     "n2_c16h15w18_k72r3s3_p1_st2",
                                     "n2_c40h7w7_k24r5s5_p2",
                                     "n3_c3h19w21_k40r7s7_p3_st2",
                                     "n2_c16h9w9_k16r3s3_p2_d2",
                                     "n2_c32h20w20_k32r3s3_p0x1x0x1_g2",
                                     "n2_c16h40w38_k16r3s3_st2",
                                     "n2_c48h2w2_k16r1s1",
                                     "n5_c480h3w3_k264r3s3_p1",  // stacked images
                                     "n4_c480h5w4_k264r3s3_p1_st2",
                                     "n6_c480h6w6_k264r3s3_p0x0x1x1_st2",
                                     "n3_c32h29w35_k40r5s5_p2_st3",
                                     "n3_c24h9w19_k24r3s3_p1_g24",
                                     "n2_c40h15w18_k40r5s5_p2_st2_g40"};

struct Inputs {
  Tensor x, w, bias, added;
};

Tensor convolve(const Kernel& kernel, ConvStep step, const Inputs& inputs, bool joint, int threads) {
  const std::unique_ptr<Device> device = open_cpu({.threads = threads});
  const std::unique_ptr<Stream> stream = device->make_stream();
  std::optional<HalfArray> x;
  if (step.input_format.order != Order::nchw) {
    x.emplace(*device, inputs.x, joint);
    step.input_step = x->step();
  }
  const HalfArray added(*device, inputs.added, joint), y(*device, step.output_shape(), joint);
  step.added_step = added.step();
  step.output_step = y.step();
  EXPECT_EQ(kernel.refuses(step, device->caps()), std::nullopt);
  const Buffer prepared = device->allocate(kernel.prepared_bytes(step, device->caps()));
  const Buffer workspace = device->allocate(workspace_bytes(kernel, step, device->caps()));
  ConvArgs args{.step = step,
                .x = x ? x->first() : inputs.x.raw(),
                .w = inputs.w.values<float>().data(),
                .bias = inputs.bias.values<float>().data(),
                .added = added.first(),
                .y = y.first(),
                .prepared = prepared.data(),
                .workspace = workspace.data()};
  call(kernel.prepare, args, *stream);
  args.w = nullptr;
  call(kernel.launch, args, *stream);
  stream->synchronize();
  return y.images();
}

class HalfConvolution : public testing::TestWithParam<std::tuple<int64_t, const char*>> {
 protected:
  void SetUp() override {
    if (kernel().absent != nullptr && kernel().absent()) GTEST_SKIP() << *kernel().absent();
  }
  const Kernel& kernel() const { return require_conv_kernel(std::get<1>(GetParam()), DeviceKind::cpu); }

 private:
  ForcedTarget forced_{std::get<0>(GetParam())};
};

INSTANTIATE_TEST_SUITE_P(Cpu, HalfConvolution,
                         testing::Combine(testing::ValuesIn(simd_targets()), testing::ValuesIn(kKernels)),
                         [](const auto& info) {
                           std::string name =
                               fmt::format("{}_{}", std::get<1>(info.param), hwy::TargetName(std::get<0>(info.param)));
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST_P(HalfConvolution, GivesTheSameBitsInJointArraysByThreadsAndByImages) {
  for (const char* text : kProblems) {
    const ConvProblem problem = parse_problem(text);
    const bool plain = problem.c % kChannelLanes != 0;
    const ConvStep step{.problem = problem,
                        .epilogue = {.bias = true, .activation = {ActivationKind::relu}},
                        .input_format = plain ? kNchw : kNhwcBf16,
                        .output_format = kNhwcBf16,
                        .adds = true};
    if (kernel().refuses(step, open_cpu({.threads = 1})->caps())) continue;
    SCOPED_TRACE(text);
    const Inputs inputs{random(problem.input_shape(), 1), random(problem.filter_shape(), 2), random({problem.k}, 3),
                        random(problem.output_shape(), 4)};
    const Tensor expected = convolve(kernel(), step, inputs, false, 1);
    for (const int threads : {1, 3}) {
      for (const bool joint : {false, true}) {
        SCOPED_TRACE(fmt::format("joint: {}, {} threads", joint, threads));
        expect_same_bits(convolve(kernel(), step, inputs, joint, threads), expected);
      }
    }
    ConvStep single = step;
    single.problem.n = 1;
    for (int64_t n = 0; n < problem.n; ++n) {
      const Inputs own{image_of(inputs.x, n), inputs.w.clone(), inputs.bias.clone(), image_of(inputs.added, n)};
      expect_same_bits(convolve(kernel(), single, own, true, 2), image_of(expected, n));
    }
  }
}

TEST_P(HalfConvolution, SwishAtItsEdges) {
  const ConvProblem problem = parse_problem("n1_c32h4w9_k32r1s1_g32");
  const ConvStep step{.problem = problem,
                      .epilogue = {.activation = {ActivationKind::swish}},
                      .input_format = kNhwcBf16,
                      .output_format = kNhwcBf16};
  if (kernel().refuses(step, open_cpu({.threads = 1})->caps())) GTEST_SKIP() << "other convolutions";
  constexpr float kInf = std::numeric_limits<float>::infinity();
  Inputs inputs{random(problem.input_shape(), 1), Tensor(ElementType::f32, problem.filter_shape()), random({32}, 3),
                random(problem.output_shape(), 4)};
  std::ranges::fill(inputs.w.values<float>(), 1.0f);
  const std::span<float> x = inputs.x.values<float>();
  for (size_t i = 0; i < x.size(); ++i) x[i] = from_bf16(to_bf16(x[i] * static_cast<float>(i % 90)));
  const float edges[] = {0, 1e30f, kInf, 100, -100, -1e30f, std::numeric_limits<float>::quiet_NaN()};
  std::ranges::copy(edges, x.begin());
  const Tensor y = convolve(kernel(), step, inputs, false, 1);
  for (size_t i = 0; i < x.size(); ++i) {
    const double expected = x[i] < -90 ? 0 : x[i] / (1 + std::exp(-static_cast<double>(x[i])));
    const float got = y.values<float>()[i];
    if (std::isnan(x[i]) || std::isinf(x[i])) {
      EXPECT_TRUE(std::isnan(x[i]) ? std::isnan(got) : got == x[i]) << x[i] << ": " << got;
    } else {
      EXPECT_NEAR(got, expected, 0x1.2p-8 * std::abs(expected) + 1e-35) << x[i];
    }
  }
}

TEST_P(HalfConvolution, PoolsWhatItGives) {
  const Pool pools[] = {
      {.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2},
      {.kernel_h = 3, .kernel_w = 3, .stride_h = 2, .stride_w = 2, .ceil_mode = true},
      {.kernel_h = 3, .kernel_w = 2, .pad_top = 1, .pad_left = 1, .pad_bottom = 1},
      {.kernel_h = 3, .kernel_w = 3, .stride_h = 2, .stride_w = 2, .dilation_h = 2, .pad_top = 2, .pad_bottom = 2},
  };
  for (const char* text :
       {"n3_c64h40w57_k48r3s3_p1", "n2_c3h101w99_k40r7s7_p3_st2", "n2_c64h12w17_k48r1s1", "n2_c480h12w9_k264r3s3_p1",
        "n2_c32h20w20_k32r3s3_p0x1x0x1_g2", "n2_c64h33w35_k48r3s3_p1_st2"}) {
    const ConvProblem problem = parse_problem(text);
    for (const Pool& pool : pools) {
      SCOPED_TRACE(fmt::format("{} {}", text, to_text(pool)));
      ConvStep step{.problem = problem,
                    .epilogue = {.bias = true, .activation = {ActivationKind::relu}},
                    .input_format = problem.c % kChannelLanes != 0 ? kNchw : kNhwcBf16,
                    .output_format = kNhwcBf16};
      if (kernel().refuses(step, open_cpu({.threads = 1})->caps())) continue;
      Inputs inputs{random(problem.input_shape(), 1), random(problem.filter_shape(), 2), random({problem.k}, 3),
                    random(problem.output_shape(), 4)};
      const Tensor convolved = convolve(kernel(), step, inputs, false, 1);
      const Tensor expected = run(PoolOp{pool}, {&convolved});
      step.epilogue.pool = pool;
      inputs.added = random(step.output_shape(), 4);
      for (const int threads : {1, 3}) {
        expect_same_bits(convolve(kernel(), step, inputs, threads == 3, threads), expected);
      }
    }
  }
}

}  // namespace
}  // namespace convlab
