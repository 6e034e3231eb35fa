// Tests which code of a CUDA file is host code and which is device code, and what each side may not use of the other.

#include "convlab/kernel_file/sides.h"
#include "convlab/diagnostics/source_lines.h"
#include "convlab/diagnostics/text_form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "convlab/kernel_file/translation.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> bodies_of(const std::string& text) {
  constexpr const char* kSides[] = {"host", "device", "both"};
  std::vector<std::string> bodies;
  for (const Body& body : outline_of(text).bodies) {
    bodies.push_back(std::string(body.function) + " " + kSides[static_cast<size_t>(body.side)]);
  }
  return bodies;
}

KernelSource source_of(const std::string& text) { return {.path = "/a/mine.cu", .text = text}; }

/// Returns the errors reported if the compiler finds a use, in this line, of a marked declaration with this name.
std::string errors_of(const std::string& text, const std::string& name, int line) {
  const KernelSource source = source_of(text);
  const SideCheck check(source);
  std::string warnings;
  for (const Insertion& mark : check.marks()) {
    warnings += "/a/mine.cu:" + std::to_string(line) + ":3: warning: \u2018" + name +
                "\u2019 is deprecated: " + mark.text.substr(mark.text.find("convlab_mark_")) + "\n";
  }
  SourceLines lines;
  lines.add("/a/mine.cu", text);
  std::string errors;
  for (const Finding& each : check.errors(warnings)) errors += text_form(each, lines, {});
  return errors;
}

TEST(Outlines, AFunctionsSpecifiersSayItsSide) {
  EXPECT_THAT(bodies_of("int f() { return 1; } __device__ int g(int a) { return a; }\n"
                        "template <class T, int N = (1 > 2)> __global__ void __launch_bounds__(64, N) k(T* y) {}\n"
                        "static __host__ __device__ inline float h(float x) noexcept { return x; }\n"
                        "constexpr int c(int a) { return a; }\n"
                        "namespace a { extern \"C\" { void d() {} } }\n"),
              ElementsAre("f host", "g device", "k device", "h both", "c both", "d host"));
}

TEST(Outlines, OfClassesTheirMembers) {
  EXPECT_THAT(bodies_of("struct __align__(8) S : Base<(1 > 0)> {\n"
                        "  __device__ S(int a) : a_{a}, b_(2) { run(); }\n"
                        "  float operator()(float x) const { return x; }\n"
                        "  __device__ bool operator<(const S& s) const { return a_ < s.a_; }\n"
                        "  ~S() {}\n"
                        " private: int a_, b_;\n};\n"
                        "void S::later() const {}\n"),
              ElementsAre("S device", "operator host", "operator device", "S host", "later host"));
}

TEST(Outlines, LambdasHaveASideOfTheirOwn) {
  EXPECT_THAT(bodies_of("void f() { run([=] __device__ (int i) { g(i); }); run([=](int i) { g(i); }); }\n"
                        "__global__ void k() { auto l = [](int i) { return i; }; l(1); }"),
              ElementsAre("f host", "f device", "k device"));
}

TEST(Outlines, MacrosMayBeSpecifiers) {
  const std::string both = "#ifdef A\n#define HD __host__ __device__\n#else\n#define HD\n#endif\n";
  EXPECT_THAT(bodies_of(both + "HD float f() { return 1; }\n"), ElementsAre("f both"));
  EXPECT_THAT(bodies_of("#define DEV __device__ inline\nDEV float f() { return 1; }"), ElementsAre("f device"));
  EXPECT_THAT(bodies_of("OF_ANOTHER_FILE float f() { return 1; } struct S { OTHER S() {} };"),
              ElementsAre("f both", "S both"));
}

TEST(Outlines, OfConditionsTheFirstBranchCounts) {
  EXPECT_THAT(bodies_of("#if 0\nvoid a() {}\n#elif B\nvoid b() {}\n#else\nvoid c() {}\n#endif\n"
                        "#ifdef D\nvoid d(int x) {\n#else\nvoid d() {\n#endif\n}\n"),
              ElementsAre("b host", "d host"));
}

TEST(Outlines, ThereIsNoneWhereBracketsDoNotMatch) {
  EXPECT_THAT(bodies_of("void f() { \n__global__ void k() {}"), IsEmpty());
  EXPECT_THAT(bodies_of("void f() {} }"), IsEmpty());
  EXPECT_THAT(bodies_of("void f() { BEGIN __global__ void k() {} }"), IsEmpty());
}

