// Tests the matrix product and the dense layer that uses it, with every instruction set.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "convlab/base/bf16.h"
#include "convlab/base/half.h"
#include "convlab/base/rng.h"
#include "convlab/device/devices.h"
#include "convlab/kernels/cpu/gemm/gemm.h"
#include "convlab/kernels/cpu/simd/bf16_tiles.h"
#include "convlab/kernels/registry.h"
#include "convlab/kernels/select.h"
#include "convlab/tensor/format.h"
#include "tests/support/dense_layers.h"
#include "tests/support/kernels_simd_targets.h"

namespace convlab {
namespace {

class CpuGemm : public testing::TestWithParam<int64_t> {
 protected:
  ForcedTarget forced_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Cpu, CpuGemm, testing::ValuesIn(simd_targets()),
                         [](const auto& info) { return std::string(hwy::TargetName(info.param)); });

struct How {
  bool backwards = false;
  bool small = false;  ///< B packed by pack_b_small()
};

/// Returns C = A * B by gemm(), with its scratch filled with NaN.
std::vector<float> product(int64_t m, int64_t n, int64_t k, const std::vector<float>& a, const std::vector<float>& b,
                           ThreadPool& threads, How how = {}) {
  std::vector<float> packed(static_cast<size_t>(packed_b_count(k, n)) + 16), c(static_cast<size_t>(m * n), NAN);
  std::vector<float> workspace(static_cast<size_t>(gemm_workspace_count(m, n, k)), NAN);
  // gemm() reads packed B with aligned loads.
  float* aligned = packed.data() + (64 - reinterpret_cast<uintptr_t>(packed.data()) % 64) % 64 / sizeof(float);
  const PackedB ready = (how.small ? pack_b_small : pack_b)(b.data(), k, n, false, 1, aligned, threads);
  gemm({.m = m, .n = n, .k = k, .a = a.data(), .b = ready, .c = c.data(), .backwards = how.backwards}, workspace.data(),
       threads);
  return c;
}

TEST_P(CpuGemm, ProductsAreRight) {
  ThreadPool threads(2);
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{1, 1, 1},
                                {1, 160, 513},
                                {7, 33, 256},
                                {13, 31, 257},
                                {16, 10, 700},
                                {17, 10, 700},
                                {25, 64, 300},
                                {250, 65, 70},
                                {481, 3, 5}}) {
    const std::vector<float> a = random_values(m * k, 1), b = random_values(k * n, 2);
    const std::vector<float> c = product(m, n, k, a, b, threads);
    double error = 0, norm = 0;
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < k; ++l) sum += static_cast<double>(a[i * k + l]) * b[l * n + j];
        error += (c[i * n + j] - sum) * (c[i * n + j] - sum);
        norm += sum * sum;
      }
    }
    EXPECT_LE(std::sqrt(error), 1e-6 * std::sqrt(norm)) << m << " " << n << " " << k;
  }
}

TEST_P(CpuGemm, SameBitsWhateverTheBatchAndTheThreads) {
  constexpr int64_t kMost = 70, kN = 45, kK = 900;
  const std::vector<float> a = random_values(kMost * kK, 1), b = random_values(kK * kN, 2);
  ThreadPool one(1), three(3);
  const std::vector<float> all = product(kMost, kN, kK, a, b, one);
  for (const int64_t m : {1, 2, 7, 16, 17, 70}) {
    const std::vector<float> some = product(m, kN, kK, a, b, three);
    EXPECT_EQ(some, std::vector<float>(all.begin(), all.begin() + m * kN)) << m;
    EXPECT_EQ(product(m, kN, kK, a, b, three, {.backwards = true}), some) << m << " backwards";
  }
}

TEST_P(CpuGemm, Float16NumbersArePackedAsSuchAndGiveTheSameBits) {
  ThreadPool threads(2);
  const bool converts = GetParam() != HWY_SSE4 && GetParam() != HWY_SCALAR;
  for (const auto& [n, k] :
       {std::pair<int64_t, int64_t>{1, 2}, {32, 129}, {64, 128}, {75, 300}, {160, 513}, {200, 140}}) {
    std::vector<float> b = random_values(k * n, 3);
    for (float& value : b) value = half_to_float(float_to_half(value));
    b.front() = 0x1p-24f;  // the smallest positive fp16 number
    b.back() = -0.0f;
    for (const int64_t m : {1, 2, 16, 17}) {
      const std::vector<float> a = random_values(m * k, 4);
      EXPECT_EQ(product(m, n, k, a, b, threads, {.small = true}), product(m, n, k, a, b, threads)) << m << " " << n;
    }
    std::vector<float> packed(static_cast<size_t>(packed_b_count(k, n)));
    EXPECT_EQ(pack_b_small(b.data(), k, n, false, 1, packed.data(), threads).as == PackedAs::f16, converts);
    EXPECT_EQ(pack_b_small(b.data(), k, n, false, 0x1p-12f, packed.data(), threads).as, PackedAs::f32);
    for (const float other : {0.1f, 65519.0f, 0x1p-25f, NAN}) {
      b.front() = other;
      EXPECT_EQ(pack_b_small(b.data(), k, n, false, 1, packed.data(), threads).as, PackedAs::f32) << other;
    }
  }
}

