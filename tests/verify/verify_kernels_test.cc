// Tests every kernel of this build that needs no GPU on all edge cases: CPU kernels, and CUDA kernels on simt.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "convlab/device/device.h"
#include "convlab/device/devices.h"
#include "convlab/kernels/registry.h"
#include "convlab/verify/cases.h"
#include "convlab/verify/verify.h"
#include "tests/support/paths.h"

namespace convlab {

void PrintTo(const Kernel& kernel, std::ostream* stream) { *stream << kernel.info.name; }

namespace {

class KernelOverEdges : public testing::TestWithParam<Kernel> {};

TEST_P(KernelOverEdges, Verified) {
  const Kernel& kernel = GetParam();
  if (const Refusal absent = kernel.absent != nullptr ? kernel.absent() : std::nullopt) GTEST_SKIP() << *absent;
  const std::unique_ptr<Device> device = open_device(name_of(kernel.info.device), {});
  Oracle oracle;
  std::vector<ConvStep> steps;
  for (const ConvProblem& problem : read_shapes(source_folder() / "shapes/edges.txt")) {
    for (const ConvStep& step : steps_to_verify(kernel, problem, device->caps())) {
      if (!kernel.refuses(step, device->caps())) steps.push_back(step);
    }
  }
  ASSERT_FALSE(steps.empty()) << kernel.info.name << " refuses every problem";
  int passed = 0, failed = 0;
  const size_t stride = kernel.info.device == DeviceKind::simt ? CONVLAB_EDGE_STRIDE : 1;
  for (size_t i = std::min(std::hash<std::string_view>{}(kernel.info.name) % stride, steps.size() - 1);
       i < steps.size(); i += stride) {
    const CaseResult result = verify_kernel(kernel, steps[i], *device, oracle);
    passed += result.outcome == Outcome::passed;
    if (result.outcome != Outcome::failed) continue;
    ADD_FAILURE() << kernel.info.name << ", " << describe(steps[i]) << ": " << result.reason;
    ASSERT_LT(++failed, 10) << "and perhaps more";
  }
  EXPECT_GT(passed, 0) << kernel.info.name;
}

std::vector<Kernel> kernels_of(DeviceKind device) {
  std::vector<Kernel> kernels;
  for (const Kernel& kernel : conv_kernels()) {
    if (kernel.info.device == device) kernels.push_back(kernel);
  }
  return kernels;
}

std::string test_name(const testing::TestParamInfo<Kernel>& info) {
  std::string name(info.param.info.name);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

// GoogleTest evaluates the list in main(), when all kernels have been registered.
INSTANTIATE_TEST_SUITE_P(Cpu, KernelOverEdges, testing::ValuesIn(kernels_of(DeviceKind::cpu)), test_name);
INSTANTIATE_TEST_SUITE_P(Simt, KernelOverEdges, testing::ValuesIn(kernels_of(DeviceKind::simt)), test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(KernelOverEdges);  // there are none without simt

}  // namespace
}  // namespace convlab
