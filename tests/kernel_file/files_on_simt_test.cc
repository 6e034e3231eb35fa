// Tests what kernel files may do on simt besides plain loads and stores. One file, compiled once, contains all cases.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/conv/problem.h"
#include "convlab/device/device.h"
#include "convlab/device/simt.h"
#include "convlab/kernel_file/compiler.h"
#include "convlab/kernel_file/library.h"
#include "tests/support/own_cache.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kFile = R"(
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include "kernels.cuh"
#include "kernels.cuh"

__shared__ float weights[64];
__constant__ float unset[16];
__constant__ float with_values[4] = {1, 2, 3, 4};
__constant__ float set[16];
__device__ float* kept;

__global__ void file_scope(float* y) {
  if (threadIdx.x == 0) weights[0] = 2;
  __syncthreads();
  y[threadIdx.x] = weights[0];
}

__global__ void copy_past_end(int* y, int count) {
  const int values[3] = {1, 2, 3};
  if (threadIdx.x == 0) memcpy(y + count - 1, values, 12);
}
__global__ void set_past_end(int* y, int count) { if (threadIdx.x == 0) memset(y, 0, count * 4 + 40); }
__global__ void copy_unset(int* y, const int* from) { if (threadIdx.x == 0) memmove(y, from, 40); }
__global__ void copies_overlap(int* y) {
  const int values[3] = {(int)threadIdx.x, 1, 2};
  memcpy(y + threadIdx.x, values, 12);
}
__global__ void standard_copies_overlap(int* y) {
  const int values[3] = {(int)threadIdx.x, 1, 2};
  std::copy(values, values + 3, y + threadIdx.x);
}
__global__ void standard_fills_overlap(unsigned char* y) {
  std::fill(y + threadIdx.x, y + threadIdx.x + 3, (unsigned char)threadIdx.x);
}

__global__ void write_unset() { unset[threadIdx.x % 16] = 1; }
__global__ void write_set() { set[threadIdx.x % 16] = 1; }
__global__ void read_unset(float* y) { y[threadIdx.x] = unset[threadIdx.x % 16]; }
__global__ void read_set(float* y) { y[threadIdx.x] = set[threadIdx.x % 16] + with_values[threadIdx.x % 4]; }

__global__ void use_heap(float* y) {
  float* own = (float*)malloc(40);
  int* more = new int[4];
  for (int i = 0; i < 10; ++i) own[i] = i + threadIdx.x;
  more[3] = 5;
  y[blockIdx.x * blockDim.x + threadIdx.x] = own[9] + more[3];
  free(own);
  delete[] more;
}
__global__ void keep_heap() {
  if (threadIdx.x == 0) kept = (float*)malloc(128);
  __syncthreads();
  kept[threadIdx.x] = threadIdx.x;
}
__global__ void read_kept(float* y) {
  y[threadIdx.x] = kept[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) free(kept);
}
__global__ void past_heap(float* y) { float* own = (float*)malloc(40); own[10] = 1; y[threadIdx.x] = own[10]; }
__global__ void late_heap(float* y) { float* own = (float*)malloc(40); own[0] = 1; free(own); y[threadIdx.x] = own[0]; }
__global__ void unset_heap(float* y) { float* own = (float*)malloc(40); y[threadIdx.x] = own[3]; free(own); }
__global__ void free_twice(float* y) { float* own = (float*)malloc(40); free(own); free(own); }
__global__ void read_array(const float* array, float* y) { y[threadIdx.x] = array[threadIdx.x]; }

template <class T> __global__ void deduced(T a, const T* x, T* y, int n) {
  if (threadIdx.x < n) y[threadIdx.x] = a * x[0];
}
__global__ void overloaded(float* y, int n) { y[threadIdx.x] = n; }
__global__ void overloaded(float* y, float f) { y[threadIdx.x] = f; }
__global__ void with_defaults(float* y, int n = 7, const float* m = nullptr) { y[threadIdx.x] = m ? m[0] : n; }
template <int N, class... T> __global__ void __launch_bounds__(256) pack(float* y, T... t) {
  y[threadIdx.x] = (N + ... + t);
}
namespace inner { template <class T> __global__ static void scoped(T* y) { y[threadIdx.x] = 3; } }
extern "C" __global__ void plain(float* y, const float*, int) { y[threadIdx.x] = 1; }
__global__ void is_null(const float* p, float* y) { y[threadIdx.x] = p == nullptr; }
#define RUN(k, ...) k<<<1, 32>>>(__VA_ARGS__)
int calls = 0;
int next() { return ++calls; }