/// B packed as bf16, in one of the bf16 formats.
struct PackedPairs {
  PackedPairs(const std::vector<float>& b, int64_t k, int64_t n, PackedAs as, ThreadPool& threads)
      : numbers(static_cast<size_t>(packed_bf16_count(k, n, as)) + 32, 0xffff) {
    uint16_t* aligned = numbers.data() + (64 - reinterpret_cast<uintptr_t>(numbers.data()) % 64) % 64 / 2;
    packed = pack_b_bf16(b.data(), k, n, false, 1, as, aligned, threads);
  }

  std::vector<uint16_t> numbers;
  PackedB packed;
};

/// Returns C = A * B, with NaN after A and in the scratch.
std::vector<float> product_of_pairs(int64_t m, int64_t n, int64_t k, std::vector<float> a, const PackedPairs& b,
                                    ThreadPool& threads, bool backwards = false) {
  std::vector<float> c(static_cast<size_t>(m * n), NAN);
  std::vector<float> workspace(static_cast<size_t>(gemm_workspace_count(m, n, k, b.packed.as)) + 16, NAN);
  float* const aligned = workspace.data() + (64 - reinterpret_cast<uintptr_t>(workspace.data()) % 64) % 64 / 4;
  a.resize(static_cast<size_t>(m * k));
  a.resize(a.size() + 33, NAN);
  gemm({.m = m, .n = n, .k = k, .a = a.data(), .b = b.packed, .c = c.data(), .backwards = backwards}, aligned, threads);
  return c;
}

constexpr std::array<int64_t, 3> kProductsOfPairs[] = {{1, 1, 1},     {1, 160, 513}, {1, 427, 257}, {2, 33, 255},
                                                       {7, 70, 1000}, {12, 10, 700}, {16, 160, 31}, {17, 10, 701},
                                                       {50, 65, 515}, {130, 40, 259}};

/// Multiplies bf16 pairs with each instruction set: by fp32 multiply-adds, by AVX512-BF16 and by AMX.
class CpuGemmOfPairs : public testing::TestWithParam<std::tuple<int64_t, PackedAs>> {
 protected:
  PackedAs as() const { return std::get<1>(GetParam()); }

  /// Whether A is rounded if it has this many rows.
  bool rounds(int64_t rows) const {
    return as() == PackedAs::bf16_tiles || (as() == PackedAs::bf16_dots && rows <= kGemmDotRows);
  }

  void SetUp() override {
    if (as() == PackedAs::bf16) return;
    if (std::get<0>(GetParam()) != HWY_AVX3) GTEST_SKIP() << "this instruction set has neither AVX512-BF16 nor AMX";
    const Bf16Unit unit = as() == PackedAs::bf16_dots ? Bf16Unit::avx512_bf16 : Bf16Unit::amx;
    if (const Refusal refusal = refuse_without(unit)) GTEST_SKIP() << *refusal;
  }

 private:
  ForcedTarget forced_{std::get<0>(GetParam())};
};

INSTANTIATE_TEST_SUITE_P(Cpu, CpuGemmOfPairs,
                         testing::Combine(testing::ValuesIn(simd_targets()),
                                          testing::Values(PackedAs::bf16, PackedAs::bf16_dots, PackedAs::bf16_tiles)),
                         [](const auto& info) {
                           const PackedAs as = std::get<1>(info.param);
                           return std::string(as == PackedAs::bf16        ? "multiply_add_"
                                              : as == PackedAs::bf16_dots ? "dots_"
                                                                          : "tiles_") +
                                  hwy::TargetName(std::get<0>(info.param));
                         });

