// Dense layers in Layout::lane_pairs and split_lane_pairs, by every unit that this processor has and with every
// instruction set. Convolutions in them are verified in kernels_cpu_conv_test.cc.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "convlab/base/bf16.h"
#include "convlab/base/rng.h"
#include "convlab/kernels/cpu_bf16.h"
#include "convlab/kernels/op.h"
#include "convlab/kernels/registry.h"
#include "kernels_simd_targets.h"

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

  const OpKernel& kernel() const {
    return *std::find_if(op_kernels().begin(), op_kernels().end(),
                         [](const OpKernel& each) { return each.name == std::get<1>(GetParam()); });
  }
};

INSTANTIATE_TEST_SUITE_P(Cpu, CpuPairs,
                         testing::Combine(testing::ValuesIn(simd_targets()),
                                          testing::Values("cpu.dense_amx_bf16", "cpu.dense_amx_bf16x2",
                                                          "cpu.dense_avx512_bf16", "cpu.dense_avx512_bf16x2",
                                                          "cpu.dense_pairs_bf16", "cpu.dense_pairs_bf16x2")),
                         [](const auto& info) {
                           std::string name = std::get<1>(info.param);
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name + "_" + hwy::TargetName(std::get<0>(info.param));
                         });

/// An image batch of n, c and `pixels`, plain, and how pairs of it lie in a layout.
struct Images {
  int64_t n, c, pixels;
  Layout layout;

  Shape shape() const { return {n, c, pixels, 1}; }
  bool split() const { return layout == Layout::split_lane_pairs; }
  int64_t pairs() const { return (c + 1) / 2; }
  int64_t plane() const { return pixels * pairs() * 2 * kImageLanes; }
  int64_t at(int64_t image, int64_t channel, int64_t pixel) const {
    const int64_t block = image / kImageLanes * plane() * (split() ? 2 : 1);
    return block + ((pixel * pairs() + channel / 2) * kImageLanes + image % kImageLanes) * 2 + channel % 2;
  }
};

/// NaN in lanes without an image, zero in channels that do not exist.
std::vector<uint16_t> packed(const Images& images, const std::vector<float>& plain) {
  std::vector<uint16_t> bits(static_cast<size_t>(element_count(images.shape(), images.layout)));
  const int64_t blocks = (images.n + kImageLanes - 1) / kImageLanes;
  for (int64_t n = 0; n < blocks * kImageLanes; ++n) {
    for (int64_t c = 0; c < images.c; ++c) {
      for (int64_t pixel = 0; pixel < images.pixels; ++pixel) {
        const float value = n < images.n ? plain[static_cast<size_t>((n * images.c + c) * images.pixels + pixel)] : NAN;
        bits[static_cast<size_t>(images.at(n, c, pixel))] = to_bf16(value);
        if (!images.split()) continue;
        bits[static_cast<size_t>(images.at(n, c, pixel) + images.plane())] = to_bf16(value - from_bf16(to_bf16(value)));
      }
    }
  }
  return bits;
}

std::vector<float> random_values(int64_t count, uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = rng.uniform(-1, 1);
  return values;
}