void launches(const float* x, float* y) {
  deduced<<<1, 64>>>(2.0f, x, y, 32);
  overloaded<<<1, 32>>>(y, 1);
  overloaded<<<1, 32>>>(y, 1.5f);
  with_defaults<<<1, 32>>>(y);
  pack<3><<<dim3(1), dim3(32), 0, 0>>>(y, 1, 2.5f);
  inner::scoped<float><<<1, 32>>>(y);
  inner::scoped<<<1,
      32>>>(y);
  plain<<<1, 32>>>(y, NULL, 3);
  is_null<<<1, 32>>>(NULL, y);
  is_null<<<1, 32>>>(0, y);
  void (*pointer)(const float*, float*) = is_null;
  pointer<<<1, 32>>>(0, y);
  RUN(is_null, x, y);
  with_defaults<<<1, 32>>>(y, next());
  start_of_header(y);
  of_header<<<1, 32, 128>>>(y);
  if (calls != 1) RUN(plain, nullptr, x, 0);
}

void convolve(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int R, int S) {
  const int count = N * K * (H - R + 1) * (W - S + 1);
  int *const words = (int*)y, *fresh;
  cudaMalloc(&fresh, 4000);
  float values[16] = {};
  switch (K) {
    case 1: file_scope<<<1, 32>>>(y); break;
    case 2: copy_past_end<<<1, 32>>>(words, count); break;
    case 3: set_past_end<<<1, 32>>>(words, count); break;
    case 4: copy_unset<<<1, 32>>>(words, fresh); break;
    case 5: copies_overlap<<<1, 32>>>(words); break;
    case 6: standard_copies_overlap<<<1, 32>>>(words); break;
    case 7: standard_fills_overlap<<<1, 32>>>((unsigned char*)y); break;
    case 8: write_unset<<<1, 32>>>(); break;
    case 9: read_unset<<<1, 32>>>(y); break;
    case 10: cudaMemcpyToSymbol(set, values, 64); read_set<<<1, 32>>>(y); break;
    case 11: cudaMemcpyToSymbol(set, values, 64); write_set<<<1, 32>>>(); break;
    case 12: use_heap<<<8, 32>>>(y); keep_heap<<<1, 32>>>(); read_kept<<<1, 32>>>(y); break;
    case 13: past_heap<<<1, 32>>>(y); break;
    case 14: late_heap<<<1, 32>>>(y); break;
    case 15: unset_heap<<<1, 32>>>(y); break;
    case 16: free_twice<<<1, 32>>>(y); break;
    case 17: cudaFree(fresh); read_array<<<1, 32>>>((float*)fresh, y); return;
    case 18: launches(x, y); break;
  }
  cudaFree(fresh);
}
)";

constexpr const char* kTransfers = R"(
__global__ void use_managed(float* m) { m[threadIdx.x] = 1; }

// Work that the host waits for, or does not, before it touches memory.
void convolve(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int R, int S) {
  float *pinned, *managed, host[16], sum = 0;
  cudaMallocHost(&pinned, 64);
  cudaMallocManaged(&managed, 64);
  cudaStream_t one, two;
  cudaEvent_t event;
  cudaStreamCreate(&one);
  cudaStreamCreate(&two);
  cudaEventCreate(&event);
  const auto copy_back = [&](float* to) { cudaMemcpyAsync(to, y, 64, cudaMemcpyDeviceToHost, one); };
  const auto copy_there = [&] { cudaMemcpyAsync(y, pinned, 64, cudaMemcpyHostToDevice, one); };
  const auto use = [&] { use_managed<<<1, 16, 0, one>>>(managed); };
  switch (K) {
    case 1: copy_back(pinned); sum += pinned[3]; break;
    case 2: copy_back(host); sum += host[3]; break;
    case 3: copy_back(pinned); cudaStreamSynchronize(two); sum += pinned[4]; break;
    case 4: copy_back(pinned); cudaStreamSynchronize(one); sum += pinned[5]; break;
    case 5: copy_back(pinned); cudaEventRecord(event, one); cudaEventSynchronize(event); sum += pinned[6]; break;
    case 6: cudaEventRecord(event, one); copy_back(pinned); cudaEventSynchronize(event); sum += pinned[7]; break;
    case 7: copy_there(); pinned[8] = 1; break;
    case 8: copy_there(); sum += pinned[9]; break;
    case 9: use(); sum += managed[0]; break;
    case 10: use(); cudaDeviceSynchronize(); sum += managed[1]; break;
    case 11: use(); cudaMemcpy(host, y, 64, cudaMemcpyDeviceToHost); sum += managed[2]; break;
    case 12:
      use(); cudaEventRecord(event, one); cudaStreamWaitEvent(two, event, 0); cudaStreamSynchronize(two);
      sum += managed[10]; break;
    case 13: use(); sum += *(volatile float*)(managed + 4); break;
  }
  cudaDeviceSynchronize();
  cudaFreeHost(pinned);
  cudaFree(managed);
  if (sum > 1e30f) throw 1;
}
)";

