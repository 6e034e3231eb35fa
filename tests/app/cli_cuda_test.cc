// Tests `convlab cuda`: whole CUDA programs run as on a GPU, and what is wrong with them is found.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "convlab/base/process.h"
#include "convlab/device/simt.h"
#include "tests/support/paths.h"
#include "tests/support/program_run.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using Json = nlohmann::ordered_json;

/// A temporary folder with a program's files.
class Cuda : public testing::Test {
 protected:
  void SetUp() override {
    if (!simt_present()) GTEST_SKIP() << "this build has no simt";
  }

  std::string written(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }

  /// Runs `convlab cuda run` for a program of one file.
  ProgramRun run(const std::string& text, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"cuda", "run", written("program.cu", text)};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }

  TemporaryFolder folder_;
};

/// A program whose main() launches `fill`, one block of 32 threads, on 32 ints, and prints their sum.
std::string with_kernel(const std::string& kernel) {
  return R"(#include <cstdio>
)" + kernel +
         R"(
int main() {
  int *data, host[32], sum = 0;
  cudaMalloc(&data, sizeof(host));
  fill<<<1, 32>>>(data);
  const cudaError_t error = cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorString(error));
    return 3;
  }
  for (int each : host) sum += each;
  std::printf("%d\n", sum);
  cudaFree(data);
}
)";
}

TEST_F(Cuda, AllocationsLargerThanTheMachineFail) {
  const ProgramRun run = this->run(R"(#include <cstdio>
int main() {
  char* memory = nullptr;
  int failed = 0;
  for (size_t bytes = size_t{1} << 46; bytes >= size_t{1} << 38; bytes /= 4) failed += cudaMalloc(&memory, bytes);
  std::printf("%d\n", failed);
  cudaMalloc(&memory, 1024);
  cudaFree(memory);
}
)");
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_EQ(run.output, "10\n");  // five times cudaErrorMemoryAllocation
}

TEST_F(Cuda, OptionsOfTheHostCompilerAreThoseOfTheLinkerToo) {
  const ProgramRun run = this->run(R"(#include <cstdio>
#include <omp.h>
int main() {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 10; ++i) sum += i * (omp_get_num_threads() > 0);
  std::printf("%d\n", sum);
}
)",
                                   {"-Xcompiler", "-fopenmp"});
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_EQ(run.output, "45\n");
}

TEST_F(Cuda, RunsAProgramAsItIs) {
  const ProgramRun run = this->run(with_kernel("__global__ void fill(int* data) { data[threadIdx.x] = threadIdx.x; }"));
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_EQ(run.output, "496\n");
  EXPECT_EQ(run.complaint, "convlab: no errors found; 1 kernel launch checked\n");
}

TEST_F(Cuda, FindsAnAccessOutOfBoundsAndEndsTheKernel) {
  const ProgramRun run = run_program({"cuda", "run", (source_folder() / "examples/programs/vecadd.cu").string()});
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.output, "c[999] = 0\n");
  EXPECT_THAT(run.complaint, HasSubstr("vecadd.cu:8:"));
  EXPECT_THAT(run.complaint, HasSubstr("device_a"));
  EXPECT_THAT(run.complaint, HasSubstr("convlab: 1 error found; 1 kernel launch checked\n"));
}

TEST_F(Cuda, LaterCallsReturnTheErrorOfAKernelThatAGpuWouldEnd) {
  const ProgramRun run = this->run(with_kernel("__global__ void fill(int* data) { data[threadIdx.x + 1] = 0; }"));
  EXPECT_EQ(run.status, 3) << "the program's own";
  EXPECT_EQ(run.output, "an illegal memory access was encountered\n");
}

