// Tests dense layers in nchw16n2c, on every multiply unit of this processor
// and with every instruction set. kernels_cpu_conv_test.cc verifies convolutions in these layouts.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "convlab/base/bf16.h"
#include "convlab/base/rng.h"
#include "convlab/device/devices.h"
#include "convlab/kernels/cpu/simd/bf16_tiles.h"
#include "convlab/kernels/registry.h"
#include "convlab/kernels/select.h"
#include "convlab/tensor/format.h"
#include "tests/support/dense_layers.h"
#include "tests/support/kernels_simd_targets.h"

namespace convlab {
namespace {

TEST(Bf16, RoundsToNearestEvenAndKeepsNan) {
  EXPECT_EQ(to_bf16(1.0f), 0x3f80);
  EXPECT_EQ(to_bf16(1 + 0x1p-8f), 0x3f80) << "a tie goes to the even one";
  EXPECT_EQ(to_bf16(1 + 0x3p-8f), 0x3f82) << "a tie goes to the even one";
  EXPECT_EQ(to_bf16(1 + 0x1.02p-8f), 0x3f81);
  EXPECT_EQ(to_bf16(INFINITY), 0x7f80);
  EXPECT_EQ(to_bf16(3.4e38f), 0x7f80);
  EXPECT_TRUE(std::isnan(from_bf16(to_bf16(std::bit_cast<float>(0x7fffffffu)))));
  for (int pixel = 0; pixel < 256; ++pixel) EXPECT_EQ(from_bf16(to_bf16(static_cast<float>(pixel))), pixel);
}

class CpuPairs : public testing::TestWithParam<std::tuple<int64_t, const char*>> {
 protected:
  ForcedTarget forced_{std::get<0>(GetParam())};

