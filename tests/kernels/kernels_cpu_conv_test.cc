// Tests the CPU's convolution kernels with every instruction set, on edge cases: tails of vectors, register tiles,
// blocks along K and bands of rows; many small images; few work items for many threads.

#include <gtest/gtest.h>

#include "convlab/device/devices.h"
#include "convlab/kernels/registry.h"
#include "convlab/verify/cases.h"
#include "convlab/verify/verify.h"
#include "tests/support/kernels_simd_targets.h"

namespace convlab {
namespace {

constexpr const char* kProblems[] = {
    "c1h1w1_k1r1s1",
    "n3_c5h1w1_k7r1s1",
    "n70_c3h2w2_k5r2s2",
    "n37_c2h5w5_k3r3s3_p1",
    "c1h9w9_k2r9s9",
    "n2_c2h7w13_k13r7s13",
    "n2_c1h20w22_k6r5s5",
    "n2_c6h11w11_k16r5s5",
    "n2_c12h16w16_k24r5s5",
    "c1h26w26_k12r7s7",
    "n2_c1h19w20_k6r3s5_p2x1x1x3_st2x1",
    "n2_c1h17w14_k34r2s3_p1_st3x1",
    "c1h15w14_k6r3s3_d2",
    "n2_c4h17w19_k11r3s3_p1",
    "n2_c3h10w11_k4r3s2_p1x0x2x3",
    "n2_c3h15w14_k9r3s3_st2",
    "n2_c3h15w14_k8r5s3_p2_st3x2",
    "n2_c2h15w17_k8r3s3_d2",
    "n2_c2h15w17_k5r3s2_p3_st2x1_d2x3",
    "n2_c8h9w10_k8r3s3_p1_g8",
    "n2_c6h9w10_k12r3s3_st2_g3",
    "c4h31w37_k4r1s1",
    "c64h3w3_k2r3s3_p1",
    "c90h6w7_k9r3s3_p1",
    "c1h5w300_k3r3s1",
    "c1h40w40_k2r33s33",
    "c3h8w8_k33r1s1_st3",
    "c2h4w5_k3r4s5_p3x4x3x4",
    // For cpu.nchw16n_winograd: every filter width, last tiles of all sizes, padding, groups, long sums, wide rows,
    // many output channels.
    "n2_c5h9w12_k9r3s3",
    "n20_c4h7w13_k8r2s4",
    "c6h12w23_k10r5s5_p2",
    "n2_c4h8w15_k17r4s6_p1x0x0x3",
    "c4h9w20_k9r7s7",
    "c8h5w9_k16r3s3_p1_g2",
    "c60h6w9_k8r5s5",
    "c4h7w50_k70r5s5",
    // For cpu.nchw8c_depthwise: tiles of all sizes, with and without strides, narrow and dilated filters, padding
    // wider than the filter.
    "n2_c16h5w7_k16r3s3_p1_g16",
    "c8h4w43_k8r3s3_p1x0x0x2_g8",
    "c24h9w30_k24r3s3_p1_st2_g24",
    "c8h6w25_k8r5s5_p2_g8",
    "c8h7w29_k8r5s5_p1x2x3x1_st2_g8",
    "c8h8w16_k8r7s7_p3_g8",
    "n2_c8h5w9_k8r3s1_p1x0x1x0_g8",
    "c8h9w11_k8r3s2_p3_st2x1_d1x3_g8",
    "c8h3w2_k8r3s3_p4_st3_g8",
    // For cpu.nhwc_bf16_conv: rows shorter than a tile, joined images, K dimensions that do not fill tiles, strided 1x1
    // filters, groups.
    "n2_c24h7w9_k40r3s3_p1",
    "n3_c40h5w7_k24r1s1",
    "n2_c80h9w33_k16r1s1",
    "c16h19w21_k48r1s1_st2",
    "n2_c8h21w35_k16r3s3_st2",
    "n2_c16h6w18_k16r3s5_p0x2x1x0_d1x2",
    "n2_c32h9w20_k48r3s3_p1_g2",
    // For cpu.nchw8c_first: output channels in blocks of 16 and of 8, tiles of all sizes, strides with and without all
    // remainders.
    "n2_c3h17w19_k24r7s7_p3_st2",
    "c3h9w25_k8r3s3_p1",
    "c4h5w23_k40r3s2_p2x0x0x1_st1x3",
    "c1h14w15_k16r11s11_p2_st4",
    "c2h6w31_k16r2s3_p3_st2_d2",
};

/// Whether the kernel with this name multiplies with AVX512-BF16 or AMX. Only its AVX3 code does; with any other
/// instruction set it runs the code of the corresponding kernel of plain vectors.
bool is_for_avx3(std::string_view kernel) {
  return kernel.starts_with("cpu.avx512_") || kernel.starts_with("cpu.amx_") || kernel.starts_with("cpu.half_conv_");
}

class CpuConvolution : public testing::TestWithParam<std::tuple<int64_t, const char*>> {
 protected:
  int64_t target() const { return std::get<0>(GetParam()); }
  const Kernel& kernel() const { return require_conv_kernel(std::get<1>(GetParam()), DeviceKind::cpu); }

