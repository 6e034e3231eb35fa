// Tests convolution problems: text form, output sizes, operation counts and limits.

#include "convlab/conv/problem.h"

#include <gmock/gmock.h>

#include "convlab/base/rng.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string error(const std::string& text) {
  return bad_input_message([&] { parse_problem(text); });
}

TEST(Problem, TextGivesEveryField) {
  const ConvProblem problem = parse_problem("n7_c12h33w31_k24r5s3_p1x2x3x4_st2x1_d3x2_g4");
  EXPECT_EQ(problem, (ConvProblem{.n = 7,
                                  .c = 12,
                                  .h = 33,
                                  .w = 31,
                                  .k = 24,
                                  .r = 5,
                                  .s = 3,
                                  .pad_top = 1,
                                  .pad_left = 2,
                                  .pad_bottom = 3,
                                  .pad_right = 4,
                                  .stride_h = 2,
                                  .stride_w = 1,
                                  .dilation_h = 3,
                                  .dilation_w = 2,
                                  .groups = 4}));
}

TEST(Problem, DefaultsMayBeLeftOut) {
  EXPECT_EQ(parse_problem("c1h1w1_k1r1s1"), ConvProblem{});
  EXPECT_EQ(parse_problem("c2h9w9_k4r3s3_p1_st2_d2_g2"), parse_problem("n1_c2h9w9_k4r3s3_p1x1x1x1_st2x2_d2x2_g2"));
}

TEST(Problem, NameOfTheOperatorMayPrecede) {
  EXPECT_EQ(parse_problem("conv_n7_c12h33w31_k24r5s3_p1"), parse_problem("n7_c12h33w31_k24r5s3_p1"));
  EXPECT_EQ(parse_problem("conv_c1h1w1_k1r1s1"), ConvProblem{});
  EXPECT_THAT(error("conv_"), HasSubstr("expected 'c' at character 6"));
}

TEST(Problem, TextIsTheShortestOne) {
  for (const char* text : {"n10000_c12h33w33_k24r5s5", "c1h28w28_k50r5s5", "c3h9w8_k2r3s3_p1", "c3h9w8_k2r3s3_p0x1x0x0",
                           "c3h9w8_k2r3s3_st2", "c3h9w8_k2r3s3_st2x1", "c3h9w8_k2r3s3_d2", "c3h9w8_k2r3s3_d1x2",
                           "c4h9w8_k2r3s3_p1_st3x2_d2_g2"}) {
    EXPECT_EQ(to_text(parse_problem(text)), text);
  }
}

TEST(Problem, RandomProblemsSurviveTheWayThroughText) {
  Rng rng(1);
  for (int i = 0; i < 1000; ++i) {
    const auto one_in_two = [&](int64_t low, int64_t high) {
      return rng.integer(0, 1) != 0 ? rng.integer(low, high) : low;
    };
    ConvProblem problem;
    problem.groups = one_in_two(1, 5);
    problem.n = one_in_two(1, 9);
    problem.c = problem.groups * rng.integer(1, 4);
    problem.k = problem.groups * rng.integer(1, 4);
    problem.r = rng.integer(1, 5), problem.s = rng.integer(1, 5);
    problem.pad_top = one_in_two(0, 3), problem.pad_left = one_in_two(0, 3);
    problem.pad_bottom = one_in_two(0, 3), problem.pad_right = one_in_two(0, 3);
    problem.stride_h = one_in_two(1, 3), problem.stride_w = one_in_two(1, 3);
    problem.dilation_h = one_in_two(1, 3), problem.dilation_w = one_in_two(1, 3);
    problem.h = rng.integer(13, 30), problem.w = rng.integer(13, 30);
    ASSERT_EQ(parse_problem(to_text(problem)), problem) << to_text(problem);
  }
}

TEST(Problem, SizesFollowTheDefinition) {
  // Counts output positions one by one: each position where the whole dilated filter fits into the padded image.
  for (const char* text : {"c1h28w28_k1r5s5", "c1h7w9_k1r3s2_p1x0x2x3", "c1h7w9_k1r3s3_st2",
                           "c1h8w9_k1r3s3_p2_st3x2_d2x3", "c1h5w5_k1r5s5", "c1h1w1_k1r1s1_st4"}) {
    const ConvProblem problem = parse_problem(text);
    const auto count = [](int64_t size, int64_t filter, int64_t stride, int64_t dilation) {
      int64_t outputs = 0;
      for (int64_t at = 0; at + (filter - 1) * dilation < size; at += stride) ++outputs;
      return outputs;
    };
    EXPECT_EQ(problem.p(),
              count(problem.h + problem.pad_top + problem.pad_bottom, problem.r, problem.stride_h, problem.dilation_h))
        << text;
    EXPECT_EQ(problem.q(),
              count(problem.w + problem.pad_left + problem.pad_right, problem.s, problem.stride_w, problem.dilation_w))
        << text;
  }
}

