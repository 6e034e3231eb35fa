// Every CPU kernel of this build over all edges.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "convlab/device/cpu.h"
#include "convlab/kernels/registry.h"
#include "convlab/verify/cases.h"
#include "convlab/verify/verify.h"

namespace convlab {

void PrintTo(const ConvKernel& kernel, std::ostream* stream) { *stream << kernel.info.name; }

namespace {

class KernelOverEdges : public testing::TestWithParam<ConvKernel> {};

TEST_P(KernelOverEdges, Verified) {
  const ConvKernel& kernel = GetParam();
  const std::unique_ptr<Device> device = open_cpu({});
  Oracle oracle;
  int passed = 0, failed = 0;
  for (const ConvProblem& problem : read_shapes(std::filesystem::path(CONVLAB_SOURCE_DIR) / "shapes/edges.txt")) {
    for (const ConvStep& step : steps_to_verify(kernel, problem, device->caps())) {
      const CaseResult result = verify_kernel(kernel, step, *device, oracle);
      passed += result.outcome == Outcome::passed;
      if (result.outcome != Outcome::failed) continue;
      ADD_FAILURE() << kernel.info.name << ", " << describe(step) << ": " << result.reason;
      ASSERT_LT(++failed, 10) << "and perhaps more";
    }
  }
  EXPECT_GT(passed, 0) << kernel.info.name << " refuses every problem";
}

std::vector<ConvKernel> cpu_kernels() {
  std::vector<ConvKernel> kernels;
  for (const ConvKernel& kernel : conv_kernels()) {
    if (kernel.info.device == DeviceKind::cpu) kernels.push_back(kernel);
  }
  return kernels;
}

std::string test_name(const testing::TestParamInfo<ConvKernel>& info) {
  std::string name(info.param.info.name);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

// GoogleTest evaluates the list when main() runs, and the kernels have registered themselves by then.
INSTANTIATE_TEST_SUITE_P(Cpu, KernelOverEdges, testing::ValuesIn(cpu_kernels()), test_name);

}  // namespace
}  // namespace convlab