TEST_P(CpuGemmOfPairs, SmallIntegersAreMultipliedExactly) {
  ThreadPool threads(2);
  Rng rng(5);
  for (const auto& [m, n, k] : kProductsOfPairs) {
    std::vector<float> a(static_cast<size_t>(m * k)), b(static_cast<size_t>(k * n));
    for (std::vector<float>* values : {&a, &b}) {
      for (float& value : *values) value = std::round(rng.uniform(-8, 8));
    }
    std::vector<float> expected;
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (int64_t l = 0; l < k; ++l) sum += a[i * k + l] * b[l * n + j];
        expected.push_back(sum);
      }
    }
    EXPECT_EQ(product_of_pairs(m, n, k, a, {b, k, n, as(), threads}, threads), expected) << m << " " << n << " " << k;
  }
}

TEST_P(CpuGemmOfPairs, RealsAreMultipliedAsPreciselyAsBfloat16) {
  ThreadPool threads(2);
  for (const auto& [m, n, k] : kProductsOfPairs) {
    const std::vector<float> a = random_values(m * k, 1), b = random_values(k * n, 2);
    const std::vector<float> c = product_of_pairs(m, n, k, a, {b, k, n, as(), threads}, threads);
    double error = 0, norm = 0;
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < k; ++l) {
          const float factor = rounds(m) ? from_bf16(to_bf16(a[i * k + l])) : a[i * k + l];
          sum += static_cast<double>(factor) * from_bf16(to_bf16(b[l * n + j]));
        }
        error += (c[i * n + j] - sum) * (c[i * n + j] - sum);
        norm += sum * sum;
      }
    }
    EXPECT_LE(std::sqrt(error), 1e-6 * std::sqrt(norm)) << m << " " << n << " " << k;
  }
}

TEST_P(CpuGemmOfPairs, SameBitsWhateverTheBatchAndTheThreads) {
  constexpr int64_t kMost = 70, kN = 173;
  for (const int64_t k : {900, 1777}) {
    ThreadPool one(1), three(3);
    const std::vector<float> a = random_values(kMost * k, 1);
    const PackedPairs b(random_values(k * kN, 2), k, kN, as(), one);
    for (const int64_t m : {1, 2, 7, 16, 17, 70}) {
      const bool dots = rounds(m) && m <= kGemmDotRows;
      const std::vector<float> all = product_of_pairs(dots ? kGemmDotRows : kMost, kN, k, a, b, one);
      const std::vector<float> some = product_of_pairs(m, kN, k, a, b, three);
      EXPECT_EQ(some, std::vector<float>(all.begin(), all.begin() + m * kN)) << m;
      EXPECT_EQ(product_of_pairs(m, kN, k, a, b, three, true), some) << m << " backwards";
    }
  }
}

/// Each column of B selects one column of A, so the result is A as it was multiplied: rounded to nearest even by
/// AVX512-BF16 and AMX, and not rounded by multiply-adds.
TEST_P(CpuGemmOfPairs, TermsOfAAreRoundedToTheNearest) {
  ThreadPool threads(1);
  constexpr int64_t kN = 40;
  for (const int64_t k : {40, 333}) {
    std::vector<float> b(static_cast<size_t>(k * kN)), a = random_values(k, 7);
    for (int64_t j = 0; j < kN; ++j) b[static_cast<size_t>((k - kN + j) * kN + j)] = 1;
    const uint32_t bits[] = {0x3f800000, 0x3f808000, 0x3f818000, 0x3f808001, 0x3f807fff, 0xbf818000, 0x7f7fffff};
    for (size_t i = 0; i < std::size(bits); ++i) a[a.size() - 1 - i] = std::bit_cast<float>(bits[i]);
    std::vector<float> expected(a.end() - kN, a.end());
    if (as() != PackedAs::bf16) {
      for (float& value : a) {
        if (std::isinf(from_bf16(to_bf16(value)))) value = -3;  // infinity times 0 in the other columns would be NaN
      }
      expected.assign(a.end() - kN, a.end());
      for (float& value : expected) value = from_bf16(to_bf16(value));
    }
    EXPECT_EQ(product_of_pairs(1, kN, k, a, {b, k, kN, as(), threads}, threads), expected) << k;
    a[static_cast<size_t>(k - 2)] = NAN;  // a NaN in one row of A must not reach other rows
    const std::vector<float> rows = product_of_pairs(1, kN, k, a, {b, k, kN, as(), threads}, threads);
    EXPECT_TRUE(std::all_of(rows.begin(), rows.end(), [](float value) { return std::isnan(value); })) << k;
  }
}