TEST_F(Cuda, GoesOnAfterRacesAndReportsEachOnce) {
  const std::string kernel = R"(__global__ void fill(int* data) {
  __shared__ int cells[32];
  cells[threadIdx.x] = threadIdx.x;
  data[threadIdx.x] = cells[31 - threadIdx.x];
})";
  const std::string json = (folder_.path() / "found.json").string();
  const ProgramRun run = this->run(with_kernel(kernel), {"--json", json, "--findings-exit", "7"});
  EXPECT_EQ(run.status, 7);
  EXPECT_THAT(run.output, Not(IsEmpty()));
  EXPECT_THAT(run.complaint, HasSubstr("program.cu:4:"));
  EXPECT_THAT(run.complaint, HasSubstr("data race on shared memory 'cells'"));
  std::ifstream file(json);
  const Json found = Json::parse(file);
  EXPECT_EQ(found["exit_status"], 7);
  ASSERT_EQ(found["findings"].size(), 1u);
  EXPECT_EQ(found["findings"][0]["kind"], "race on shared memory");
  EXPECT_EQ(found["kernels"][0]["kernel"], "fill");
  EXPECT_GT(found["wall_s"], 0);
}

TEST_F(Cuda, ReadsOfUninitializedMemoryAreFound) {
  const ProgramRun run = this->run(with_kernel("__global__ void fill(int* data) { data[threadIdx.x] &= 1; }"));
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.complaint, HasSubstr("program.cu:2:"));
}

TEST_F(Cuda, PassesArgumentsAndKeepsTheExitStatus) {
  const ProgramRun run = this->run(R"(#include <cstdio>
#include <cstdlib>
int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) std::puts(argv[i]);
  return std::atoi(argv[1]);
}
)",
                                   {"--", "42", "-I"});
  EXPECT_EQ(run.status, 42);
  EXPECT_EQ(run.output, "42\n-I\n");
}

TEST_F(Cuda, SeveralFilesLinkWithEachOther) {
  written("include/scale.cuh", R"(#pragma once
__device__ int offset = 5;
template <int kFactor>
__global__ void scale(int* data) { data[threadIdx.x] = data[threadIdx.x] * kFactor + offset; }
void scale_all(int* data);
int sum_of(const int* data);
)");
  const std::string kernels = written("kernels.cu", R"(#include <scale.cuh>
void scale_all(int* data) { scale<FACTOR><<<1, 32>>>(data); }
)");
  const std::string host = written("host.cpp", R"(int sum_of(const int* data) {
  int sum = 0;
  for (int i = 0; i < N; ++i) sum += data[i];
  return sum;
}
)");
  const std::string main = written("main.cu", R"(#include <cstdio>
#ifdef USED
#error -U has no effect
#endif
void scale_all(int* data);
int sum_of(const int* data);
int main() {
  int host[32], *data;
  for (int i = 0; i < 32; ++i) host[i] = i;
  cudaMalloc(&data, sizeof(host));
  cudaMemcpy(data, host, sizeof(host), cudaMemcpyHostToDevice);
  scale_all(data);
  cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost);
  cudaFree(data);
  std::printf("%d\n", sum_of(host));
}
)");
  const ProgramRun run = run_program({"cuda", "run", main, kernels, host, "-I", (folder_.path() / "include").string(),
                                      "-DFACTOR=3", "-DN=32", "-DUSED", "-UUSED", "-arch=sm_80", "-O3", "-std=c++17"});
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_EQ(run.output, "1648\n");
}

TEST_F(Cuda, HostCodeThatUsesDeviceMemoryIsFound) {
  const ProgramRun run = this->run(R"(#include <cstdio>
int main() {
  int* data;
  cudaMalloc(&data, 4);
  data[0] = 7;
  cudaFree(data);
}
)");
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.complaint, AllOf(HasSubstr("program.cu:5:"), HasSubstr("host code writes device memory 'data'")));
}

TEST_F(Cuda, FailedCallsAndLeaksAreWarnings) {
  const ProgramRun run = this->run(R"(int main() {
  int* data;
  cudaMalloc(&data, 4);
  cudaFree(data + 1);
}
)");
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.complaint, AllOf(HasSubstr("program.cu:4:"), HasSubstr("cudaFree failed"), HasSubstr("never freed")));
  EXPECT_THAT(run.complaint, HasSubstr("no errors, 2 warnings found"));
}

TEST_F(Cuda, ACrashOfHostCodeIsReportedAndStaysOne) {
  const ProgramRun run = this->run("int main() { volatile int* nowhere = nullptr; return *nowhere; }\n");
  EXPECT_EQ(run.status, 128 + SIGSEGV);
  EXPECT_THAT(run.complaint, HasSubstr("host code ended with SIGSEGV"));
}

