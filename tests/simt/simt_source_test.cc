// Tests what simt reads from a kernel's source for the help of its findings.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "convlab/simt/barriers.h"
#include "convlab/simt/code_text.h"
#include "convlab/simt/parameters.h"

namespace convlab::simt::internal {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(CodeText, CommentsLiteralsAndDirectivesAreBlank) {
  const std::string source =
      "#define X { \\\n  {\nint a; // {\nchar b = '{', *c = \"{\\\"{\"; /* {\n{ */ int d = 10'000;\n";
  const std::string code = code_of(source);
  EXPECT_EQ(code.size(), source.size());
  EXPECT_EQ(code.find('{'), std::string::npos) << code;
  EXPECT_THAT(code, HasSubstr("int a;"));
  EXPECT_THAT(code, HasSubstr("int d = 10'000;"));
}

TEST(CodeText, AnUpdateInPlaceUsesOneElement) {
  EXPECT_TRUE(updates_in_place("  counts[values[i]] += 1;", "counts"));
  EXPECT_TRUE(updates_in_place("if (i < n) ++counts[i];", "counts"));
  EXPECT_TRUE(updates_in_place("tile[i][j] *= 2;", "tile"));
  EXPECT_TRUE(updates_in_place("counts[i]--;", "counts"));
  EXPECT_FALSE(updates_in_place("sums[i] += sums[i + step];", "sums"));
  EXPECT_FALSE(updates_in_place("counts[i] = counts[i] + 1;", "counts"));
  EXPECT_FALSE(updates_in_place("total += counts[i];", "counts"));
  EXPECT_FALSE(updates_in_place("counts[i] = 1;  // counts[i] += 1", "counts"));
}

TEST(CodeText, LoopsEndWithTheirBodies) {
  const std::string source =
      "void f() {\n"                             // 1
      "  for (int i = 0; i < 3; ++i)\n"          // 2
      "    for (int j = 0; j < 3; ++j)\n"        // 3
      "      if (i) {\n"                         // 4
      "        g();\n"                           // 5
      "      } else\n"                           // 6
      "        h();\n"                           // 7
      "  do {\n"                                 // 8
      "    while (x) x = [] { return 0; }();\n"  // 9
      "  } while (true);\n"                      // 10
      "  for (broken\n";                         // 11
  const std::vector<LoopLines> loops = loops_in(source);
  ASSERT_GE(loops.size(), 4u);
  const auto is = [&](size_t i, int first, int last) {
    EXPECT_EQ(loops[i].first, first);
    EXPECT_EQ(loops[i].last, last);
  };
  is(0, 2, 7);
  is(1, 3, 7);
  is(2, 8, 10);
  is(3, 9, 9);
}

constexpr const char* kTile =
    "__global__ void conv(float* y) {\n"              // 1
    "  for (int c = 0; c < C; ++c) {\n"               // 2
    "    for (int i = threadIdx.x; i < X; i += 4)\n"  // 3
    "      tile[i] = x[i];\n"                         // 4
    "    __syncthreads();\n"                          // 5
    "    for (int p = 0; p < K; ++p) {\n"             // 6
    "      if (p > 3) continue;\n"                    // 7
    "      sum += tile[p];\n"                         // 8
    "    }\n"                                         // 9
    "  }\n"                                           // 10
    "}\n";

TEST(Barriers, AMissingOneGoesToTheEndOfTheLoop) {
  EXPECT_EQ(barrier_between(kTile, 4, 8), 5);
  EXPECT_EQ(missing_barrier(kTile, 4, 8),
            "add __syncthreads() at the end of the body of the loop at line 2, before its '}' at line 10");
}

TEST(Barriers, AMissingOneIsOutsideOfInnerLoops) {
  std::string source = kTile;
  source.replace(source.find("__syncthreads();"), 16, "// __syncthreads()");
  EXPECT_EQ(barrier_between(source, 4, 8), 0);
  EXPECT_EQ(missing_barrier(source, 4, 8), "add __syncthreads() between line 4 and line 6");
}

TEST(Barriers, ThreadsLeaveByReturnOrByTheEndOfALoop) {
  EXPECT_THAT(exited_before_barrier(kTile, 5), StartsWith("call __syncthreads() equally often in all threads"));
  std::string source = kTile;
  source.insert(source.find("  for"), "if (threadIdx.x) return; ");
  EXPECT_THAT(exited_before_barrier(source, 5), StartsWith("do not return before the barrier"));
}

TEST(Parameters, ADynamicArrayHasTheNameInTheLine) {
  const std::string source =
      "extern __shared__ float tile[];\nvoid f() {\n  extern __shared__ __align__(16) int other[];\n}\n";
  EXPECT_EQ(dynamic_array_in_source(source, "  tile[0] = 1;"), "tile");
  EXPECT_EQ(dynamic_array_in_source(source, "  y = other[i];"), "other");
  EXPECT_EQ(dynamic_array_in_source(source, "  y = pointer[i];"), "");
}

}  // namespace
}  // namespace convlab::simt::internal
