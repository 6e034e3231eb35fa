// Tests kernel files whose host and device code must keep apart, on simt.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/temporary_kernel_files.h"

namespace convlab {
namespace {

using testing::HasSubstr;

/// A correct kernel with its host code; tests plant mistakes by replacing the fields.
struct ConvolveFile {
  std::string before, result = "sum", first, filter = "w", last, call = "conv_k<<<8, 64>>>";

  std::string text() const {
    return before +
           "\n__global__ void conv_k(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int "
           "R,\n"
           "                       int S) {\n"
           "  const int P = H - R + 1, Q = W - S + 1;\n"
           "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N * K * P * Q; i += gridDim.x * blockDim.x) {\n"
           "    const int q = i % Q, p = i / Q % P, k = i / Q / P % K, n = i / Q / P / K;\n"
           "    float sum = 0;\n"
           "    for (int c = 0; c < C; ++c)\n"
           "      for (int r = 0; r < R; ++r)\n"
           "        for (int s = 0; s < S; ++s)\n"
           "          sum += x[((n * C + c) * H + p + r) * W + q + s] * w[((k * C + c) * R + r) * S + s];\n"
           "    y[i] = " +
           result +
           ";\n"
           "  }\n"
           "}\n"
           "void convolve(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int R, int S) "
           "{\n" +
           first + "\n  " + call + "(x, " + filter + ", y, N, C, H, W, K, R, S);\n" + last + "}\n";
  }
};

struct Mistake {
  std::string name;
  ConvolveFile file;
  std::string verdict, reason;
};

const std::string kFiltersToHost = "  cudaMemcpy(hw, w, K * C * R * S * 4, cudaMemcpyDeviceToHost);";

const std::vector<Mistake> kMistakes{
    {"host_reads",
     {.last = "  y[0] += 0.0f;\n"},
     "FAILED",
     "host code reads device memory 'y': reads y[0] here, at host_reads.cu:18; help: copy it with cudaMemcpy"},
    {"host_writes",
     {.first = "  for (int i = 0; i < 8; ++i) y[i] = 0;"},
     "FAILED",
     "host code writes device memory 'y': writes y[0] here, at host_writes.cu:16"},
    {"host_array",
     {.before = "static float hw[4096];", .first = kFiltersToHost, .filter = "hw"},
     "FAILED",
     "kernel accesses host memory: thread (0,0,0) reads w[0], which is host variable 'hw' (kernel conv_k, block "
     "(0,0,0)"},
    {"host_malloc",
     {.before = "#include <cstdlib>",
      .first = "  float* hw = (float*)malloc(16384);\n" + kFiltersToHost,
      .filter = "hw"},
     "FAILED",
     "reads w[0], which is host memory (malloc or new)"},
    {"host_stack",
     {.first = "  float hw[4096];\n" + kFiltersToHost, .filter = "hw"},
     "FAILED",
     "reads w[0], which is the host stack"},
    {"freed",
     {.first = "  float* hw;\n  cudaMalloc(&hw, 16384);\n  cudaFree(hw);", .filter = "hw"},
     "FAILED",
     "use of global memory 'w' after it was freed: thread (0,0,0) reads w[0]; cudaFree frees it here at "
     "freed.cu:18"},
    {"host_variable",
     {.before = "float scale = 1;", .result = "sum * scale"},
     "NOT_COMPILED",
     "host_variable.cu:12:18: error: identifier \"scale\" is undefined in device code"},
    {"host_function",
     {.before = "#include <vector>\nfloat kept(float v) { static std::vector<float> all; all.push_back(v); return v; }",
      .result = "kept(sum)"},
     "NOT_COMPILED",
     "host_function.cu:13:12: error: calling a __host__ function(\"kept\") from a __global__ function(\"conv_k\") is "
     "not "
     "allowed"},
    {"device_function",
     {.before = "__device__ int one() { return 1; }", .last = "  one();\n"},
     "NOT_COMPILED",
     "device_function.cu:18:3: error: calling a __device__ function(\"one\") from a __host__ function(\"convolve\") is "
     "not "
     "allowed"},
    {"device_variable",
     {.before = "__device__ float scale;", .result = "sum * scale", .first = "  scale = 1;"},
     "FAILED",
     "host code writes __device__ variable 'scale': writes scale here, at device_variable.cu:16; help: use "
     "cudaMemcpyToSymbol"},
    {"no_launch", {.call = "conv_k"}, "NOT_COMPILED", "a __global__ function call must be configured"},
    {"up",
     {.first = "  float h[4] = {}, *d;\n  cudaMalloc(&d, 16);\n  cudaMemcpy(d, h, 16, cudaMemcpyDeviceToHost);"},
     "FAILED",
     "cudaMemcpy failed: cudaErrorInvalidValue: it copies from host to device memory, but its direction is "
     "cudaMemcpyDeviceToHost, so nothing is copied (CUDA's error: invalid argument), at up.cu:18"},
    {"down",
     {.first = "  float h[4];\n  cudaMemcpy(h, w, 16, cudaMemcpyHostToDevice);"},
     "FAILED",
     "it copies from device to host memory, but its direction is cudaMemcpyHostToDevice"},
};

TEST_F(KernelFiles, HostAndDeviceAreKeptApart) {
  std::vector<std::string> files{"--device", "simt", "--problem", "n2_c3h9w9_k4r3s3"};
  for (const Mistake& each : kMistakes) files.push_back(write(each.name + ".cu", each.file.text()));
  const Json verdicts = verified(files, 1);
  for (size_t i = 0; i < kMistakes.size(); ++i) {
    SCOPED_TRACE(kMistakes[i].name);
    const Json& file = verdicts[i];
    EXPECT_EQ(file["verdict"], kMistakes[i].verdict) << file;
    const bool has_cases = !file["cases"].empty();
    EXPECT_THAT((has_cases ? file["cases"][0] : file)["reason"].get<std::string>(), HasSubstr(kMistakes[i].reason));
  }
}

TEST_F(KernelFiles, WhatBothSidesMayUsePasses) {
  const std::vector<ConvolveFile> right{
      // Constants and functions for host and device, and names that mean something else inside the kernel.
      {.before = "#include <algorithm>\n"
                 "#define HD __host__ __device__\n"
                 "constexpr float kOne = 1;\nconst int kTwo = 2;\nenum { kThree = 3 };\nfloat scale = 5, table[4];\n"
                 "HD int up(int a, int b) { return (a + b - 1) / b; }\n"
                 "constexpr int same(int a) { return a; }\n"
                 "float apply(float a) { return a * scale; }\n"
                 "struct Times { float by; HD explicit Times(float b) : by{b} {}\n"
                 "  __device__ float operator()(float v) const { return v * by; } };",
       .result = "[&] { float scale = kOne * kTwo * kThree / 6; auto apply = [](float v) { return v; };\n"
                 "  return apply(Times(scale)(std::max(sum, -1e30f))) * up(1, 1) * same(1) * (sizeof(table) / 16); }()",
       .first = "  table[0] = apply(scale);",
       .call = "conv_k<<<up(same(N * K), 64), 64>>>"},
      // Device variables, and ways for the host to access them.
      {.before =
           "template <class T> __device__ T plus_zero(T v) { static T zero; return v + zero; }\n"
           "__device__ float late = 1;\n__device__ float use_late() { return late; }\n"
           "namespace { __device__ float zeros[4]; }\n__constant__ float ones[2];\n__device__ int calls;\n"
           "template <class T> void fill(T& symbol, const float* from) { cudaMemcpyToSymbol(symbol, from, sizeof(T)); "
           "}",
       .result = "[&] { static int n; static const float t[2] = {0, 1}; atomicAdd(&calls, 1);\n"
                 "  return plus_zero(sum) * use_late() * ones[n] * t[n + 1] + zeros[n]; }()",
       .first = "  const float one[2] = {1, 1};\n  fill(ones, one);\n  void* z;\n  cudaGetSymbolAddress(&z, zeros);\n"
                "  cudaMemset(z, 0, sizeof(zeros));",
       .last = "  int n = 0;\n  cudaMemcpyFromSymbol(&n, calls, sizeof(n));\n  if (n == 0) throw 1;\n"},
      // Device lambdas in host code, managed memory, and a copy whose direction does not matter.
      {.before = "__device__ float one(float v) { return v; }\n"
                 "template <class F> __global__ void each(F f) { f(threadIdx.x); }\n"
                 "template <class F> void run(F f) { each<F><<<1, 16>>>(f); }",
       .first = "  float* m;\n  cudaMallocManaged(&m, 64);\n  m[0] = 1;\n"
                "  run([=] __device__ (int i) { m[i] = one(1); });\n  cudaDeviceSynchronize();\n"
                "  m[1] += m[0];\n  cudaFree(m);\n  float* d;\n  cudaMalloc(&d, 64);\n"
                "  cudaMemcpy(d, x, 64, cudaMemcpyHostToDevice);\n  cudaFree(d);"},
  };
  std::vector<std::string> files{"--device", "simt", "--problem", "n2_c3h9w9_k4r3s3"};
  for (size_t i = 0; i < right.size(); ++i) files.push_back(write(fmt::format("right{}.cu", i), right[i].text()));
  const Json verdicts = verified(files, 0);
  EXPECT_THAT(verdicts[2]["notes"].dump(), HasSubstr("cudaMemcpy copies within device memory, but its direction is"));
}

}  // namespace
}  // namespace convlab