  const Kernel& kernel() const { return require_kernel(std::get<1>(GetParam()), DeviceKind::cpu); }
};

INSTANTIATE_TEST_SUITE_P(
    Cpu, CpuPairs,
    testing::Combine(testing::ValuesIn(simd_targets()),
                     testing::Values("cpu.nchw16n2c_dense_amx_bf16", "cpu.nchw16n2c_dense_amx_bf16x2",
                                     "cpu.nchw16n2c_dense_avx512_bf16", "cpu.nchw16n2c_dense_avx512_bf16x2",
                                     "cpu.nchw16n2c_dense_bf16", "cpu.nchw16n2c_dense_bf16x2")),
    [](const auto& info) {
      std::string name = std::get<1>(info.param);
      std::replace(name.begin(), name.end(), '.', '_');
      return name + "_" + hwy::TargetName(std::get<0>(info.param));
    });

std::vector<float> random_values(int64_t count, uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = rng.uniform(-1, 1);
  return values;
}

/// Runs a kernel on nchw images of shape step.inputs[0].written, with its workspace and output filled with NaN; returns
/// its output in the plain order.
std::vector<float> run(const Kernel& kernel, const Step& step, const std::vector<float>& x, const std::vector<float>& w,
                       const std::vector<float>& bias, int threads) {
  const Tensor pairs = pack(Tensor::of<float>(step.inputs[0].written, x), kernel.format);
  const auto device = open_device("cpu", {.threads = threads});
  const auto stream = device->make_stream();
  const auto copied = [&](const void* from, size_t bytes) {
    Buffer buffer = device->allocate(bytes);
    std::memcpy(buffer.data(), from, bytes);
    return buffer;
  };
  const Buffer images = copied(pairs.raw(), pairs.bytes()), weights = copied(w.data(), w.size() * 4),
               added = copied(bias.data(), bias.size() * 4);
  constexpr size_t kGuard = 64;
  const auto guarded = [&](size_t bytes) {
    Buffer buffer = device->allocate(bytes + kGuard);
    std::memset(buffer.data(), 0xff, bytes + kGuard);
    return buffer;
  };
  const auto bytes = static_cast<size_t>(byte_count(step.outputs[0].shape, step.outputs[0].format));
  const Buffer prepared = guarded(prepared_bytes(kernel, step, device->caps())),
               workspace = guarded(workspace_bytes(kernel, step, device->caps())), output = guarded(bytes);
  const void* inputs[] = {images.data(), weights.data(), added.data()};
  void* const outputs[] = {output.data()};
  const Args args{step, inputs, outputs, prepared.data(), workspace.data()};
  kernel.prepare(args, *stream);
  kernel.launch(args, *stream);
  for (const Buffer* buffer : {&prepared, &workspace, &output}) {
    const auto* end = static_cast<const std::byte*>(buffer->data()) + buffer->bytes() - kGuard;
    EXPECT_TRUE(std::all_of(end, end + kGuard, [](std::byte each) { return each == std::byte{0xff}; })) << "overrun";
  }
  return unpack(output.data(), step.outputs[0].shape, step.outputs[0].format);
}

struct Case {
  int64_t n, c, pixels, outputs;
};

TEST_P(CpuPairs, DenseLayersAreRight) {
  const Kernel& dense = kernel();
  const bool split = dense.info.math == Math::bf16x2;
  for (const Case& size :
       {Case{1, 1, 1, 1}, {16, 2, 16, 16}, {17, 3, 11, 17}, {50, 12, 40, 33}, {33, 31, 1, 10}, {100, 5, 121, 50}}) {
    for (const bool transposed : {false, true}) {
      const int64_t terms = size.c * size.pixels;
      const Shape weights = transposed ? Shape{size.outputs, terms} : Shape{terms, size.outputs};
      Step step = dense_step(GemmOp{.alpha = 0.5f, .transpose_b = transposed},
                             {{size.n, terms}, weights, {size.outputs}}, {size.n, size.outputs}, dense.format);
      step.epilogue.activation = {ActivationKind::tanh};
      step.inputs[0].written = {size.n, size.c, size.pixels, 1};
      if (const Refusal refusal = dense.refuses(step, {})) GTEST_SKIP() << *refusal;
      const std::vector<float> plain = random_values(size.n * terms, 1), b = random_values(terms * size.outputs, 2),
                               bias = random_values(size.outputs, 3);
      for (const Format format : {kNchw, dense.format}) {
        step.outputs[0].format = format;
        const std::vector<float> got = run(dense, step, plain, b, bias, 3);
        EXPECT_EQ(run(dense, step, plain, b, bias, 1), got) << "depends on the threads";
        for (int64_t i = 0; i < size.n; ++i) {
          for (int64_t j = 0; j < size.outputs; ++j) {
            double sum = bias[static_cast<size_t>(j)], scale = std::abs(sum);
            for (int64_t k = 0; k < terms; ++k) {
              const double product = 0.5 * plain[static_cast<size_t>(i * terms + k)] *
                                     b[static_cast<size_t>(transposed ? j * terms + k : k * size.outputs + j)];
              sum += product;
              scale += std::abs(product);
            }
            const float value = got[static_cast<size_t>(i * size.outputs + j)];
            // The rounding errors of operands and of the output; those of many products cancel in part.
            const double unit = split ? 0x1p-16 : 0x1p-8;
            const double tolerance = 4 * unit * scale / std::sqrt(static_cast<double>(terms + 1)) + 2 * unit;
            ASSERT_LE(std::abs(value - std::tanh(sum)), tolerance) << size.n << " " << terms << " at " << i << " " << j;
          }
        }
      }
    }
  }
}

TEST_P(CpuPairs, TanhIsTheNearestNumberOrAlmost) {
  const Kernel& dense = kernel();
  std::vector<float> x;
  for (uint16_t bits = to_bf16(0x1p-60f); bits < to_bf16(INFINITY); ++bits) {
    x.push_back(from_bf16(bits));
    x.push_back(-x.back());
  }
  const auto count = static_cast<int64_t>(x.size());
  Step step = dense_step(GemmOp{.transpose_b = true}, {{count, 1}, {1, 1}, {1}}, {count, 1}, dense.format);
  step.epilogue.activation = {ActivationKind::tanh};
  step.inputs[0].written = {count, 1};
  step.outputs[0].format = dense.format;
  if (const Refusal refusal = dense.refuses(step, {})) GTEST_SKIP() << *refusal;
  const std::vector<float> got = run(dense, step, x, {1}, {0}, 1);
  // Rounding to bf16 is off by at most half a unit; TanhTable adds at most a quarter, or a little more beyond its
  // limit.
  const double most = dense.info.math == Math::bf16 ? 0.8 * 0x1p-8 : 0x1p-16;
  for (size_t i = 0; i < x.size(); ++i) {
    const double expected = std::tanh(static_cast<double>(x[i]));
    int exponent = 0;
    std::frexp(expected, &exponent);
    ASSERT_LE(std::abs(got[i] - expected), std::ldexp(most, exponent)) << x[i];
  }
}

TEST_P(CpuPairs, ANanStaysInItsImage) {
  const Kernel& dense = kernel();
  Step step = dense_step(GemmOp{.transpose_b = true}, {{20, 63}, {5, 63}, {5}}, {20, 5}, dense.format);
  step.inputs[0].written = {20, 7, 9, 1};
  if (const Refusal refusal = dense.refuses(step, {})) GTEST_SKIP() << *refusal;
  std::vector<float> plain = random_values(20 * 63, 1);
  plain[18 * 63 + 62] = NAN;
  const std::vector<float> got = run(dense, step, plain, random_values(5 * 63, 2), random_values(5, 3), 2);
  for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(std::isnan(got[i]), i / 5 == 18) << i;
}

TEST_P(CpuPairs, RefusesInWords) {
  const Kernel& dense = kernel();
  Step step = dense_step(GemmOp{}, {{20, 4}, {4, 3}, {3}}, {20, 3}, dense.format);
  step.inputs[0].written = {20, 4};
  if (const Refusal refusal = dense.refuses(step, {})) GTEST_SKIP() << *refusal;
  const auto refusal = [&](const auto& change) {
    Step changed = step;
    change(changed);
    return dense.refuses(changed, {}).value_or("");
  };
  EXPECT_NE(refusal([](Step& s) { s.op = MatMulOp{}; }), "");
  EXPECT_NE(refusal([](Step& s) { s.op = GemmOp{.beta = 2}; }), "");
  EXPECT_NE(refusal([](Step& s) { s.op = GemmOp{.transpose_a = true}; }), "");
  EXPECT_NE(refusal([](Step& s) { s.inputs[2].shape = {20, 3}; }), "");
  EXPECT_NE(refusal([](Step& s) { s.inputs[1].constant = false; }), "");
  EXPECT_NE(refusal([](Step& s) { s.inputs[0].format = kNchw; }), "");
  EXPECT_NE(refusal([](Step& s) { s.inputs[0].written = {20}; }), "");
  EXPECT_EQ(find_kernel(step, {.kind = DeviceKind::cpu}), nullptr) << "fp32 is asked for";
}

TEST(CpuPairsOfBytes, ANanWeightSpoilsItsMapAlone) {
  const auto device = open_device("cpu", {.threads = 2});
  const auto stream = device->make_stream();
  for (const char* name : {"cpu.nchw16n2c_bf16", "cpu.nchw16n2c_bf16x2", "cpu.nchw16n2c_avx512_bf16",
                           "cpu.nchw16n2c_amx_bf16", "cpu.nchw16n2c_amx_bf16x2"}) {
    const Kernel& kernel = require_conv_kernel(name, DeviceKind::cpu);
    const ConvStep step{.problem = parse_problem("n16_c1h9w9_k4r3s3"),
                        .epilogue = {.pool = Pool{.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2},
                                     .activation = {ActivationKind::tanh}},
                        .input_format = kRawPixels,
                        .output_format = kernel.format};
    if (kernel.refuses(step, device->caps())) continue;  // absent: covered by another test
    const Buffer x = device->allocate(static_cast<size_t>(step.problem.input_count())),
                 w = device->allocate(4 * 9 * sizeof(float)),
                 prepared = device->allocate(kernel.prepared_bytes(step, device->caps())),
                 workspace = device->allocate(kernel.workspace_bytes(step, device->caps()));
    const Buffer y = device->allocate(static_cast<size_t>(byte_count(step.output_shape(), kernel.format)));
    std::fill_n(static_cast<uint8_t*>(x.data()), step.problem.input_count(), uint8_t{200});
    auto* const weights = static_cast<float*>(w.data());
    std::fill_n(weights, 36, 0.01f);
    weights[9 + 4] = NAN;
    const ConvArgs args{.step = step,
                        .x = x.data(),
                        .w = weights,
                        .y = static_cast<float*>(y.data()),
                        .prepared = prepared.data(),
                        .workspace = workspace.data()};
    call(kernel.prepare, args, *stream);
    call(kernel.launch, args, *stream);
    const std::vector<float> got = unpack(y.data(), step.output_shape(), kernel.format);
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(std::isnan(got[i]), i / 9 % 4 == 1) << name << " " << i;
    }
  }
}

TEST(CpuUnits, AbsentOnesSaySoAndVectorsAreEverywhere) {
  EXPECT_TRUE(has_unit(Bf16Unit::vectors));
  const ConvStep step{.problem = parse_problem("c2h5w5_k2r3s3")};
  for (const auto& [name, unit] : {std::pair{"cpu.nchw16n2c_bf16", Bf16Unit::vectors},
                                   {"cpu.nchw16n2c_avx512_bf16", Bf16Unit::avx512_bf16},
                                   {"cpu.nchw16n2c_amx_bf16x2", Bf16Unit::amx}}) {
    const Kernel& kernel = require_conv_kernel(name, DeviceKind::cpu);
    EXPECT_EQ(kernel.absent().has_value(), !has_unit(unit)) << name;
    EXPECT_EQ(kernel.refuses(step, {}).has_value(), !has_unit(unit)) << name;
  }
}

// Otherwise `verify` and `bench` would crash with an illegal instruction.
TEST(CpuUnits, AbsentKernelsRefuseEveryStep) {
  for (const Kernel& kernel : conv_kernels()) {
    if (kernel.absent == nullptr || !kernel.absent()) continue;
    for (const Format input : {kernel.format, kNchw}) {
      const ConvStep step{
          .problem = parse_problem("c16h8w8_k16r3s3_p1"), .input_format = input, .output_format = kernel.format};
      EXPECT_TRUE(kernel.refuses(step, {})) << kernel.info.name;
    }
  }
}

}  // namespace
}  // namespace convlab