/// Runs a kernel, its workspace and output filled with NaN; the bytes of the output.
std::vector<std::byte> run(const OpKernel& kernel, const OpStep& step, const std::vector<uint16_t>& x,
                           const std::vector<float>& w, const std::vector<float>& bias, int threads) {
  const auto device = open_device("cpu", {.threads = threads});
  const auto stream = device->make_stream();
  const auto copied = [&](const void* from, size_t bytes) {
    Buffer buffer = device->allocate(bytes);
    std::memcpy(buffer.data(), from, bytes);
    return buffer;
  };
  const Buffer images = copied(x.data(), x.size() * 2), weights = copied(w.data(), w.size() * 4),
               added = copied(bias.data(), bias.size() * 4);
  constexpr size_t kGuard = 64;
  const auto guarded = [&](size_t bytes) {
    Buffer buffer = device->allocate(bytes + kGuard);
    std::memset(buffer.data(), 0xff, bytes + kGuard);
    return buffer;
  };
  const auto bytes = static_cast<size_t>(layout_bytes(step.output, step.output_layout));
  const Buffer prepared = guarded(kernel.prepared_bytes(step)), workspace = guarded(kernel.workspace_bytes(step)),
               output = guarded(bytes);
  const std::vector<const float*> inputs{static_cast<const float*>(images.data()),
                                         static_cast<const float*>(weights.data()),
                                         static_cast<const float*>(added.data())};
  const OpArgs args{step, inputs, static_cast<float*>(output.data()), prepared.data(), workspace.data()};
  kernel.prepare(args, *stream);
  kernel.launch(args, *stream);
  for (const Buffer* buffer : {&prepared, &workspace, &output}) {
    const auto* end = static_cast<const std::byte*>(buffer->data()) + buffer->bytes() - kGuard;
    EXPECT_TRUE(std::all_of(end, end + kGuard, [](std::byte each) { return each == std::byte{0xff}; })) << "overrun";
  }
  const auto* first = static_cast<const std::byte*>(output.data());
  return {first, first + bytes};
}

float element(const std::vector<std::byte>& bytes, const Images& images, int64_t image, int64_t channel) {
  const auto bits = [&](int64_t at) {
    uint16_t value = 0;
    std::memcpy(&value, bytes.data() + 2 * at, 2);
    return from_bf16(value);
  };
  const int64_t at = images.at(image, channel, 0);
  return bits(at) + (images.split() ? bits(at + images.plane()) : 0.0f);
}

struct Case {
  int64_t n, c, pixels, outputs;
};

TEST_P(CpuPairs, DenseLayersAreRight) {
  const OpKernel& dense = kernel();
  const bool split = dense.math == Math::bf16x2;
  for (const Case& size :
       {Case{1, 1, 1, 1}, {16, 2, 16, 16}, {17, 3, 11, 17}, {50, 12, 40, 33}, {33, 31, 1, 10}, {100, 5, 121, 50}}) {
    for (const bool transposed : {false, true}) {
      const Images x{size.n, size.c, size.pixels, dense.layout};
      const int64_t terms = size.c * size.pixels;
      OpStep step{.op = GemmOp{.alpha = 0.5f, .transpose_b = transposed},
                  .inputs = {{size.n, terms},
                             transposed ? Shape{size.outputs, terms} : Shape{terms, size.outputs},
                             {size.outputs}},
                  .output = {size.n, size.outputs},
                  .activation = {ActivationKind::tanh},
                  .constant = {false, true, true},
                  .input_layout = dense.layout,
                  .written = x.shape()};
      if (const Refusal refusal = dense.refuses(step)) GTEST_SKIP() << *refusal;
      const std::vector<float> plain = random_values(size.n * terms, 1), b = random_values(terms * size.outputs, 2),
                               bias = random_values(size.outputs, 3);
      for (const Layout layout : {Layout::plain, dense.layout}) {
        step.output_layout = layout;
        const std::vector<std::byte> got = run(dense, step, packed(x, plain), b, bias, 3);
        EXPECT_EQ(run(dense, step, packed(x, plain), b, bias, 1), got) << "depends on the threads";
        const Images y{size.n, size.outputs, 1, dense.layout};
        for (int64_t i = 0; i < size.n; ++i) {
          for (int64_t j = 0; j < size.outputs; ++j) {
            double sum = bias[static_cast<size_t>(j)], scale = std::abs(sum);
            for (int64_t k = 0; k < terms; ++k) {
              const double product = 0.5 * plain[static_cast<size_t>(i * terms + k)] *
                                     b[static_cast<size_t>(transposed ? j * terms + k : k * size.outputs + j)];
              sum += product;
              scale += std::abs(product);
            }
            float value = 0;
            if (layout == Layout::plain) {
              std::memcpy(&value, got.data() + 4 * (i * size.outputs + j), 4);
            } else {
              value = element(got, y, i, j);
            }
            // What operands lose, and the output; errors of many products cancel in part.
            const double unit = split ? 0x1p-16 : 0x1p-8;
            const double tolerance = 4 * unit * scale / std::sqrt(static_cast<double>(terms + 1)) + 2 * unit;
            ASSERT_LE(std::abs(value - std::tanh(sum)), tolerance) << size.n << " " << terms << " at " << i << " " << j;
          }
        }
      }
    }
  }
}