TEST(Sides, ACallOfTheOtherSideIsAnErrorInNvccsWords) {
  EXPECT_THAT(
      errors_of("float f(float x) { return x; }\n__global__ void k(float* y) { y[0] = f(1); }\n", "float f(float)", 2),
      AllOf(HasSubstr("/a/mine.cu:2:38: error: calling a __host__ function(\"f\") from a __global__ "
                      "function(\"k\") is not allowed"),
            HasSubstr("2 | __global__ void k(float* y) { y[0] = f(1); }\n"), HasSubstr("= help: declare f")));
  EXPECT_THAT(
      errors_of("__device__ int g() { return 1; }\nvoid h() {\n  g();\n}\n", "int g()", 3),
      HasSubstr("mine.cu:3:3: error: calling a __device__ function(\"g\") from a __host__ function(\"h\") is not "
                "allowed"));
}

TEST(Sides, AHostVariableIsUndefinedInDeviceCode) {
  EXPECT_THAT(
      errors_of("static float a = 1, scale[4];\n__device__ float f(float x) { return x * scale[1]; }\n", "scale", 2),
      HasSubstr("mine.cu:2:42: error: identifier \"scale\" is undefined in device code"));
  EXPECT_THAT(errors_of("const float table[2] = {1, 2};\n__global__ void k(float* y, int i) { y[0] = table[i]; }\n",
                        "table", 2),
              HasSubstr("identifier \"table\" is undefined in device code"));
}

TEST(Sides, OnlyTheCompilerSaysWhatANameMeans) {
  const std::string text = "float scale = 1;\n__global__ void k(float* y) { float scale = 2; y[0] = scale; }\n";
  const KernelSource source = source_of(text);
  const SideCheck check(source);
  EXPECT_TRUE(check.suspects());
  EXPECT_TRUE(check.errors("").empty());
  EXPECT_TRUE(check.errors("/a/other.cu:2:1: warning: 'scale' is deprecated: convlab_mark_0\n").empty());
  EXPECT_TRUE(check.errors("/a/mine.cu:2:1: warning: 'other' is deprecated: convlab_mark_0\n").empty())
      << "another variable of the same declaration";
  EXPECT_FALSE(check.errors("/a/mine.cu:2:1: warning: 'scale' is deprecated: convlab_mark_0\n").empty());
}

TEST(Sides, WhatBothSidesMayUseIsNoSuspicion) {
  for (const std::string text : {
           "constexpr float a = 1; const int b = 2; enum { c }; __global__ void k(float* y) { y[0] = a * b * c; }",
           "float t[4]; __global__ void k(float* y) { y[0] = sizeof(t) / sizeof t[0]; }",
           "constexpr int f(int a) { return a; } __global__ void k(float* y) { y[0] = f(1); }",
           "__host__ __device__ int f(int a) { return a; } __global__ void k(int* y) { y[0] = f(1); } void h() { f(1); "
           "}",
           "int f(int a); __device__ int f(int a) { return a; } __global__ void k(int* y) { y[0] = f(1); }",
           "__device__ float f(float a) { return a; } typedef float (*P)(float); void h() { P p = &f; }",
           "float f(float a) { return a; } __global__ void k(S s) { s.f(1); }",
       }) {
    const KernelSource source = source_of(text);
    EXPECT_FALSE(SideCheck(source).suspects()) << text;
  }
}

TEST(Sides, VariablesOfTheDeviceHaveSections) {
  const auto simt = [](const std::string& text) { return translated(source_of(text), Toolchain::simt); };
  const auto section = [](const std::string& name) {
    return "__attribute__((section(\"convlab_device_" + name + "\"))) ";
  };
  EXPECT_THAT(simt("static __device__ float a[4], b;"), HasSubstr(section("a") + "static __device__ float a[4], b;"));
  EXPECT_THAT(simt("#define DEV __device__\nDEV int n;"), HasSubstr(section("n") + "DEV int n;"));
  EXPECT_THAT(simt("OF_ANOTHER_FILE int n;"), HasSubstr(section("n")));
  EXPECT_THAT(simt("__global__ void k() { static int n; n = 1; }"), HasSubstr(section("k_6") + "static int n;"));
  for (const std::string text : {"float a; static int b[3];", "__device__ float f(float x) { return x; }",
                                 "void h() { static int n; n = 1; }", "__constant__ float c[3];"}) {
    EXPECT_THAT(simt(text), Not(HasSubstr("convlab_device_"))) << text;
  }
}

}  // namespace
}  // namespace convlab