constexpr const char* kHeader = R"(#pragma once
#include "folder/more.cuh"
extern __shared__ float of_launch[];
template <class T> __global__ void of_header(T* y) {
  of_launch[threadIdx.x] = kTwo;
  __syncthreads();
  y[threadIdx.x] = of_launch[31 - threadIdx.x];
}
inline void start_of_header(float* y) { of_header<<<1, 32, 128>>>(y); }
)";

std::string line_of(std::string_view part, std::string_view text = kFile) {
  const size_t at = text.find(part);
  return "mine.cu:" + std::to_string(1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(at), '\n'));
}

/// Kernel files in their own folder, with their own cache.
class FilesOnSimt : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!simt_present()) return;
    folder_.emplace();
    cache_.emplace(folder_->path() / "cache");
    std::filesystem::create_directory(folder_->path() / "folder");
    write_file(folder_->path() / "kernels.cuh", kHeader);
    write_file(folder_->path() / "folder/more.cuh",
               std::string("#include \"numbers.h\"\n__constant__ float other = kTwo;\n"));
    write_file(folder_->path() / "folder/numbers.h", std::string("constexpr int kTwo = 2;\n"));
    file_ = compiled("mine.cu", kFile);
  }
  static void TearDownTestSuite() {
    cache_.reset();
    folder_.reset();
  }

  void SetUp() override {
    if (!simt_present()) GTEST_SKIP() << how_to_get_simt();
  }

  static LoadedFile compiled(const std::string& name, const std::string& text) {
    const KernelSource source = parse_kernel_source(text, folder_->path() / name);
    return LoadedFile(compile_kernel_file(source, Toolchain::simt, {}).library);
  }

  /// Returns the first fault of the file's case, or the message of another error; "" if there is none.
  static std::string fault_of(int number, const LoadedFile& file = *file_) {
    const std::unique_ptr<Device> device = open_simt({.threads = 1});
    const ConvProblem problem = parse_problem("n2_c3h17w19_k" + std::to_string(number) + "r3s3");
    const auto array = [&](int64_t count, const char* name) {
      Buffer buffer = device->allocate(static_cast<size_t>(count) * sizeof(float));
      narrow_simt_memory(buffer.data(), static_cast<size_t>(count) * sizeof(float), name, true);
      return buffer;
    };
    const Buffer x = array(problem.input_count(), "x"), w = array(problem.filter_count(), "w"),
                 y = array(problem.output_count(), "y");
    const std::unique_ptr<Stream> stream = device->make_stream();
    stream->fill(x.data(), 0, static_cast<size_t>(problem.input_count()) * sizeof(float));
    try {
      call_file(*file.entry(), problem, static_cast<float*>(y.data()), static_cast<float*>(x.data()),
                static_cast<float*>(w.data()));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  static std::optional<TemporaryFolder> folder_;
  static std::optional<OwnCache> cache_;
  static std::optional<LoadedFile> file_;
};
std::optional<TemporaryFolder> FilesOnSimt::folder_;
std::optional<OwnCache> FilesOnSimt::cache_;
std::optional<LoadedFile> FilesOnSimt::file_;

TEST_F(FilesOnSimt, SharedArraysOfTheFileAreTheKernels) { EXPECT_EQ(fault_of(1), ""); }

TEST_F(FilesOnSimt, CopiesOfBytesAreChecked) {
  EXPECT_THAT(fault_of(2),
              StartsWith("out-of-bounds write of global memory 'y': thread (0,0,0) writes 12 bytes at y["));
  EXPECT_THAT(fault_of(2), HasSubstr(", across the end ("));
  EXPECT_THAT(fault_of(2), HasSubstr("(kernel copy_past_end, block (0,0,0))"));
  EXPECT_THAT(fault_of(3), StartsWith("out-of-bounds write of global memory 'y': "));
  EXPECT_THAT(fault_of(4), StartsWith("read of uninitialized global memory 'fresh': thread (0,0,0) reads 40 bytes at "
                                      "fresh[0]; nothing has been copied to the array"));
  EXPECT_THAT(fault_of(5), StartsWith("data race on global memory 'y': thread (1,0,0) writes 12 bytes at y[1]; thread "
                                      "(0,0,0) writes y[1]; no barrier between"));
  EXPECT_THAT(fault_of(6), AllOf(StartsWith("data race on global memory 'y': "), HasSubstr(line_of("std::copy("))));
  EXPECT_THAT(fault_of(7), StartsWith("data race on global memory 'y': "));
}

TEST_F(FilesOnSimt, ConstantsAreSetByTheHost) {
  EXPECT_THAT(fault_of(8),
              AllOf(StartsWith("write to __constant__ variable 'unset': thread (0,0,0) writes unset[0], but "
                               "kernels cannot write __constant__ memory"),
                    HasSubstr(line_of("void write_unset"))));
  EXPECT_THAT(fault_of(9), AllOf(StartsWith("read of uninitialized __constant__ variable 'unset': thread (0,0,0) reads "
                                            "unset[0], which the host never set"),
                                 HasSubstr(line_of("void read_unset"))));
  EXPECT_EQ(fault_of(10), "");
  EXPECT_THAT(fault_of(11), HasSubstr("writes set[0], but kernels cannot write __constant__ memory"));
}

TEST_F(FilesOnSimt, KernelsAllocateMemory) {
  EXPECT_EQ(fault_of(12), "");
  EXPECT_THAT(fault_of(13), HasSubstr("writes element 10, past the end (10 elements); malloc() returned it here at " +
                                      line_of("void past_heap")));
  EXPECT_THAT(fault_of(14), AllOf(StartsWith("use of memory of malloc() after it was freed: "),
                                  HasSubstr("; malloc() returned it here at " + line_of("void late_heap") +
                                            "; free() frees it here at " + line_of("void late_heap"))));
  EXPECT_THAT(fault_of(15), StartsWith("read of uninitialized memory of malloc(): "));
  EXPECT_THAT(fault_of(16), AllOf(StartsWith("invalid free() in a kernel: "), HasSubstr("or it is already free")));
}

TEST_F(FilesOnSimt, WhatCudaFreeReleasedIsNamed) {
  EXPECT_THAT(fault_of(17), AllOf(StartsWith("use of global memory 'fresh' after it was freed: thread (0,0,0) reads "
                                             "fresh[0]; cudaFree frees it here at " +
                                             line_of("case 17"))));
}

TEST_F(FilesOnSimt, TheHostWaitsForCopiesAndKernels) {
  const LoadedFile file = compiled("mine.cu", kTransfers);
  const auto fault = [&](int number) { return fault_of(number, file); };
  const auto line = [](std::string_view part) { return line_of(part, kTransfers); };
  const std::string fills =
      "host code reads memory before cudaMemcpyAsync has finished: reads the memory here; cudaMemcpyAsync may still "
      "write it at " +
      line("const auto copy_back") + ", at ";
  EXPECT_THAT(fault(1), StartsWith(fills + line("case 1:")));
  EXPECT_EQ(fault(2), "");  // not page-locked: the copy is complete when the call returns
  EXPECT_THAT(fault(3), StartsWith(fills + line("case 3:")));
  EXPECT_EQ(fault(4), "");
  EXPECT_EQ(fault(5), "");
  EXPECT_THAT(fault(6), StartsWith(fills + line("case 6:")));
  EXPECT_THAT(fault(7), AllOf(StartsWith("host code writes memory before cudaMemcpyAsync has finished: "),
                              HasSubstr("cudaMemcpyAsync may still read it at " + line("const auto copy_there"))));
  EXPECT_EQ(fault(8), "");
  EXPECT_THAT(fault(9), AllOf(StartsWith("host code reads memory before kernel use_managed has finished: "),
                              HasSubstr("kernel use_managed may still write it at " + line("const auto use "))));
  for (int right = 10; right <= 13; ++right) EXPECT_EQ(fault(right), "") << right;
}

TEST_F(FilesOnSimt, LaunchesAreAsInCuda) { EXPECT_EQ(fault_of(18), ""); }

constexpr const char* kCall =
    "void convolve(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int R, int S) ";

TEST_F(FilesOnSimt, TooFewArgumentsAreTheCompilersToTell) {
  const std::string text = "__global__ void few(const float* x, float* y, int n) { y[0] = n; }\n" + std::string(kCall) +
                           "{\n  few<<<1, 1>>>(x, y);\n}\n";
  EXPECT_THAT(
      bad_input_message([&] { compiled("few.cu", text); }),
      testing::ContainsRegex("few.cu:3:[0-9]+: error: too few arguments to function .+void few\\(const float\\*, "
                             "float\\*, int\\)"));
}

TEST_F(FilesOnSimt, StaticSharedMemoryHasPtxasLimit) {
  const std::string text =
      "template <int N> __global__ void big(float* y) {\n  __shared__ float all[N];\n"
      "  all[threadIdx.x] = 1;\n  y[threadIdx.x] = all[threadIdx.x];\n}\n" +
      std::string(kCall) + "{ big<25600><<<1, 32>>>(y); }\n";
  EXPECT_THAT(bad_input_message([&] { compiled("big.cu", text); }),
              StartsWith("big.cu:1: kernel 'big<25600>' uses too much shared data (0x19000 bytes, 0xc000 max)"));
}

}  // namespace
}  // namespace convlab
