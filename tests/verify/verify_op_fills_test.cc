// Tests that inputs of operators are valid, and that error bounds find small errors.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "convlab/verify/ops/op_error.h"
#include "convlab/verify/ops/op_fills.h"
#include "convlab/verify/ops/op_oracle.h"
#include "tests/verify/op_cases.h"

namespace convlab {
namespace {

constexpr Fill kFills[] = {Fill::integers, Fill::reals, Fill::one_nan};
constexpr KernelInfo kFp32{.name = "a kernel"};

int64_t nan_count(const Tensor& tensor) {
  if (tensor.type() != ElementType::f32) return 0;
  return std::ranges::count_if(tensor.values<float>(), [](float value) { return std::isnan(value); });
}

const OpCase& case_of(const std::vector<OpCase>& cases, std::string_view name) {
  const auto found = std::ranges::find(cases, name, &OpCase::name);
  if (found == cases.end()) throw std::out_of_range(std::string(name));
  return *found;
}

TEST(OpFills, AreRepeatableAndFinite) {
  for (const auto& [name, step] : all_op_cases()) {
    SCOPED_TRACE(name);
    const auto* unary = std::get_if<UnaryOp>(&step.op);
    const bool looks_for_nan =
        unary != nullptr && (unary->kind == UnaryKind::is_nan || unary->kind == UnaryKind::is_inf);
    for (const Fill fill : kFills) {
      if (!has_fill(step, fill)) continue;
      const std::vector<Tensor> inputs = fill_inputs(step, fill, 5), again = fill_inputs(step, fill, 5);
      ASSERT_EQ(inputs.size(), step.inputs.size());
      for (size_t i = 0; i < inputs.size(); ++i) {
        EXPECT_EQ(inputs[i].shape(), step.inputs[i].shape);
        EXPECT_EQ(std::memcmp(inputs[i].raw(), again[i].raw(), inputs[i].bytes()), 0);
        const size_t of_nan = std::holds_alternative<WhereOp>(step.op) ? 1 : 0;
        if (!looks_for_nan) {
          EXPECT_EQ(nan_count(inputs[i]), fill == Fill::one_nan && i == of_nan ? 1 : 0);
        }
      }
      if (fill == Fill::one_nan) continue;
      for (const double value : expected_output(step, inputs).value) EXPECT_TRUE(std::isfinite(value));
    }
  }
}

/// Expected values of integer fills are float32 numbers, as they are exact.
TEST(OpFills, IntegersAreExact) {
  for (const auto& [name, step] : all_op_cases()) {
    if (!has_fill(step, Fill::integers) || !step.epilogue.empty()) continue;
    SCOPED_TRACE(name);
    const ErrorModel model = error_model(step, kFp32, Fill::integers);
    for (const Math math : {Math::fp32, Math::tf32, Math::fp16, Math::bf16}) {
      const Expected expected = expected_output(step, fill_inputs(step, Fill::integers, 6, math));
      for (size_t i = 0; i < expected.value.size(); ++i) {
        const double value = expected.value[i];
        if (model.tolerance(value, expected.scale[i]) == 0) {
          EXPECT_EQ(static_cast<float>(value), value);
        }
      }
    }
  }
}

TEST(OpFills, NanHasAnEffect) {
  for (const char* name : {"gather", "max pool", "slice", "grid_sample 1 0 false", "pad 0", "trilu", "where"}) {
    const std::vector<OpCase> cases = all_op_cases();
    const Step& step = case_of(cases, name).step;
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const Expected expected = expected_output(step, fill_inputs(step, Fill::one_nan, seed));
      EXPECT_TRUE(std::ranges::any_of(expected.value, [](double value) { return std::isnan(value); })) << name;
    }
  }
}

TEST(OpFills, OperandsAreRepresentable) {
  const std::vector<OpCase> cases = all_op_cases();
  for (const char* name : {"add in nhwc bfloat16", "gemm of 35 in nchw16n2c bfloat16"}) {
    const Step& step = case_of(cases, name).step;
    for (const Fill fill : kFills) {
      const std::vector<Tensor> inputs = fill_inputs(step, fill, 1);
      for (const float value : inputs[0].values<float>()) {
        if (!std::isnan(value)) {
          EXPECT_EQ(std::bit_cast<uint32_t>(value) & 0xffffu, 0u) << name;
        }
      }
    }
  }
}

TEST(OpFills, BytesHaveTheirTypes) {
  const std::vector<OpCase> cases = planned_cases();
  const auto inputs_of = [&](const char* name) { return fill_inputs(case_of(cases, name).step, Fill::reals, 1); };
  EXPECT_EQ(inputs_of("scale")[0].type(), ElementType::u8);
  EXPECT_EQ(inputs_of("byte_conv true 1")[1].type(), ElementType::i8);
  EXPECT_FALSE(has_fill(case_of(cases, "scale").step, Fill::one_nan));
  EXPECT_FALSE(has_fill(case_of(cases, "byte max pool").step, Fill::one_nan));
  EXPECT_FALSE(has_fill(case_of(cases, "quantize to bytes").step, Fill::one_nan));
}

/// Quantized results meet halves, both parities, and do not all saturate.
TEST(OpFills, QuantizedValuesCoverTheirRange) {
  for (const auto& [name, step] : quantized_cases()) {
    const auto* op = std::get_if<QLinearConvOp>(&step.op);
    if (op == nullptr) continue;
    const Expected expected = expected_output(step, fill_inputs(step, Fill::reals, 1));
    const auto inside =
        std::ranges::count_if(expected.value, [&](double value) { return value > op->low && value < op->high; });
    EXPECT_GT(4 * inside, std::ssize(expected.value)) << name;
  }
}

/// An element that is off by twice its tolerance, or by the smallest step of an exact one, is wrong.
TEST(OpError, FindsAPlantedError) {
  for (const auto& [name, step] : all_op_cases()) {
    SCOPED_TRACE(name);
    for (const Fill fill : kFills) {
      if (!has_fill(step, fill)) continue;
      const Expected expected = as_images(expected_output(step, fill_inputs(step, fill, 2)));
      const ErrorModel model = error_model(step, kFp32, fill);
      std::vector<float> got(expected.value.begin(), expected.value.end());
      EXPECT_TRUE(compare_nan(expected, got, model, false).passed());
      const size_t at = got.size() / 2;
      const double value = expected.value[at], tolerance = model.tolerance(value, expected.scale[at]);
      const float right = got[at];
      got[at] = tolerance > 0 ? static_cast<float>(value + 2 * tolerance) : std::nextafter(right, 1e30f);
      if (std::isnan(right)) got[at] = 0;
      // The smallest number is far below the bound of 2^-125 for underflow.
      if (!std::isnan(right) && tolerance > 0 && got[at] == right) continue;
      EXPECT_EQ(compare_nan(expected, got, model, false).wrong, 1);
      got[at] = right;
      if (std::isnan(right)) continue;
      got[at] = std::numeric_limits<float>::quiet_NaN();
      EXPECT_EQ(compare_nan(expected, got, model, false).wrong, 1);
    }
  }
}

TEST(OpError, FollowsTheKernelsArithmetic) {
  const Step step = plain_step(GemmOp{.transpose_b = true}, {{4, 100}, {8, 100}, {8}}, 1);
  const auto per_scale = [&](const KernelInfo& kernel) { return error_model(step, kernel, Fill::reals).per_scale; };
  EXPECT_EQ(per_scale(kFp32), 101 * 0x1p-24);
  EXPECT_EQ(per_scale({.name = "a", .math = Math::bf16}), 0x1p-7 + 0x1p-16 + 101 * 0x1p-22);
  EXPECT_EQ(per_scale({.name = "a", .sum = Sum::split}), 101 * 0x1p-24 + 3 * 0x1p-22 + 24 * 0x1p-23);
  EXPECT_TRUE(error_model(step, {.name = "a", .sum = Sum::transform}, Fill::integers).shared_scale);
  EXPECT_EQ(error_model(step, kFp32, Fill::integers).tolerance(100, 1000), 0);
  EXPECT_EQ(error_model(step, {.name = "a", .math = Math::fp16}, Fill::integers).tolerance(100, 1000), 0);
  EXPECT_EQ(error_model(step, kFp32, Fill::reals).relative_l2, 1e-6 * 1);
  EXPECT_EQ(error_model(step, {.name = "a", .math = Math::tf32}, Fill::reals).relative_l2, 0x1p-8);
}

TEST(OpError, CountsTheOutputsRounding) {
  const Step add = plain_step(AddOp{}, {{2, 8, 3, 3}, {2, 8, 3, 3}});
  EXPECT_EQ(error_model(add, kFp32, Fill::reals).per_value, 0);
  EXPECT_EQ(error_model(in_format(add, kNhwcBf16, kNhwcBf16, 2), kFp32, Fill::reals).per_value, 0x1p-8);
  EXPECT_EQ(error_model(in_format(add, kNhwcF16, kNhwcF16, 2), kFp32, Fill::reals).per_value, 0x1p-11);
  EXPECT_EQ(error_model(in_format(add, kNhwcF16, kNhwcF16, 2), kFp32, Fill::integers).per_value, 0);
  // The clip's bound is not a fp16 number.
  const Step clip = plain_step(ActivationOp{{ActivationKind::clip, -0.3f, 0.7f}}, {{2, 8, 3, 3}});
  EXPECT_EQ(error_model(in_format(clip, kNhwcF16, kNhwcF16), kFp32, Fill::integers).per_value, 0x1p-11);
  const Step pool = plain_step(PoolOp{{.kernel_h = 2, .kernel_w = 2}}, {{2, 8, 3, 3}});
  EXPECT_EQ(error_model(in_format(pool, kNhwcF16, kNhwcF16), kFp32, Fill::reals).tolerance(1, 1), 0);
  EXPECT_GT(error_model(in_format(pool, kNchw, kNhwcF16), kFp32, Fill::reals).tolerance(1, 1), 0);
}

}  // namespace
}  // namespace convlab
