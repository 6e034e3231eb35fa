// Tests which brace is named if the braces of a kernel file do not match.

#include "convlab/kernel_file/braces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convlab/diagnostics/compiler_output.h"

namespace convlab {
namespace {

using testing::HasSubstr;

Finding brace_of(const std::string& text) {
  const std::optional<Finding> finding = unbalanced_brace(text, "mine.cu");
  EXPECT_TRUE(finding.has_value()) << text;
  return finding.value_or(Finding{});
}

bool is_balanced(const std::string& text) { return !unbalanced_brace(text, "mine.cu"); }

TEST(Braces, TheIndentationShowsWhichBlockIsNotClosed) {
  const Finding loop = brace_of(
      "__global__ void k(float* y,\n"
      "                  int n) {\n"
      "  for (int i = 0; i < n; ++i) {\n"
      "    if (i > 2) {\n"
      "      y[i] = 0;\n"
      "    }\n"
      "  y[0] = 1;\n"
      "}\n"
      "void convolve() {\n"
      "}\n");
  EXPECT_EQ(loop.kind, kCompileError);
  EXPECT_EQ(loop.text, "'{' at line 3 has no matching '}'");
  ASSERT_EQ(loop.labels.size(), 2u);
  EXPECT_EQ(loop.labels[0].place, (SourcePlace{"mine.cu", 3, 31}));
  EXPECT_EQ(loop.labels[1].place, (SourcePlace{"mine.cu", 8, 1}));
  EXPECT_EQ(loop.labels[1].text, "this '}' closes it, but is indented like line 1");
  EXPECT_EQ(loop.help, "add '}' before line 7");
}

TEST(Braces, AFunctionThatIsNotClosed) {
  const Finding function = brace_of("__global__ void k() {\n  int a;\n\nvoid f() {\n  int b;\n}\n");
  EXPECT_EQ(function.text, "'{' at line 1 has no matching '}'");
  EXPECT_EQ(function.labels[0].text, "no '}' closes it before the end of the file");
  EXPECT_EQ(brace_of("void f()\n{\n  for (;;)\n  {\n    g();\n  }\n").text, "'{' at line 2 has no matching '}'");
}

TEST(Braces, AnEndWithoutABeginning) {
  const Finding end = brace_of("void f() {\n  if (a)\n    b();\n  }\n  c();\n}\n");
  EXPECT_EQ(end.text, "'}' at line 4 has no matching '{'");
  EXPECT_EQ(end.labels[1].place, (SourcePlace{"mine.cu", 1, 10}));
  EXPECT_THAT(end.help, HasSubstr("add the missing '{'"));
  EXPECT_EQ(brace_of("void f() {\n}\n}\nvoid g() {\n}\n").text, "'}' at line 3 has no matching '{'");
}

TEST(Braces, OfCommentsLiteralsAndMacrosDoNotCount) {
  EXPECT_TRUE(is_balanced("// {\n/* { */ const char* s = \"{\"; char c = '{'; auto r = R\"({)\";\n#define BEGIN {\n"));
  EXPECT_EQ(brace_of("#define CHECK(call) \\\n  { call;\nvoid f() { // }\n").text, "'{' at line 3 has no matching '}'");
}

TEST(Braces, OneBranchOfAConditionCounts) {
  const std::string one = "#if WITH_A\n  if (a) {\n#elif WITH_B\n  if (b) {\n#else\n  if (c) {\n#endif\n";
  EXPECT_TRUE(is_balanced("void f() {\n" + one + "  }\n}\n"));
  EXPECT_EQ(brace_of("void f() {\n" + one + "}\n").text, "'{' at line 7 has no matching '}'");
}

TEST(Braces, WrongIndentationOfBalancedBracesIsNotAFinding) {
  EXPECT_TRUE(is_balanced("void f() {\n    if (a) {\n  b();\n }\n  }\n"));
}

}  // namespace
}  // namespace convlab