TEST_F(Cuda, EndsAProgramAfterItsTime) {
  const ProgramRun run = this->run("int main() { for (volatile int i = 0;; i = i + 1); }\n", {"--timeout", "0.5"});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.complaint, HasSubstr("the program did not end within 0.5 s"));
}

TEST_F(Cuda, BuildsAProgramThatRunsByItself) {
  const std::string kernel = "__global__ void fill(int* data) { data[threadIdx.x] = 1; }";
  const std::string source = written("program.cu", with_kernel(kernel));
  const std::string target = (folder_.path() / "program").string();
  EXPECT_EQ(run_program({"cuda", "build", source, "-o", target}).status, 0);
  const ProcessRun run = run_process(target, {target});
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.complaint, StartsWith("convlab: no errors found"));
}

TEST_F(Cuda, ABuiltProgramKeepsItsOptions) {
  // An atomic function checks its access also in code that is not instrumented.
  const std::string kernel =
      "__global__ void fill(int* data) { __shared__ int count; atomicAdd(&count, 1); data[threadIdx.x] = 1; }";
  const std::string source = written("program.cu", with_kernel(kernel));
  const std::string target = (folder_.path() / "program").string();
  const auto built_with = [&](const std::string& option, const std::string& value) {
    EXPECT_EQ(run_program({"cuda", "build", source, option, value, "-o", target}).status, 0);
    return run_process(target, {target});
  };
  EXPECT_THAT(built_with("--findings-exit", "7").complaint, HasSubstr("uninitialized shared memory"));
  EXPECT_EQ(built_with("--findings-exit", "7").status, 7);
  const ProcessRun unchecked = built_with("--check", "none");
  EXPECT_EQ(unchecked.status, 0);
  EXPECT_THAT(unchecked.complaint, StartsWith("convlab: no errors found; 1 kernel launch ran unchecked"));
  EXPECT_THAT(run_program({"cuda", "build", source, "--schedule", "random:1..3", "-o", target}).complaint,
              HasSubstr("--schedule takes one schedule"));
}

TEST_F(Cuda, CompileErrorsAreTheFilesOwn) {
  const ProgramRun run = this->run("int main() {\n  undeclared = 1;\n}\n");
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.complaint, HasSubstr("program.cu:2:"));
}

TEST_F(Cuda, WrongWordsAreExplained) {
  const auto complaint = [](std::vector<std::string> words) {
    const ProgramRun run = run_program(std::move(words));
    EXPECT_EQ(run.status, 2);
    return run.complaint;
  };
  EXPECT_THAT(complaint({"cuda"}), HasSubstr("expected run or build"));
  EXPECT_THAT(complaint({"cuda", "walk"}), HasSubstr("expected run or build"));
  EXPECT_THAT(complaint({"cuda", "run"}), HasSubstr("no source file given"));
  EXPECT_THAT(complaint({"cuda", "run", "missing.cu"}), HasSubstr("missing.cu: no such file"));
  EXPECT_THAT(complaint({"cuda", "run", "-ptx", "a.cu"}), HasSubstr("makes no code for GPUs"));
  EXPECT_THAT(complaint({"cuda", "run", "--formt", "gcc"}), HasSubstr("did you mean --format?"));
  EXPECT_THAT(run_program({"cuda", "--help"}).output, HasSubstr("convlab cuda run vecadd.cu"));
}

TEST_F(Cuda, WhatIsNotSupportedIsAnErrorWithItsName) {
  const ProgramRun reference = run("texture<float, 2> image;\nint main() {}\n");
  EXPECT_EQ(reference.status, 2);
  EXPECT_THAT(reference.complaint, HasSubstr("CUDA 12 removed texture and surface references"));
  const ProgramRun mipmap =
      run("int main() {\n  cudaMipmappedArray_t array = nullptr;\n  cudaFreeMipmappedArray(array);\n}\n");
  EXPECT_EQ(mipmap.status, 2);
  EXPECT_THAT(mipmap.complaint, HasSubstr("simt does not support 'cudaFreeMipmappedArray'"));
}

}  // namespace
}  // namespace convlab
