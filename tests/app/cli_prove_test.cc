// Tests `convlab verify FILE --prove` on kernels that are right, wrong by less than any tolerance, or not polynomials.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "convlab/device/simt.h"
#include "tests/support/paths.h"
#include "tests/support/program_run.h"
#include "tests/support/temporary_folder.h"

namespace convlab {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// A kernel file with these expressions for an image's pixel, for a weight, and for the output, computed from `sum`.
std::string kernel_with(const std::string& pixel, const std::string& weight, const std::string& output) {
  return R"(
__global__ void convolve_kernel(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int R,
                                int S) {
  const int P = H - R + 1, Q = W - S + 1;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N * K * P * Q) return;
  const int q = i % Q, p = i / Q % P, k = i / Q / P % K, n = i / Q / P / K;
  float sum = 0;
  for (int c = 0; c < C; ++c) {
    for (int r = 0; r < R; ++r) {
      for (int s = 0; s < S; ++s) {
        const int at_x = ((n * C + c) * H + p + r) * W + q + s, at_w = ((k * C + c) * R + r) * S + s;
        sum += ()" +
         pixel + ") * (" + weight + R"();
      }
    }
  }
  y[i] = )" +
         output + R"(;
}

void convolve(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int R, int S) {
  const float threads = 64;
  const int outputs = N * K * (H - R + 1) * (W - S + 1), blocks = ceil(outputs / threads);
  convolve_kernel<<<blocks, 64>>>(x, w, y, N, C, H, W, K, R, S);
}
)";
}

class Prove : public testing::Test {
 protected:
  void SetUp() override {
    if (!simt_present()) GTEST_SKIP() << "this build has no simt";
  }

  ProgramRun prove(const std::string& pixel, const std::string& weight, const std::string& output) const {
    const std::filesystem::path file = folder_.path() / "kernel.cu";
    std::ofstream(file) << kernel_with(pixel, weight, output);
    return run_program({"verify", file.string(), "--prove", "--problem", "n2_c2h7w8_k3r3s3"});
  }

  TemporaryFolder folder_;
};

TEST_F(Prove, ARightKernelIsProved) {
  const ProgramRun run = prove("x[at_x]", "w[at_w]", "sum");
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.output, StartsWith("proved "));
  EXPECT_THAT(run.output, HasSubstr("with a probability below 2^-82 (3 points, degree 2)"));
}

TEST_F(Prove, OtherWaysToComputeTheSameAreProved) {
  for (const char* const output : {"(sum + sum) / 2", "fmaf(0.5f, sum, sum * 0.5f)", "3 * (sum * 0.33333333f)",
                                   "sum + x[0] * w[1] - w[1] * x[0]", "sum * (1 + 1e-3f) - sum * 1e-3f"}) {
    EXPECT_EQ(prove("x[at_x]", "w[at_w]", output).status, 0) << output;
  }
}

TEST_F(Prove, KernelsOfConvlabAreProvedForAllConvolutions) {
  const std::string rung = (source_folder() / "convlab/kernels/ladder/01_basic.cu").string();
  for (const char* const problem :
       {"n2_c2h7w8_k3r3s3", "c2h5w6_k3r3s3_p1", "c4h6w6_k4r3s3_g2", "c2h9w9_k3r3s3_d2", "c2h9w9_k3r3s3_st2"}) {
    const ProgramRun run = run_program({"verify", rung, "--prove", "--problem", problem});
    EXPECT_EQ(run.status, 0) << run.output << run.complaint;
  }
}

TEST_F(Prove, WhatIsNoPolynomialIsNotProvedAndSaysWhy) {
  const auto complaint = [&](const std::string& output) {
    const ProgramRun run = prove("x[at_x]", "w[at_w]", output);
    EXPECT_EQ(run.status, 2) << output;
    EXPECT_THAT(run.output, StartsWith("not proved "));
    return run.output;
  };
  EXPECT_THAT(complaint("fmaxf(sum, 0.0f)"), HasSubstr("compares a value that depends on the inputs"));
  EXPECT_THAT(complaint("sum > 0 ? sum : 0.0f"), HasSubstr("kernel.cu:17"));
  EXPECT_THAT(complaint("sum / (1 + x[0])"), HasSubstr("divides by a value that depends on the inputs"));
  EXPECT_THAT(complaint("expf(sum)"), HasSubstr("calls expf() with a value that depends on the inputs"));
  EXPECT_THAT(complaint("(int)sum"), HasSubstr("converts a value that depends on the inputs"));
  EXPECT_THAT(complaint("__half2float(__float2half(sum))"), HasSubstr("does not compile with Field"));
}

TEST_F(Prove, AGrowingDegreeIsNoProof) {
  // 31 squarings: at so high a degree, other polynomials could agree at random points.
  const ProgramRun run = prove("x[at_x]", "w[at_w]",
                               "[=] { float power = x[0], other = sum; for (int j = 0; j < 31; ++j) power *= power; "
                               "return other + power - power; }()");
  EXPECT_EQ(run.status, 2) << run.output;
  EXPECT_THAT(run.output, HasSubstr("may have degree"));
}