TEST(Problem, CountsAreThoseOfTheCoursesSecondLayer) {
  const ConvProblem problem = parse_problem("n10000_c12h33w33_k24r5s5");
  EXPECT_EQ(problem.input_shape(), (Shape{10000, 12, 33, 33}));
  EXPECT_EQ(problem.filter_shape(), (Shape{24, 12, 5, 5}));
  EXPECT_EQ(problem.output_shape(), (Shape{10000, 24, 29, 29}));
  EXPECT_EQ(problem.terms(), 300);
  EXPECT_EQ(problem.flops(), 2.0 * 10000 * 24 * 29 * 29 * 300);
  EXPECT_EQ(problem.compulsory_bytes(4, 4), 4.0 * (10000 * 12 * 33 * 33 + 24 * 300 + 10000 * 24 * 29 * 29));
  EXPECT_EQ(problem.compulsory_bytes(1, 4), 1.0 * 10000 * 12 * 33 * 33 + 4.0 * (24 * 300 + 10000 * 24 * 29 * 29));
}

TEST(Problem, GroupsDivideTheFilters) {
  const ConvProblem problem = parse_problem("c6h5w5_k9r3s3_g3");
  EXPECT_EQ(problem.filter_shape(), (Shape{9, 2, 3, 3}));
  EXPECT_EQ(problem.terms(), 18);
  EXPECT_EQ(problem.maps_per_group(), 3);
}

TEST(Problem, WhatIsMalformedNamesThePlace) {
  for (const auto& [text, at] : {std::pair("", 1),
                                 {"n10", 4},
                                 {"n_c1h1w1_k1r1s1", 2},
                                 {"c1h1w1", 7},
                                 {"c1h1w1k1r1s1", 7},
                                 {"c1w1h1_k1r1s1", 3},
                                 {"c1h1w1_k1r1s1_", 14},
                                 {"c1h1w1_k1r1s1_x", 14},
                                 {"c1h1w1_k1r1s1 ", 14},
                                 {"c1h1w1_k1r1s1_g1_p1", 17},
                                 {"c1h1w1_k1r1s1_p1x1", 19},
                                 {"c1h1w1_k1r1s1_st1x1x1", 22},
                                 {"c1h1w1_k1r1s1_d1x1x1", 21},
                                 {"c1h1w1_k1r1s1_d1x", 18},
                                 {"c 1h1w1_k1r1s1", 2},
                                 {"c99999999999999999999h1w1_k1r1s1", 2},
                                 {"N1_c1h1w1_k1r1s1", 1}}) {
    EXPECT_THAT(error(text), HasSubstr("at character " + std::to_string(at) + ";")) << text;
  }
}

TEST(Problem, WhatCannotBeIsAnErrorWithTheReason) {
  EXPECT_THAT(error("n0_c1h1w1_k1r1s1"), HasSubstr(": n must be between 1 and 2147483648, got 0"));
  EXPECT_THAT(error("c-1h1w1_k1r1s1"), HasSubstr(": c must be between 1 and 2147483648, got -1"));
  EXPECT_THAT(error("c1h0w1_k1r1s1"), HasSubstr(": h must be between 1 and 2147483648, got 0"));
  EXPECT_THAT(error("c1h1w0_k1r1s1"), HasSubstr(": w must be between 1 and 2147483648, got 0"));
  EXPECT_THAT(error("c1h1w1_k0r1s1"), HasSubstr(": k must be between 1 and 2147483648, got 0"));
  EXPECT_THAT(error("c1h1w1_k1r0s1"), HasSubstr(": r must be between 1 and 2147483648, got 0"));
  EXPECT_THAT(error("c1h1w1_k1r1s0"), HasSubstr(": s must be between 1 and 2147483648, got 0"));
  EXPECT_THAT(error("c1h1w1_k1r1s1_p-1"), HasSubstr("padding must be between 0 and 2147483648, got -1"));
  EXPECT_THAT(error("c1h1w1_k1r1s1_st0"), HasSubstr("stride must be between 1 and 2147483648, got 0"));
  EXPECT_THAT(error("c1h1w1_k1r1s1_d0"), HasSubstr("dilation must be between 1 and 2147483648, got 0"));
  EXPECT_THAT(error("c1h1w1_k1r1s1_g0"), HasSubstr("groups must be between 1 and 2147483648, got 0"));
  EXPECT_THAT(error("c3h1w1_k2r1s1_g2"), HasSubstr("c (3) must be a multiple of groups (2)"));
  EXPECT_THAT(error("c2h1w1_k3r1s1_g2"), HasSubstr("k (3) must be a multiple of groups (2)"));
  EXPECT_THAT(error("c1h4w9_k1r5s5"), HasSubstr("taller than the padded image"));
  EXPECT_THAT(error("c1h9w4_k1r5s5"), HasSubstr("wider than the padded image"));
  EXPECT_THAT(error("c1h6w6_k1r3s3_d3"), HasSubstr("taller than the padded image"));
  EXPECT_THAT(error("c4294967296h1w1_k1r1s1"), HasSubstr("c must be between 1 and 2147483648, got 4294967296"));
  EXPECT_THAT(error("n2147483648_c2147483648h2w2_k1r1s1"), HasSubstr("overflow"));
  EXPECT_THAT(error("c2147483648h1w1_k2147483648r1s1"), HasSubstr("overflow"));
  EXPECT_THAT(error("c1h2147483648w2147483648_k9r1s1"), HasSubstr("overflow"));
}

TEST(Problem, ALimitThatIsMetExactlyIsFine) {
  EXPECT_EQ(parse_problem("c1h5w5_k1r5s5").p(), 1);
  EXPECT_EQ(parse_problem("c1h1w1_k1r3s3_p1").p(), 1);
  EXPECT_EQ(parse_problem("c1h7w7_k1r3s3_d3").q(), 1);
}

}  // namespace
}  // namespace convlab
