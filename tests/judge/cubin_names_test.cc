// Tests the lookup of kernel and variable names in nvcc's machine code, from the host compiler's names.

#include "convlab/judge/cubin_names.h"

#include <gmock/gmock.h>

#include <span>
#include <string>
#include <vector>

#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/process.h"
#include "convlab/kernel_file/host_command.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/thrown_errors.h"

namespace convlab::judge {
namespace {

using testing::HasSubstr;

constexpr const char* kFile = R"(
__constant__ float plain[4];
static __constant__ float quiet[4];
namespace { __device__ float hidden[4]; struct Mine { int b; }; }
namespace lab { __device__ float inner[4]; struct Shape { int a; }; }
__global__ void open(float* y) { y[0] = plain[0] + quiet[1]; }
static __global__ void closed(float* y) { y[0] = hidden[threadIdx.x] + lab::inner[0]; }
namespace { __global__ void unnamed(float* y, lab::Shape s) { y[s.a] = 3; } }
template <int N> __global__ void sized(float* y) { y[0] = N; }
namespace { template <int N, class T> __global__ void both(T* y, Mine m) { y[m.b] = N; } }
extern "C" __global__ void c_name(float* y) { hidden[0] = 4; y[0] = 6; }
__global__ void twice(float* y) { y[0] = 1; }
__global__ void twice(int* y) { y[0] = 1; }
void launch() {
  open<<<1, 1>>>(nullptr), closed<<<1, 1>>>(nullptr), unnamed<<<1, 1>>>(nullptr, {1}), sized<5><<<1, 1>>>(nullptr);
  sized<6><<<1, 1>>>(nullptr), both<3, float><<<1, 1>>>(nullptr, Mine{}), c_name<<<1, 1>>>(nullptr);
}
)";

std::vector<uint8_t> machine_code(const TemporaryFolder& folder) {
  const std::string nvcc = found_tool("nvcc"), file = (folder.path() / "file.cu").string();
  if (nvcc.empty()) return {};
  write_file(file, kFile);
  const std::string made = (folder.path() / "file.cubin").string();
  const ProcessRun run = run_process(nvcc, {nvcc, "-std=c++17", "-arch=sm_90a", "-cubin", "-w", "-o", made, file});
  EXPECT_EQ(run.status, 0) << run.complaint;
  return read_file(made);
}

TEST(CubinNames, AreFoundByTheHostsNames) {
  const TemporaryFolder folder;
  const std::vector<uint8_t> cubin = machine_code(folder);
  if (cubin.empty()) GTEST_SKIP() << "there is no nvcc";
  const CubinNames names(cubin);
  for (const char* same : {"plain", "_Z4openPf", "_Z5sizedILi5EEvPf", "_Z5sizedILi6EEvPf", "c_name", "_ZN3lab5innerE",
                           "_Z5twicePf", "_Z5twicePi"}) {
    EXPECT_EQ(names.of(same), same);
  }
  EXPECT_EQ(names.of("_ZL5quiet"), "quiet");
  EXPECT_EQ(names.of("_ZL6closedPf"), "_Z6closedPf");
  for (const char* unnamed : {"_ZN12_GLOBAL__N_16hiddenE", "_ZN12_GLOBAL__N_17unnamedEPfN3lab5ShapeE",
                              "_ZN12_GLOBAL__N_14bothILi3EfEEvPT0_NS_4MineE"}) {
    EXPECT_NE(names.of(unnamed).find("_GLOBAL__N__"), std::string::npos) << names.of(unnamed);
  }
  EXPECT_THAT(bad_input_message([&] { names.of("_Z7missingPf"); }), HasSubstr("has no symbol missing(float*)"));
  EXPECT_THAT(bad_input_message([&] { names.of("_Z5twicePd"); }), HasSubstr("twice(double*)"));
}

TEST(CubinNames, OfWhatIsNoMachineCodeAreRefused) {
  EXPECT_THAT(bad_input_message([] { CubinNames names({}); }), HasSubstr("truncated"));
  const std::vector<uint8_t> text(1000, 'x');
  EXPECT_THAT(bad_input_message([&] { CubinNames names(text); }), HasSubstr("not a 64-bit ELF file"));
  const TemporaryFolder folder;
  const std::vector<uint8_t> cubin = machine_code(folder);
  for (size_t bytes = 0; bytes < cubin.size() / 2; bytes += 7) {  // the section table is at the end
    const std::span<const uint8_t> part(cubin.data(), bytes);
    EXPECT_THROW(CubinNames{part}, Error) << bytes;
  }
  for (size_t at = 0; at < cubin.size(); at += 3) {  // no byte may cause an access outside the file
    std::vector<uint8_t> changed = cubin;
    changed[at] ^= 0xff;
    try {
      CubinNames names(changed);
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace convlab::judge