TEST_F(Prove, FilesAreNeeded) {
  const ProgramRun run = run_program({"verify", "--prove"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.complaint, HasSubstr("--prove takes kernel files"));
}

/// A fault that changes results by less than the tolerances for floats allow, or in few cases.
struct SmallFault {
  const char *name, *pixel, *weight, *output;
};

class ProveSmallFault : public Prove, public testing::WithParamInterface<SmallFault> {};

TEST_P(ProveSmallFault, IsRefuted) {
  const SmallFault& fault = GetParam();
  const ProgramRun run = prove(fault.pixel, fault.weight, fault.output);
  EXPECT_EQ(run.status, 1) << run.output;
  EXPECT_THAT(run.output, StartsWith("refuted "));
}

constexpr const char *kX = "x[at_x]", *kW = "w[at_w]", *kSum = "sum";

INSTANTIATE_TEST_SUITE_P(
    Each, ProveSmallFault,
    testing::Values(
        SmallFault{"scaled_pixel", "x[at_x] * (at_x == 9 ? 1.0000001f : 1.0f)", kW, kSum},
        SmallFault{"added_pixel", kX, kW, "sum + (i == 5 ? 1e-7f * x[0] : 0.0f)"},
        SmallFault{"added_pixel_of_last_image", kX, kW, "sum + (n == N - 1 ? 1e-9f * x[3] : 0.0f)"},
        SmallFault{"tiny_constant", kX, kW, "sum + 1e-30f"},
        SmallFault{"tiny_constant_in_one_output", kX, kW, "i == 17 ? sum + 1e-20f : sum"},
        SmallFault{"scaled_outputs", kX, kW, "sum * 1.0000001f"},
        SmallFault{"scaled_output", kX, kW, "i == 30 ? sum * 0.9999999f : sum"},
        SmallFault{"scaled_weight", kX, "at_w == 4 ? w[at_w] * 1.0000002f : w[at_w]", kSum},
        SmallFault{"rounded_weight", kX, "at_w == 11 ? w[at_w] + 1e-8f : w[at_w]", kSum},
        SmallFault{"squared_pixel", kX, kW, "sum + 1e-12f * x[1] * x[1]"},
        SmallFault{"squared_weight", kX, kW, "sum - 1e-12f * w[1] * w[1]"},
        SmallFault{"product_of_three", kX, kW, "sum + 1e-15f * x[1] * w[0] * w[2]"},
        SmallFault{"swapped_weights", kX, "w[k == 1 && r == 0 && s < 2 ? at_w + 1 - 2 * s : at_w]", kSum},
        SmallFault{"swapped_weights_of_one_output", kX, "w[i == 8 && r == 1 && s < 2 ? at_w + 1 - 2 * s : at_w]", kSum},
        SmallFault{"swapped_pixels", "x[i == 40 && s < 2 ? at_x + 1 - 2 * s : at_x]", kW, kSum},
        SmallFault{"swapped_channels_of_one_map", kX, "w[k == 2 && r == 2 ? at_w + (1 - 2 * c) * R * S : at_w]", kSum},
        SmallFault{"transposed_filter", kX, "w[(k * C + c) * R * S + s * S + r]", kSum},
        SmallFault{"turned_filter", kX, "w[(k * C + c) * R * S + (R - 1 - r) * S + S - 1 - s]", kSum},
        SmallFault{"missing_first_term", kX, "at_w == 0 ? 0.0f : w[at_w]", kSum},
        SmallFault{"missing_last_term", kX, "c == C - 1 && r == R - 1 && s == S - 1 && k == K - 1 ? 0.0f : w[at_w]",
                   kSum},
        SmallFault{"missing_last_term_of_last_output", kX,
                   "i == N * K * P * Q - 1 && c == C - 1 && r == R - 1 && s == S - 1 ? 0.0f : w[at_w]", kSum},
        SmallFault{"missing_corner", "at_x == 0 ? 0.0f : x[at_x]", kW, kSum},
        SmallFault{"missing_last_pixel", "at_x == N * C * H * W - 1 ? 0.0f : x[at_x]", kW, kSum},
        SmallFault{"other_image", "x[n == 1 && k == 0 && p == 0 ? at_x - C * H * W : at_x]", kW, kSum},
        SmallFault{"other_map", kX, "w[k == 2 && q == Q - 1 ? at_w - C * R * S : at_w]", kSum},
        SmallFault{"twice_the_last_term", kX, kW,
                   "sum + x[((n * C + C - 1) * H + p + R - 1) * W + q + S - 1] * "
                   "w[((k * C + C) * R) * S - 1] * 1e-6f"},
        SmallFault{"negative_in_one_place", kX, "at_w == 7 && p == 4 ? -w[at_w] : w[at_w]", kSum},
        SmallFault{"unwritten_output", kX, kW, "i == 21 ? 0.0f : sum"},
        SmallFault{"neighbor_output", kX, kW, "i == 22 ? sum - 1e-10f * sum : sum"},
        SmallFault{"wrong_third", kX, kW, "3 * (sum * 0.3333333f)"},
        SmallFault{"constant_input", "at_x == 12 ? 1.0f : x[at_x]", kW, kSum}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace convlab
