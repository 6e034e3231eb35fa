// Tests the parsing of kernel files, and the source that the compiler gets.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>

#include "convlab/base/file.h"
#include "convlab/base/fingerprint.h"
#include "convlab/kernel_file/cache.h"
#include "convlab/kernel_file/compiler.h"
#include "convlab/kernel_file/source.h"
#include "convlab/kernel_file/tokens.h"
#include "convlab/kernel_file/translation.h"
#include "convlab/kernel_file/unrolled.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> words_of(std::string_view source) {
  std::vector<std::string> words;
  for (const Token& token : tokens_of(source)) words.emplace_back(token.text);
  return words;
}

KernelSource source_of(const std::string& text) { return parse_kernel_source(text, "mine.cu"); }

const std::string kMxnet =
    "template <> void forward<gpu, float>(mshadow::Tensor<gpu, 4, float> &y, const mshadow::Tensor<gpu, 4, float> &x, "
    "const mshadow::Tensor<gpu, 4, float> &w) {}\n__global__ void k() {}\n";

std::string phase(const std::string& name, const std::string& pointers, const std::string& more = "") {
  return "__host__ void GPUInterface::" + name + "(" + pointers +
         ", const int B, const int M, const int C, const int H, "
         "const int W, const int K" +
         more + ") {}\n";
}
const std::string kProlog = phase("conv_forward_gpu_prolog",
                                  "const float *, const float *x, const float *k, float **dy, float **dx, float **dk");
const std::string kCall = phase("conv_forward_gpu", "float *y, const float *x, const float *k");
const std::string kEpilog = phase("conv_forward_gpu_epilog", "float *y, float *dy, float *dx, float *dk");

TEST(Tokens, CommentsAreNoneAndTextsAreOne) {
  EXPECT_THAT(words_of("a/*b\n*/c // d\n\"e f\\\" g\" 'h' 1e-5f x->y::z"),
              ElementsAre("a", "c", "\"e f\\\" g\"", "'h'", "1e-5f", "x", "->", "y", "::", "z"));
  EXPECT_THAT(words_of("R\"(a \" b)\" c"), ElementsAre("R\"(a \" b)\"", "c"));
  EXPECT_THAT(words_of("R\"mark(a )\" b)mark\" c"), ElementsAre("R\"mark(a )\" b)mark\"", "c"));
  EXPECT_THAT(words_of("R\"no mark(\" c"), ElementsAre("R", "\"no mark(\"", "c")) << "marks have no blanks";
  EXPECT_THAT(words_of("/* without end"), ElementsAre());
  EXPECT_THAT(words_of("#define A /* of\ntwo lines */ 1\nb"), ElementsAre("#define A /* of\ntwo lines */", "1", "b"));
}