TEST_P(CpuPairs, ANanStaysInItsImage) {
  const OpKernel& dense = kernel();
  const Images x{20, 7, 9, dense.layout};
  const OpStep step{.op = GemmOp{.transpose_b = true},
                    .inputs = {{20, 63}, {5, 63}, {5}},
                    .output = {20, 5},
                    .constant = {false, true, true},
                    .input_layout = dense.layout,
                    .written = x.shape()};
  if (const Refusal refusal = dense.refuses(step)) GTEST_SKIP() << *refusal;
  std::vector<float> plain = random_values(20 * 63, 1);
  plain[18 * 63 + 62] = NAN;
  const std::vector<std::byte> got =
      run(dense, step, packed(x, plain), random_values(5 * 63, 2), random_values(5, 3), 2);
  for (int64_t i = 0; i < 20 * 5; ++i) {
    float value = 0;
    std::memcpy(&value, got.data() + 4 * i, 4);
    EXPECT_EQ(std::isnan(value), i / 5 == 18) << i;
  }
}

TEST_P(CpuPairs, RefusesInWords) {
  const OpKernel& dense = kernel();
  const OpStep step{.op = GemmOp{},
                    .inputs = {{20, 4}, {4, 3}, {3}},
                    .output = {20, 3},
                    .constant = {false, true, true},
                    .input_layout = dense.layout,
                    .written = {20, 4}};
  if (const Refusal refusal = dense.refuses(step)) GTEST_SKIP() << *refusal;
  const auto refusal = [&](const auto& change) {
    OpStep changed = step;
    change(changed);
    return dense.refuses(changed).value_or("");
  };
  EXPECT_NE(refusal([](OpStep& s) { s.op = MatMulOp{}; }), "");
  EXPECT_NE(refusal([](OpStep& s) { s.op = GemmOp{.beta = 2}; }), "");
  EXPECT_NE(refusal([](OpStep& s) { s.op = GemmOp{.transpose_a = true}; }), "");
  EXPECT_NE(refusal([](OpStep& s) { s.inputs[2] = {20, 3}; }), "");
  EXPECT_NE(refusal([](OpStep& s) { s.constant[1] = false; }), "");
  EXPECT_NE(refusal([](OpStep& s) { s.input_layout = Layout::plain; }), "");
  EXPECT_NE(refusal([](OpStep& s) { s.written = {20}; }), "");
  EXPECT_EQ(find_op_kernel(step, DeviceKind::cpu), nullptr) << "fp32 is asked for";
}

TEST(CpuUnits, AbsentOnesSaySoAndVectorsAreEverywhere) {
  EXPECT_TRUE(has_unit(Bf16Unit::vectors));
  const ConvStep step{.problem = parse_problem("c2h5w5_k2r3s3")};
  for (const auto& [name, unit] : {std::pair{"cpu.pairs_bf16", Bf16Unit::vectors},
                                   {"cpu.avx512_bf16", Bf16Unit::avx512_bf16},
                                   {"cpu.amx_bf16x2", Bf16Unit::amx}}) {
    const ConvKernel& kernel = require_conv_kernel(name, DeviceKind::cpu);
    EXPECT_EQ(kernel.absent().has_value(), !has_unit(unit)) << name;
    EXPECT_EQ(kernel.refuses(step, {}).has_value(), !has_unit(unit)) << name;
  }
}

}  // namespace
}  // namespace convlab
