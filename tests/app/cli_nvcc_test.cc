// Tests `convlab cuda build` and convlab-nvcc as Makefiles use them, and the options of `convlab cuda run` that choose
// what is checked, in which order kernels run, and what is counted.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "convlab/base/file.h"
#include "convlab/base/process.h"
#include "convlab/device/simt.h"
#include "tests/support/paths.h"
#include "tests/support/program_run.h"
#include "tests/support/temporary_folder.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Json = nlohmann::ordered_json;

class Nvcc : public testing::Test {
 protected:
  void SetUp() override {
    if (!simt_present()) GTEST_SKIP() << "this build has no simt";
  }

  std::string path_of(const std::string& name) const { return (folder_.path() / name).string(); }

  std::string written(const std::string& name, const std::string& text) const {
    write_file(folder_.path() / name, text);
    return path_of(name);
  }

  /// Runs `convlab cuda run` for a program of one file.
  ProgramRun run(const std::string& text, const std::vector<std::string>& more) const {
    std::vector<std::string> words{"cuda", "run", written("program.cu", text)};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }

  /// Runs a shell command in the folder, with the built programs on PATH.
  ProcessRun shell(const std::string& command) const {
    const std::string programs = std::filesystem::path(convlab_program()).parent_path().string();
    return run_process(
        "sh", {"sh", "-c", "cd '" + folder_.path().string() + "' && PATH='" + programs + "':$PATH && " + command});
  }

  TemporaryFolder folder_;
};

constexpr const char* kMain = R"(#include <cstdio>
#include "scale.h"
int main() {
  int *data, value = 21;
  cudaMalloc(&data, sizeof(int));
  cudaMemcpy(data, &value, sizeof(int), cudaMemcpyHostToDevice);
  scale(data);
  cudaMemcpy(&value, data, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(data);
  std::printf("%d\n", value);
}
)";
constexpr const char* kScale = R"(#include "scale.h"
__device__ int factor = FACTOR;
__global__ void multiply(int* data) { *data *= factor; }
void scale(int* data) { multiply<<<1, 1>>>(data); }
)";
constexpr const char* kMakefile = R"(NVCC ?= nvcc
NVCCFLAGS = -O3 -arch=sm_80 -lineinfo -Xcompiler -Wall -DFACTOR=2
program: main.o scale.o
	$(NVCC) $(NVCCFLAGS) $^ -o $@ -lcudart -lcublas
%.o: %.cu
	$(NVCC) $(NVCCFLAGS) -MD -MP -dc $< -o $@
-include main.d scale.d
)";

TEST_F(Nvcc, BuildsAMakefilesProject) {
  written("main.cu", kMain);
  written("scale.h", "#pragma once\nvoid scale(int* data);\n");
  written("scale.cu", kScale);
  written("Makefile", kMakefile);
  const ProcessRun made = shell("make NVCC=convlab-nvcc 2>&1");
  ASSERT_EQ(made.status, 0) << made.output;
  const ProcessRun ran = shell("./program");
  EXPECT_EQ(ran.status, 0) << ran.complaint;
  EXPECT_EQ(ran.output, "42\n");
  EXPECT_EQ(ran.complaint, "convlab: no errors found; 1 kernel launch checked\n");
  EXPECT_EQ(read_text(path_of("scale.d")), "scale.o: scale.cu \\\n scale.h\nscale.h:\n");
  EXPECT_THAT(shell("make NVCC=convlab-nvcc").output, HasSubstr("up to date"));
  EXPECT_THAT(shell("make -W scale.h NVCC=convlab-nvcc").output, AllOf(HasSubstr("main.cu"), HasSubstr("scale.cu")));
}

TEST_F(Nvcc, MakesArchivesSharedLibrariesAndRules) {
  written("main.cu", kMain);
  written("scale.h", "#pragma once\nvoid scale(int* data);\n");
  written("scale.cu", kScale);
  EXPECT_EQ(shell("convlab-nvcc -DFACTOR=3 -lib scale.cu -o libscale.a && convlab-nvcc main.cu -L. -lscale").status, 0);
  EXPECT_EQ(shell("./a.out").output, "63\n");
  EXPECT_EQ(shell("convlab-nvcc -DFACTOR=4 -shared scale.cu -o libshared.so").status, 0);
  EXPECT_EQ(shell("convlab-nvcc main.cu -L. -lshared -Xlinker -rpath=. -o shared && ./shared").output, "84\n");
  EXPECT_EQ(shell("convlab-nvcc -MM main.cu").output, "main.o: main.cu \\\n scale.h\n");
  EXPECT_EQ(
      shell("convlab-nvcc -DFACTOR=5 -dc scale.cu main.cu && convlab-nvcc -dlink scale.o main.o -o link.o").status, 0);
  EXPECT_EQ(shell("convlab-nvcc scale.o main.o link.o && ./a.out").output, "105\n");
  EXPECT_THAT(shell("convlab-nvcc --version").output, HasSubstr("release 13.0, V13."));
}

TEST_F(Nvcc, CompilesWithClang) {
  if (std::system("command -v clang++ >/dev/null") != 0) GTEST_SKIP() << "there is no clang++";
  const std::string file = (source_folder() / "examples/programs/vecadd.cu").string();
  const ProgramRun run = run_program({"cuda", "run", file, "-ccbin", "clang++"});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.complaint, HasSubstr("vecadd.cu:8:22: error: out-of-bounds read of global memory 'a'"));
  EXPECT_EQ(run_program({"cuda", "run", file, "-ccbin", "clang++", "--counters"}).status, 3);
  EXPECT_EQ(run_program({"cuda", "run", file, "-ccbin", "no-such-compiler"}).status, 3);
}