TEST(Tokens, OfALongTextTakeNoLongerThanItIsLong) {
  std::string source;
  for (int i = 0; i < 60'000; ++i) source += "#\n";
  source += "//";
  for (int i = 0; i < 60'000; ++i) source += " /";  // each of these might begin a multi-line comment
  for (int i = 0; i < 60'000; ++i) source += "\nR\"";
  const std::clock_t begin = std::clock();
  EXPECT_GE(tokens_of(source).size(), 120'000u);
  EXPECT_LT(std::clock() - begin, 2 * CLOCKS_PER_SEC);
}

TEST(Tokens, AWholeDirectiveIsOneAndLinesAreCounted) {
  const std::string source = "#define A \\\n 1\nint b; # no\n";
  const std::vector<Token> tokens = tokens_of(source);
  ASSERT_GE(tokens.size(), 3u);
  EXPECT_EQ(tokens[0].text, "#define A \\\n 1");
  EXPECT_EQ(tokens[1].text, "int");
  EXPECT_EQ(tokens[1].line, 3);
  EXPECT_EQ(included_header("#  include <cuda_fp16.h> // half"), "cuda_fp16.h");
  EXPECT_EQ(included_header("#define include"), std::nullopt);
}

TEST(KernelSource, ToldApartByContent) {
  EXPECT_EQ(source_of(kMxnet).kind, FileKind::mxnet);
  EXPECT_TRUE(source_of(kMxnet).cuda);
  EXPECT_EQ(source_of(kProlog + kCall + kEpilog).kind, FileKind::minidnn);
  EXPECT_EQ(source_of(kCall).kind, FileKind::minidnn);
  EXPECT_EQ(source_of("const RegisterKernel registered{{}};").kind, FileKind::own);
  EXPECT_EQ(source_of("const RegisterConvKernel registered{{}};").kind, FileKind::own);
  const KernelSource function = source_of(
      "void convolve(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int R, int S) {}");
  EXPECT_EQ(function.kind, FileKind::function);
  EXPECT_FALSE(function.cuda);
  EXPECT_FALSE(source_of("void conv_forward_cpu(float *y, const float *x, const float *k, const int B, const int M, "
                         "const int C, const int H, const int W, const int K) {}")
                   .cuda);
}

TEST(KernelSource, WhatIsNoneOrTwoIsRefused) {
  EXPECT_THAT(bad_input_message([] { source_of("int main() {}"); }), HasSubstr("not a kernel file"));
  EXPECT_THAT(bad_input_message([] { source_of("// forward(Tensor& y) {}"); }), HasSubstr("not a kernel file"));
  EXPECT_THAT(bad_input_message([] { source_of(kMxnet + kCall); }), HasSubstr("two kinds found, mxnet and minidnn"));
  EXPECT_THAT(bad_input_message([] { source_of(kProlog + kCall); }), HasSubstr("conv_forward_gpu_epilog is missing"));
}

TEST(KernelSource, TheSemesterIsInItsNumbers) {
  EXPECT_EQ(source_of(kMxnet + "#define SIDE 72\n").semester, "fa18");
  EXPECT_EQ(source_of(kMxnet + "const int side = 48;").semester, "sp19");
  EXPECT_FALSE(source_of(kMxnet + "const int side = 48;").semester_is_guess);
  EXPECT_TRUE(source_of(kMxnet).semester_is_guess);
  EXPECT_TRUE(source_of(kMxnet + "int a = 72, b = 70;").semester_is_guess);
  EXPECT_FALSE(source_of(kMxnet + "// 72\n").semester == "fa18");
  EXPECT_EQ(source_of(kCall + "#define SIDE 72\n").semester, "sp25") << "since 2020 all have the same network";
}

TEST(KernelSource, ParametersMayBeUnnamed) {
  const KernelSource source = source_of(kProlog + kCall + kEpilog);
  const FileFunction& prolog = *source.find("conv_forward_gpu_prolog");
  ASSERT_EQ(prolog.list.size(), 12u);
  EXPECT_EQ(prolog.list[0].type, "const float *");
  EXPECT_EQ(prolog.list[0].name, "");
  EXPECT_EQ(prolog.list[3].name, "dy");
  EXPECT_EQ(prolog.number_count(), 6);
}

TEST(Translation, LaunchesBecomeCalls) {
  const auto simt = [](const std::string& code) { return translated(source_of(kCall + code), Toolchain::simt); };
  EXPECT_THAT(simt("void f() { k<<<g, b>>>(x); }"), HasSubstr("::convlab::simt::cuda::convlab_configure(k, g, b)(x);"));
  EXPECT_THAT(simt("void f() { a::k<16, float> << < g, b, 4, s >> > (x); }"),
              HasSubstr("::convlab::simt::cuda::convlab_configure(a::k<16, float> ,  g, b, 4, s ) (x);"));
  EXPECT_THAT(simt("const char* t = \"k<<<g, b>>>(x)\";"), HasSubstr("\"k<<<g, b>>>(x)\""));
  EXPECT_THAT(translated(source_of(kCall + "void f() { k<<<g, b>>>(x); }"), Toolchain::nvcc),
              HasSubstr("k<<<g, b>>>(x)"));
}

TEST(Translation, LaunchesOfKernelsThatAreDefinedBeforeAreBound) {
  const auto simt = [](const std::string& code) { return translated(source_of(kCall + code), Toolchain::simt); };
  const std::string launch = "void f() { a::one<16, int><<<g, b, 4>>>(x, 0); }";
  const std::string text = simt(
      "namespace a { template <int N, class T = int>\n__global__ void __launch_bounds__(N) one(const T* x, int n = 3) "
      "{\n"
      "#if N\n  { }\n#else\n  { ; }\n#endif\n} }\n" +
      launch);
  EXPECT_THAT(text,
              HasSubstr("} extern \"C++\" { template <int N, class T = int> static auto convlab_bind_one(const T* x, "
                        "int n = 3) { return ::convlab::simt::bind_known_kernel<static_cast<void (*)(decltype(x), "
                        "decltype(n))>(&one<N, T>)>(x, n); } } }\n"));
  EXPECT_THAT(
      text,
      HasSubstr("void f() { ::convlab::simt::cuda::convlab_launch(g, b, 4)(a::convlab_bind_one<16, int>(x, 0)); }"));
  EXPECT_THAT(simt("__global__ void k(const int*, int = 2) {}\nvoid f() { k<<<g, b>>>(x); }"),
              HasSubstr("convlab_bind_k(const int* convlab_unnamed_0 , int convlab_unnamed_1 = 2)"));
  // A kernel with parameters that cannot be parsed reliably is launched by its address.
  for (const std::string parameters : {"const int[]", "void (*f)(int)", "\n#if 1\nint n\n#endif\n"}) {
    const std::string other = simt("__global__ void k(" + parameters + ") {}\nvoid f() { k<<<g, b>>>(x); }");
    EXPECT_THAT(other, HasSubstr("convlab_configure(k, g, b)(x)")) << parameters;
    EXPECT_THAT(other, Not(HasSubstr("convlab_bind"))) << parameters;
  }
  EXPECT_THAT(
      simt("__global__ void k(int n) {\n#if A\n if (n) {\n#else\n {\n#endif\n }\n}\nvoid f() { k<<<g, b>>>(x); }"),
      Not(HasSubstr("convlab_bind")));
  EXPECT_THAT(simt("__global__ void k(int n) {}\n"), Not(HasSubstr("convlab_bind")));
}

TEST(Translation, DynamicSharedArraysBecomePointers) {
  const auto simt = [](const std::string& code) { return translated(source_of(kCall + code), Toolchain::simt); };
  EXPECT_THAT(simt("__global__ void k() { extern __shared__ float tile[]; }"),
              HasSubstr("float* const tile = static_cast<float*>(::convlab::simt::dynamic_shared_memory());"));
  EXPECT_THAT(simt("__global__ void k() { extern __shared__ float tile[][16]; }"),
              HasSubstr("float (*const tile)[16]"));
  EXPECT_THAT(simt("namespace a { extern __shared__ int all[]; }"), HasSubstr("DynamicShared<int> all;"));
  EXPECT_THAT(simt("extern int other[];"), HasSubstr("extern int other[];"));
}

TEST(Translation, LaunchesInMacrosBecomeCalls) {
  const std::string text = "#define RUN(k, n) k<<<n, 32>>>(x, \\\n  n)\n" + kCall;
  EXPECT_THAT(translated(source_of(text), Toolchain::simt),
              HasSubstr("#define RUN(k, n) ::convlab::simt::cuda::convlab_configure(k, n, 32)(x, \\\n  n)\n"));
}

TEST(Translation, ConstantsAreMarkedAndLimitedAsByNvcc) {
  const std::string text =
      "__constant__ float w[16][1 << 20];\n__constant__ int one;\n__constant__ const int two = 2;\n" + kCall;
  const std::string section = "__attribute__((section(\"convlab_constant\")))";
  const std::string limit = "; static_assert(sizeof(w) <= 65536, \"constant memory is limited to 64 KiB\");\n";
  EXPECT_THAT(translated(source_of(text), Toolchain::simt),
              HasSubstr(section + " float w[16][1 << 20]" + limit + section + " int one;\n__constant__ const int two"));
  EXPECT_THAT(translated(source_of("__constant__ int one = 1;\n" + kCall), Toolchain::simt),
              HasSubstr("__attribute__((section(\"convlab_constant_set\"))) int one = 1;"));
  EXPECT_THAT(translated(source_of(text), Toolchain::nvcc), HasSubstr("[1 << 20];\n"));
}

TEST(Translation, LinesStay) {
  const std::string code = "#include \"../../src/layer/custom/gpu-new-forward.h\"\nvoid f() {\n k<<<g,\n b>>>(x); }\n";
  const std::string text = translated(source_of(kCall + code + "int last;"), Toolchain::simt);
  const std::string before = kCall + code;
  EXPECT_EQ(std::ranges::count(text, '\n'), std::ranges::count(before, '\n'));
  EXPECT_THAT(text, HasSubstr("#include \"convlab/kernel_file/include/gpu-new-forward.h\""));
}

TEST(Translation, AHeaderBesideTheFileStays) {
  const TemporaryFolder folder;
  const std::string text = "#include \"gpu-new-forward.h\"\n" + kCall;
  const auto unit = [&] {
    return compilation_unit(parse_kernel_source(text, folder.path() / "mine.cu"), Toolchain::simt);
  };
  EXPECT_THAT(unit(), HasSubstr("class GPUInterface {"));
  EXPECT_THAT(unit(), HasSubstr("#include \"convlab/kernel_file/include/gpu-new-forward.h\""));
  const auto write_header = [&](const std::string& input) {
    write_file(folder.path() / "gpu-new-forward.h",
               "class GPUInterface { float* streams[8];\n  void conv_forward_gpu(float* y, " + input +
                   " * x, const float*, int B, int M, int C, int H, int W, int K);\n};");
  };
  write_header("float");  // from another semester, and without a class for this file
  EXPECT_THAT(unit(), HasSubstr("class GPUInterface {"));
  write_header("const float");
  EXPECT_THAT(unit(), Not(HasSubstr("class GPUInterface {")));
  EXPECT_THAT(unit(), HasSubstr("#include \"gpu-new-forward.h\""));
}

TEST(Translation, WhatNobodyCanCallIsRefused) {
  EXPECT_THAT(bad_input_message([] {
                compilation_unit(
                    source_of("void GPUInterface::conv_forward_gpu(float* y, float* x, float* k, int n) {}"),
                    Toolchain::simt);
              }),
              HasSubstr("mine.cu:1: unsupported signature conv_forward_gpu(float* y, float* x, float* k, int n); "
                        "expected 3 pointers"));
  EXPECT_THAT(bad_input_message([] {
                compilation_unit(source_of("void convolve(const float* x, const float* w, float* y, int Z) {}"),
                                 Toolchain::cpu);
              }),
              HasSubstr("unknown parameter 'Z'"));
  EXPECT_THAT(bad_input_message([] {
                compilation_unit(source_of("void convolve(float* y, const float* x, const float* w, int N) {}"),
                                 Toolchain::cpu);
              }),
              HasSubstr("must be x, w and y in this order"));
}

TEST(Translation, ACourseOrNvidiasNamesSayWhatKIs) {
  const auto unit = [](const std::string& numbers) {
    return compilation_unit(source_of("void convolve(const float* x, const float* w, float* y, " + numbers + ") {}"),
                            Toolchain::cpu);
  };
  EXPECT_THAT(unit("int B, int M, int C, int H, int W, int K"),
              HasSubstr("convolve(x, w, y, p.images, p.maps, p.channels, p.height, p.width, p.filter_h)"));
  EXPECT_THAT(unit("int N, int C, int H, int W, int K, int R, int S"),
              HasSubstr("convolve(x, w, y, p.images, p.channels, p.height, p.width, p.maps, p.filter_h, p.filter_w)"));
}

TEST(Fingerprints, DependOnEveryTextAndItsEnd) {
  const auto of = [](std::initializer_list<std::string_view> texts) {
    Fingerprint fingerprint;
    for (const std::string_view text : texts) fingerprint.add(text);
    return fingerprint.hex();
  };
  EXPECT_EQ(of({"ab", "c"}), of({"ab", "c"}));
  EXPECT_NE(of({"ab", "c"}), of({"a", "bc"}));
  EXPECT_NE(of({"ab"}), of({"ab", ""}));
  EXPECT_EQ(of({"a"}).size(), 32u);
}

TEST(Caches, ForgetTheOldest) {
  const TemporaryFolder folder;
  ::setenv("CONVLAB_CACHE", folder.path().c_str(), 1);
  const Cache cache;
  ::unsetenv("CONVLAB_CACHE");
  EXPECT_FALSE(cache.is_temporary());
  for (const char* name : {"old", "new"}) {
    write_file(cache.path_of(name), std::string_view("0123456789"));
    const auto age = std::chrono::hours(name[0] == 'o' ? 2 : 1);
    std::filesystem::last_write_time(cache.path_of(name), std::filesystem::file_time_type::clock::now() - age);
  }
  cache.shrink(15);
  EXPECT_FALSE(std::filesystem::exists(cache.path_of("old")));
  EXPECT_TRUE(std::filesystem::exists(cache.path_of("new")));
}

TEST(Caches, AreTemporaryWhereNothingCanBeWritten) {
  const TemporaryFolder folder;
  write_file(folder.path() / "file", std::string_view("no folder"));
  ::setenv("CONVLAB_CACHE", (folder.path() / "file").c_str(), 1);
  std::filesystem::path place;
  {
    const Cache cache;
    EXPECT_TRUE(cache.is_temporary());
    place = cache.path_of("x").parent_path();
    EXPECT_TRUE(std::filesystem::is_directory(place));
  }
  ::unsetenv("CONVLAB_CACHE");
  EXPECT_FALSE(std::filesystem::exists(place));
}

TEST(Registers, AreWhatPtxasSaysOfEachKernel) {
  const std::map<std::string, int> registers = registers_in(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function "
      "'_ZN7convlab56_GLOBAL__N__b6539875_19_10_register_tile_cu_1957ef8c_59422convolve_register_tileILi8ELi5EEEvPKfS3_"
      "Pf' "
      "for 'sm_90a'\n"
      "ptxas info    : Function properties for _ZN7convlab\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 109 registers, used 1 barriers\n"
      "ptxas info    : Compile time = 259.535 ms\n"
      "ptxas info    : Compiling entry function '_Z7forwardPf' for 'sm_90a'\n"
      "ptxas info    : Used 8 registers\n");
  EXPECT_EQ(registers, (std::map<std::string, int>{{"convolve_register_tile<8, 5>", 109}, {"forward", 8}}));
  EXPECT_TRUE(registers_in("nvcc fatal : something else").empty());
}

TEST(Unrolled, AsksForWhatNvccDoes) {
  const std::string loop = "for (int i = 0; i < n; ++i) f(i);";
  EXPECT_EQ(unrolled("# 1 \"a.cu\"\n#pragma unroll\n" + loop), "# 1 \"a.cu\"\n#pragma GCC unroll 64\n" + loop);
  EXPECT_EQ(unrolled("#pragma unroll 1\n" + loop), "#pragma GCC unroll 1\n" + loop);
  EXPECT_EQ(unrolled("#pragma GCC unroll 2\n" + loop), "#pragma GCC unroll 2\n" + loop);
  EXPECT_EQ(unrolled("void f() { " + loop + " }"), "void f() { _Pragma(\"GCC unroll 16\") " + loop + " }");
  EXPECT_EQ(unrolled("for (int v : values) f(v);"), "_Pragma(\"GCC unroll 16\") for (int v : values) f(v);");
}

TEST(Unrolled, LeavesEndlessLoopsAndTheSystemsHeadersAsTheyAre) {
  const std::string kSystem = "# 1 \"/usr/include/c++/12/vector\" 1 3\nfor (; a;) f();\n# 7 \"a.cu\" 2\n";
  EXPECT_EQ(unrolled(kSystem + "for (; b;) g();"), kSystem + "_Pragma(\"GCC unroll 16\") for (; b;) g();");
  for (const std::string endless :
       {"for (;;) f();", "for (int i = g(1, 2);; ++i) f();", "#pragma unroll\nfor (;;) f();"}) {
    EXPECT_EQ(unrolled(endless), endless);
  }
}

}  // namespace
}  // namespace convlab