  /// Returns the steps to verify on kProblems[problem]: all steps. But kernels in bf16x2 pairs compute 16 images for
  /// one, with up to three products each; for instruction sets that are slow at this, every third step is verified,
  /// starting with a different one for each problem, so that steps of each kind meet problems of all kinds. The work
  /// partition is the same for all sets.
  std::vector<ConvStep> steps(size_t problem, const DeviceCaps& caps) const {
    std::vector<ConvStep> all = steps_to_verify(kernel(), parse_problem(kProblems[problem]), caps);
    if (!may_lack_fused_multiply_add(target()) || info(kernel().format.order).reshapes_freely) return all;
    std::vector<ConvStep> some;
    for (size_t i = problem % 3; i < all.size(); i += 3) some.push_back(all[i]);
    return some;
  }

 private:
  ForcedTarget forced_{target()};
};

INSTANTIATE_TEST_SUITE_P(
    Cpu, CpuConvolution,
    testing::Combine(testing::ValuesIn(simd_targets()),
                     testing::Values("cpu.nchw8c_depthwise", "cpu.nchw8c_first", "cpu.im2col_gemm", "cpu.direct",
                                     "cpu.nchw16n_direct", "cpu.nchw16n_winograd", "cpu.nchw16n2c_bf16",
                                     "cpu.nchw16n2c_bf16x2", "cpu.nchw16n2c_avx512_bf16", "cpu.nchw16n2c_avx512_bf16x2",
                                     "cpu.nchw16n2c_amx_bf16", "cpu.nchw16n2c_amx_bf16x2", "cpu.nhwc_bf16_conv",
                                     "cpu.nhwc_bf16_conv_dots", "cpu.nhwc_bf16_conv_amx", "cpu.nhwc_bf16_depthwise")),
    [](const auto& info) {
      std::string name = std::get<1>(info.param);
      std::replace(name.begin(), name.end(), '.', '_');
      return name + "_" + hwy::TargetName(std::get<0>(info.param));
    });

TEST_P(CpuConvolution, IsRight) {
  const auto device = open_device("cpu", {.threads = 3});
  Oracle oracle;
  if (is_for_avx3(kernel().info.name) && target() != HWY_AVX3) {
    GTEST_SKIP() << "with " << hwy::TargetName(target()) << " it runs the code of the kernel of plain vectors";
  }
  if (kernel().absent != nullptr && kernel().absent()) GTEST_SKIP() << *kernel().absent();
  for (size_t problem = 0; problem < std::size(kProblems); ++problem) {
    for (const ConvStep& step : steps(problem, device->caps())) {
      const CaseResult result = verify_kernel(kernel(), step, *device, oracle);
      const bool refused = kernel().refuses(step, device->caps()).has_value();
      EXPECT_EQ(result.outcome, refused ? Outcome::skipped : Outcome::passed)
          << describe(step) << ": " << result.reason;
    }
  }
}

TEST(CpuConvolutionRefusals, OfWinogradAreExplainedAndLeaveEveryFilterWidth) {
  const auto device = open_device("cpu", {.threads = 3});
  const Kernel& kernel = require_conv_kernel("cpu.nchw16n_winograd", DeviceKind::cpu);
  const auto refusal = [&](const char* text, Epilogue epilogue = {}) {
    return kernel
        .refuses(ConvStep{.problem = parse_problem(text),
                          .epilogue = epilogue,
                          .input_format = kNchw16n,
                          .output_format = kNchw16n},
                 device->caps())
        .value_or("");
  };
  for (const char* s : {"3", "4", "5", "6", "7"}) {
    EXPECT_EQ(refusal((std::string("n2_c5h12w16_k9r3s") + s).c_str()), "") << s;
  }
  EXPECT_NE(refusal("n2_c5h12w16_k9r3s2"), "");
  EXPECT_NE(refusal("n2_c5h12w16_k9r3s8"), "");
  EXPECT_NE(refusal("n2_c3h12w16_k9r3s3"), "");
  EXPECT_NE(refusal("n2_c5h12w16_k7r3s3"), "");
  EXPECT_NE(refusal("n2_c5h12w16_k9r3s3_st1x2"), "");
  EXPECT_NE(refusal("n2_c5h12w16_k9r3s3_d2x1"), "");
  EXPECT_NE(refusal("n2_c400h12w16_k9r3s3"), "");
  EXPECT_NE(refusal("n2_c5h12w16_k9r3s3", {.pool = Pool{.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2}}),
            "");
  EXPECT_NE(kernel.refuses(ConvStep{.problem = parse_problem("n2_c5h12w16_k9r3s3")}, device->caps()).value_or(""), "");
}

TEST(CpuConvolutionRefusals, AreFew) {
  // So that no case above is skipped: cpu.direct supports all of them, cpu.nchw16n_direct all but unusual pooling, and
  // kernels in pairs all but that and groups.
  const auto device = open_device("cpu", {.threads = 3});
  for (const char* name : {"cpu.im2col_gemm", "cpu.direct", "cpu.nchw16n_direct", "cpu.nchw16n2c_bf16"}) {
    const bool in_pairs = std::string_view(name) == "cpu.nchw16n2c_bf16";
    const Kernel& kernel = require_conv_kernel(name, DeviceKind::cpu);
    for (const char* text : kProblems) {
      for (const ConvStep& step : steps_to_verify(kernel, parse_problem(text), device->caps())) {
        const std::optional<Pool>& pool = step.epilogue.pool;
        const bool may = (info(kernel.format.order).interleaves_images && pool &&
                          (!pool->is_max_2x2() || (!in_pairs && step.problem.terms() > 768))) ||
                         (in_pairs && step.problem.groups > 1);
        EXPECT_EQ(kernel.refuses(step, device->caps()).has_value(), may) << name << " " << describe(step);
      }
    }
  }
}

}  // namespace
}  // namespace convlab