/// Reference computation of a Gemm or MatMul with every option.
std::vector<double> dense_by_definition(const Step& step, const std::vector<std::vector<float>>& inputs) {
  const auto* gemm = std::get_if<GemmOp>(&step.op);
  const int64_t n = step.outputs[0].shape.back(), m = element_count(step.outputs[0].shape) / n;
  const bool transpose_a = gemm && gemm->transpose_a, transpose_b = gemm && gemm->transpose_b;
  const int64_t k = step.inputs[1].shape[transpose_b ? 1 : 0];
  std::vector<double> output;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l) {
        sum += static_cast<double>(inputs[0][transpose_a ? l * m + i : i * k + l]) *
               inputs[1][transpose_b ? j * k + l : l * n + j];
      }
      if (gemm) sum *= gemm->alpha;
      if (inputs.size() > 2) {
        const Shape& shape = step.inputs[2].shape;
        const int64_t column = !shape.empty() && shape.back() > 1 ? j : 0;
        const int64_t row = shape.size() > 1 && shape[0] > 1 ? i * shape[1] : 0;
        sum += gemm->beta * static_cast<double>(inputs[2][row + column]);
      }
      if (step.epilogue.activation.kind == ActivationKind::tanh) sum = std::tanh(sum);
      output.push_back(sum);
    }
  }
  return output;
}

/// Rounds weights, and inputs if AVX512-BF16 or AMX multiplies them, as the kernel of this math class does.
void expect_dense_is_right(const Step& step, const char* what, Math math) {
  const auto device = open_device("cpu", {.threads = 2});
  const auto stream = device->make_stream();
  const Kernel& kernel = choose_kernel(step, {.kind = DeviceKind::cpu}, math);
  ASSERT_EQ(kernel.info.name, math == Math::bf16 ? "cpu.dense_bf16" : "cpu.dense") << what;
  std::vector<std::vector<float>> values;
  std::vector<const void*> inputs, constants;
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    values.push_back(random_values(element_count(step.inputs[i].shape), i + 1));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    inputs.push_back(values[i].data());
    constants.push_back(step.inputs[i].constant ? values[i].data() : nullptr);
  }
  const Buffer prepared = device->allocate(prepared_bytes(kernel, step, device->caps()));
  const Buffer workspace = device->allocate(workspace_bytes(kernel, step, device->caps()));
  std::vector<float> output(static_cast<size_t>(element_count(step.outputs[0].shape)), NAN);
  kernel.prepare({.step = step, .inputs = constants, .prepared = prepared.data(), .workspace = workspace.data()},
                 *stream);
  void* const outputs[] = {output.data()};
  kernel.launch(
      {.step = step, .inputs = inputs, .outputs = outputs, .prepared = prepared.data(), .workspace = workspace.data()},
      *stream);
  if (math == Math::bf16) {
    for (float& weight : values[1]) weight = from_bf16(to_bf16(weight));
    const bool few = element_count(step.outputs[0].shape) / step.outputs[0].shape.back() <= kGemmDotRows;
    const Bf16Unit rounding = few ? Bf16Unit::avx512_bf16 : Bf16Unit::amx;
    if ((hwy::SupportedTargets() & HWY_AVX3) != 0 && has_unit(rounding)) {
      for (float& value : values[0]) value = from_bf16(to_bf16(value));
    }
  }
  const std::vector<double> expected = dense_by_definition(step, values);
  for (size_t i = 0; i < output.size(); ++i) {
    ASSERT_TRUE(std::fabs(output[i] - expected[i]) <= 1e-5) << what << " [" << i << "] " << output[i];
  }
}

TEST_P(CpuGemm, DenseLayersAreRight) {
  for (const Math math : {Math::fp32, Math::bf16x2, Math::bf16}) {
    expect_dense_is_right(dense_step(MatMulOp(), {{5, 40}, {40, 33}}, {5, 33}), "MatMul", math);
    expect_dense_is_right(dense_step(MatMulOp(), {{2, 3, 4, 9}, {9, 5}}, {2, 3, 4, 5}), "N-D MatMul", math);
    Step gemm = dense_step(GemmOp{.transpose_b = true}, {{3, 700}, {10, 700}, {10}}, {3, 10});
    gemm.epilogue.activation = {ActivationKind::tanh};
    expect_dense_is_right(gemm, "Gemm with bias and tanh", math);
    for (const Shape& addend : {Shape{}, Shape{1}, Shape{35}, Shape{1, 35}, Shape{20, 1}, Shape{20, 35}, Shape{1, 1}}) {
      Step step = dense_step(GemmOp{.alpha = 0.5f, .beta = -2, .transpose_a = true, .transpose_b = true},
                             {{300, 20}, {35, 300}, addend}, {20, 35});
      step.inputs[2].constant = false;
      expect_dense_is_right(step, to_text(addend).c_str(), math);
    }
  }
}

