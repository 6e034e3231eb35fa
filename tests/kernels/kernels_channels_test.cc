// Tests fused and joint nchw8c convolutions: with an added array (if supported), with any
// activation, and on parts of joint arrays, the results must equal those of the bare step, added and activated
// separately, bit by bit; with every instruction set, any number of threads, and image by image.

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "convlab/base/rng.h"
#include "convlab/device/cpu.h"
#include "convlab/kernels/cpu/simd/vector_epilogue.h"
#include "convlab/kernels/registry.h"
#include "tests/kernels/channel_checks.h"
#include "tests/support/kernels_simd_targets.h"

namespace convlab {
namespace {

struct Case {
  const char* kernel;
  const char* problem;
  bool adds = true;  ///< whether the kernel supports it
};

constexpr Case kCases[] = {
    {"cpu.nchw8c_depthwise", "n3_c24h9w19_k24r3s3_p1_g24"},
    {"cpu.nchw8c_depthwise", "n2_c16h7w7_k16r5s5_p2_g16"},
    {"cpu.nchw8c_depthwise", "n2_c8h15w18_k8r3s3_p1_st2_g8"},
    {"cpu.nchw8c_depthwise", "n2_c8h9w9_k8r3s3_p2_d2_g8"},
    {"cpu.nchw8c_depthwise", "n2_c8h9w16_k8r7s7_p3_g8"},
    {"cpu.nchw8c_first", "n3_c3h19w21_k40r7s7_p3_st2"},
    {"cpu.nchw8c_first", "n2_c1h11w14_k8r3s3_p1"},
    {"cpu.nchw8c_first", "n2_c4h30w31_k16r11s11_p2_st4"},
    {"cpu.nchw8c_dense", "n5_c48h1w1_k200r1s1", false},
    {"cpu.nchw8c_dense", "n3_c16h1w1_k8r1s1", false},
    {"cpu.nchw8c_dense", "c328h1w1_k48r1s1", false},
};

Tensor random(const Shape& shape, uint64_t seed) {
  Rng rng(seed);
  Tensor tensor(ElementType::f32, shape);
  for (float& value : tensor.values<float>()) value = rng.uniform(-1, 1);
  return tensor;
}

struct Inputs {
  Tensor x, w, bias, added;
};

Inputs inputs_of(const ConvProblem& problem) {
  return {random(problem.input_shape(), 1), random(problem.filter_shape(), 2), random({problem.k}, 3),
          random(problem.output_shape(), 4)};
}

Tensor convolve(const Kernel& kernel, ConvStep step, const Inputs& inputs, bool joint, int threads) {
  const std::unique_ptr<Device> device = open_cpu({.threads = threads});
  const std::unique_ptr<Stream> stream = device->make_stream();
  step.output_format = kNchw8c;
  step.input_format = step.problem.c % kChannelLanes == 0 ? kNchw8c : kNchw;
  std::optional<LaneArray> x;
  if (step.input_format == kNchw8c) {
    x.emplace(*device, inputs.x, joint);
    step.input_step = x->step();
  }
  const LaneArray added(*device, inputs.added, joint), y(*device, step.output_shape(), joint);
  step.added_step = added.step();
  step.output_step = y.step();
  EXPECT_EQ(kernel.refuses(step, device->caps()), std::nullopt);
  const Buffer prepared = device->allocate(prepared_bytes(kernel, step, device->caps()));
  const Buffer workspace = device->allocate(workspace_bytes(kernel, step, device->caps()));
  const ConvArgs args{.step = step,
                      .x = x ? x->first() : inputs.x.raw(),
                      .w = inputs.w.values<float>().data(),
                      .bias = step.epilogue.bias ? inputs.bias.values<float>().data() : nullptr,
                      .added = step.adds ? added.first() : nullptr,
                      .y = y.first(),
                      .prepared = prepared.data(),
                      .workspace = workspace.data()};
  call(kernel.prepare, args, *stream);
  call(kernel.launch, args, *stream);
  stream->synchronize();
  return y.images();
}

class ChannelConvolution : public testing::TestWithParam<std::tuple<int64_t, Case>> {
 protected:
  Case kase() const { return std::get<1>(GetParam()); }
  const Kernel& kernel() const { return require_conv_kernel(kase().kernel, DeviceKind::cpu); }
  ConvProblem problem() const { return parse_problem(kase().problem); }

 private:
  ForcedTarget forced_{std::get<0>(GetParam())};
};

INSTANTIATE_TEST_SUITE_P(Cpu, ChannelConvolution,
                         testing::Combine(testing::ValuesIn(simd_targets()), testing::ValuesIn(kCases)),
                         [](const auto& info) {
                           const Case kase = std::get<1>(info.param);
                           std::string name = fmt::format("{}_{}_{}", kase.kernel, kase.problem,
                                                          hwy::TargetName(std::get<0>(info.param)));
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST_P(ChannelConvolution, AddsAndActivates) {
  const Inputs inputs = inputs_of(problem());
  const Tensor sums = convolve(kernel(), {.problem = problem(), .epilogue = {.bias = true}}, inputs, false, 1);
  const Activation activations[] = {
      {ActivationKind::none},  {ActivationKind::relu},       {ActivationKind::clip, -0.25f, 0.5f},
      {ActivationKind::swish}, {ActivationKind::hard_swish}, {ActivationKind::leaky_relu, 0.1f}};
  for (const Activation& activation : activations) {
    Tensor expected = sums.clone();
    const std::span<float> values = expected.values<float>();
    for (size_t i = 0; kase().adds && i < values.size(); ++i) values[i] += inputs.added.values<float>()[i];
    activate(activation, values.data(), static_cast<int64_t>(values.size()));
    for (const bool joint : {false, true}) {
      for (const int threads : {1, 2, 3}) {
        SCOPED_TRACE(fmt::format("{}, joint: {}, {} threads", to_text(activation), joint, threads));
        const ConvStep step{
            .problem = problem(), .epilogue = {.bias = true, .activation = activation}, .adds = kase().adds};
        expect_same_bits(convolve(kernel(), step, inputs, joint, threads), expected);
      }
    }
  }
}

TEST_P(ChannelConvolution, ComputesEachImageAlike) {
  const Inputs inputs = inputs_of(problem());
  const ConvStep step{.problem = problem(), .adds = kase().adds};
  const Tensor all = convolve(kernel(), step, inputs, true, 2);
  ConvStep single = step;
  single.problem.n = 1;
  for (int64_t n = 0; n < step.problem.n; ++n) {
    const Inputs own{image_of(inputs.x, n), inputs.w.clone(), inputs.bias.clone(), image_of(inputs.added, n)};
    expect_same_bits(convolve(kernel(), single, own, false, 3), image_of(all, n));
  }
}

}  // namespace
}  // namespace convlab