constexpr const char* kRace = R"(__global__ void race(int* data) {
  __shared__ int last;
  last = threadIdx.x;
  data[threadIdx.x] = last;
}
int main() {
  int* data;
  cudaMalloc(&data, 64 * sizeof(int));
  race<<<1, 64>>>(data);
  cudaDeviceSynchronize();
}
)";

TEST_F(Nvcc, FindsOnlyWhatIsAskedFor) {
  EXPECT_THAT(run(kRace, {}).complaint, AllOf(HasSubstr("data race"), HasSubstr("never freed")));
  const ProgramRun leaks = run(kRace, {"--check", "bounds,leaks"});
  EXPECT_EQ(leaks.status, 0);
  EXPECT_THAT(leaks.complaint, AllOf(Not(HasSubstr("data race")), HasSubstr("never freed")));
  EXPECT_THAT(run(kRace, {"--check", "races-block"}).complaint, AllOf(HasSubstr("data race"), Not(HasSubstr("freed"))));
  EXPECT_EQ(run(kRace, {"--check=none"}).complaint, "convlab: no errors found; 1 kernel launch ran unchecked\n");
  const ProgramRun unknown = run(kRace, {"--check", "races"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.complaint, HasSubstr("unknown check 'races'; expected all, none, or some of races-block"));
}

/// Prints the indices of blocks, warps and lanes in the order in which they run.
constexpr const char* kOrder = R"(#include <cstdio>
__global__ void note(int* order, int* count) { order[atomicAdd(count, 1)] = blockIdx.x * 100 + threadIdx.x; }
int main() {
  constexpr int kAll = 3 * 64;
  int *order, *count, host[kAll];
  cudaMalloc(&order, sizeof(host));
  cudaMalloc(&count, sizeof(int));
  cudaMemset(count, 0, sizeof(int));
  note<<<3, 64>>>(order, count);
  cudaMemcpy(host, order, sizeof(host), cudaMemcpyDeviceToHost);
  for (int i : host) std::printf("%d ", i);
  std::printf("\n");
  cudaFree(order);
  cudaFree(count);
}
)";

TEST_F(Nvcc, RunsInTheOrderOfASchedule) {
  const auto order = [&](const std::string& schedule) {
    const ProgramRun run = this->run(kOrder, {"--threads", "1", "--schedule", schedule});
    EXPECT_EQ(run.status, 0) << run.complaint;
    return run.output;
  };
  EXPECT_THAT(order("in-order"), StartsWith("0 1 2 3 "));
  EXPECT_THAT(order("reverse"), StartsWith("263 262 261 "));
  EXPECT_EQ(order("random:7"), order("random:7"));
  EXPECT_NE(order("random:7"), order("random:8"));
  const std::string json = path_of("runs.json");
  const ProgramRun three = run(kOrder, {"--threads", "1", "--schedule", "random:7..9", "--json", json});
  EXPECT_EQ(three.output, order("random:7") + order("random:8") + order("random:9"));
  EXPECT_THAT(three.complaint, HasSubstr("0 of 3 schedules failed"));
  EXPECT_EQ(Json::parse(read_text(json))["runs"][1]["schedule"], "random:8");
  EXPECT_EQ(run(kOrder, {"--schedule", "random"}).status, 2);
  EXPECT_EQ(run(kOrder, {"--schedule", "random:9..7"}).status, 2);
}

TEST_F(Nvcc, LimitsTheDevicesMemory) {
  const char* const program = R"(#include <cstdio>
int main() {
  size_t free_bytes, bytes;
  cudaMemGetInfo(&free_bytes, &bytes);
  void *small = nullptr, *large = nullptr;
  std::printf("%zu %zu %d ", free_bytes, bytes, cudaMalloc(&small, 3 << 20));
  std::printf("%d\n", cudaMalloc(&large, 3 << 20));
  cudaFree(small);
}
)";
  const ProgramRun limited = run(program, {"--max-memory", "4M"});
  EXPECT_EQ(limited.output, "4194304 4194304 0 2\n");
  EXPECT_THAT(limited.complaint, HasSubstr("3145728 of the device's 4194304 bytes are allocated"));
  EXPECT_EQ(run(program, {"--max-memory", "4X"}).status, 2);
}

TEST_F(Nvcc, CountsWhatKernelsDo) {
  const char* const program = R"(__global__ void copy_column(const float* from, float* to) {
  to[threadIdx.x] = from[threadIdx.x * 32];
}
int main() {
  float *from, *to;
  cudaMalloc(&from, 32 * 32 * sizeof(float));
  cudaMalloc(&to, 32 * sizeof(float));
  cudaMemset(from, 0, 32 * 32 * sizeof(float));
  copy_column<<<1, 32>>>(from, to);
  cudaDeviceSynchronize();
  cudaFree(from);
  cudaFree(to);
}
)";
  const std::string json = path_of("counts.json");
  const ProgramRun counted = run(program, {"--counters", "--json", json});
  EXPECT_EQ(counted.status, 0);
  EXPECT_THAT(counted.complaint, AllOf(HasSubstr("copy_column"), HasSubstr("1 kernel launch counted, not checked")));
  const Json counts = Json::parse(read_text(json))["counts"][0];
  EXPECT_EQ(counts["function"], "copy_column");
  EXPECT_EQ(counts["memory"]["global"]["load"]["sectors"], 32);
  EXPECT_EQ(counts["memory"]["global"]["store"]["sectors"], 4);
}

}  // namespace
}  // namespace convlab