TEST_P(CpuGemm, ImagesInLanesGiveTheBitsOfPlainOnes) {
  for (const auto& [m, n, k] :
       {std::array<int64_t, 3>{1, 1, 1}, {16, 10, 256}, {17, 8, 257}, {50, 33, 700}, {160, 25, 30}, {600, 3, 520}}) {
    for (const bool transposed : {false, true}) {
      for (const int threads : {1, 3}) {
        Step step = dense_step(GemmOp{.alpha = 0.5f, .transpose_b = transposed},
                               {{m, k}, transposed ? Shape{n, k} : Shape{k, n}, {n}}, {m, n});
        step.epilogue.activation = {ActivationKind::tanh};
        std::vector<std::vector<float>> values{random_values(m * k, 1), random_values(k * n, 2), random_values(n, 3)};
        const std::vector<float> expected = run_dense(kernel_named("cpu.dense"), step, values, threads);
        const Tensor lanes = pack(Tensor::of<float>({m, k}, values[0]), kNchw16n);
        values[0].assign(lanes.values<float>().begin(), lanes.values<float>().end());
        step.inputs[0].format = kNchw16n;
        const Kernel& kernel = choose_kernel(step, {.kind = DeviceKind::cpu});
        EXPECT_EQ(kernel.info.name, "cpu.nchw16n_dense");
        EXPECT_EQ(run_dense(kernel, step, values, threads), expected) << m << " " << n << " " << k;
        step.outputs[0].format = kNchw16n;
        const std::vector<float> output =
            unpack(run_dense(kernel, step, values, threads).data(), step.outputs[0].shape, kNchw16n);
        EXPECT_EQ(output, expected) << m << " " << n << " " << k;
      }
    }
  }
}

TEST(CpuDense, InLanesRefusesInWords) {
  const Kernel& kernel = kernel_named("cpu.nchw16n_dense");
  const Step step = dense_step(GemmOp{}, {{20, 4}, {4, 3}, {3}}, {20, 3}, kNchw16n);
  const auto refusal = [&](const auto& change) {
    Step changed = step;
    change(changed);
    return kernel.refuses(changed, {}).value_or("");
  };
  EXPECT_EQ(refusal([](Step&) {}), "");
  EXPECT_NE(refusal([](Step& s) { s.op = MatMulOp{}; }), "");
  EXPECT_NE(refusal([](Step& s) { s.op = GemmOp{.beta = 2}; }), "");
  EXPECT_NE(refusal([](Step& s) { s.op = GemmOp{.transpose_a = true}; }), "");
  EXPECT_NE(refusal([](Step& s) { s.inputs[2].shape = {20, 3}; }), "");
  EXPECT_NE(refusal([](Step& s) { s.inputs[1].constant = false; }), "");
  EXPECT_NE(refusal([](Step& s) { s.inputs[0].format = kNchw; }), "");
  // Kernels that support only plain arrays are not even asked.
  Step softmax{.op = SoftmaxOp{}, .inputs = {{{20, 4}, kNchw16n}}, .outputs = {{{20, 4}}}};
  EXPECT_EQ(find_kernel(softmax, {.kind = DeviceKind::cpu}), nullptr);
}

TEST(CpuDense, RefusesInWords) {
  const auto refusal = [](const Step& step) {
    for (const Kernel& kernel : kernels()) {
      if (kernel.info.name == "cpu.dense") return kernel.refuses(step, {}).value_or("");
    }
    return std::string("not registered");
  };
  EXPECT_EQ(refusal({.op = MatMulOp(), .inputs = {{{5, 4}}, {{4, 3}}}, .outputs = {{{5, 3}}}}),
            "weights must be constant");
  EXPECT_EQ(refusal({.op = SoftmaxOp(), .inputs = {{{5, 4}}}, .outputs = {{{5, 4}}}}),
            "only Gemm and MatMul are supported");
  EXPECT_NE(refusal(dense_step(MatMulOp(), {{2, 5, 4}, {2, 4, 3}}, {2, 5, 3})), "");
}

}  // namespace
}  // namespace convlab
