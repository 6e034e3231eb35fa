// Tests that the kernels for CPUs pass verification on all operators.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

#include "convlab/device/cpu.h"
#include "convlab/device/devices.h"
#include "convlab/device/simt.h"
#include "convlab/kernels/format_refusal.h"
#include "convlab/kernels/registry.h"
#include "convlab/kernels/select.h"
#include "convlab/verify/cases.h"
#include "convlab/verify/ops/verify_op.h"
#include "tests/support/paths.h"
#include "tests/verify/op_cases.h"

namespace convlab {
namespace {

bool supports(const Kernel& kernel, const Step& step) {
  if (kernel.info.device != DeviceKind::cpu) return false;
  const auto known = [&](const Operand& operand) {
    return operand.format == kNchw || operand.format == kRawPixels || operand.format == kernel.format;
  };
  if (!std::ranges::all_of(step.inputs, known) || !std::ranges::all_of(step.outputs, known)) return false;
  return !kernel.refuses(step, DeviceCaps()).has_value();
}

/// Whether the kernel needs instructions that not every machine has.
bool needs_instructions(const Kernel& kernel) {
  const auto has = [&](std::string_view part) { return kernel.info.name.find(part) != std::string_view::npos; };
  return has("amx") || has("avx512") || has("dots");
}

TEST(OpKernels, AreRightForEveryOperatorAndFill) {
  const std::unique_ptr<Device> device = open_cpu({.threads = 2});
  std::set<std::string_view> used;
  std::set<size_t> operators;
  for (const auto& [name, step] : all_op_cases()) {
    operators.insert(step.op.index());
    bool found = false;
    for (const Kernel& kernel : kernels()) {
      if (!supports(kernel, step)) continue;
      found = true;
      used.insert(kernel.info.name);
      const CaseResult result = verify_op(kernel, step, *device);
      EXPECT_EQ(result.outcome, Outcome::passed) << name << ", " << kernel.info.name << ": " << result.reason;
    }
    const bool only_shape = std::holds_alternative<FlattenOp>(step.op) || std::holds_alternative<ReshapeOp>(step.op) ||
                            std::holds_alternative<SqueezeOp>(step.op) || std::holds_alternative<UnsqueezeOp>(step.op);
    const bool for_gpus = std::holds_alternative<SqueezeExciteOp>(step.op);
    EXPECT_TRUE(found || only_shape || for_gpus) << name << ": no kernel supports it";
  }
  for (size_t i = 1; i < std::variant_size_v<AnyOp>; ++i) EXPECT_TRUE(operators.contains(i)) << "operator " << i;
  for (const Kernel& kernel : kernels()) {
    if (kernel.info.device != DeviceKind::cpu || kernel.is_conv() || needs_instructions(kernel)) continue;
    EXPECT_TRUE(used.contains(kernel.info.name)) << kernel.info.name << " was not run";
  }
}

/// Whether a machine with more instructions supports the problem.
bool lacks_only_instructions(const Kernel& kernel, const Step& problem, const DeviceCaps& caps) {
  const Step own = in_formats(problem, kernel.format, kernel.format);
  return refusal_of(kernel, own, caps).value_or("").find("not supported by this processor") != std::string::npos;
}

/// Verifies every `stride`-th of the problems that `convlab verify` tries by default. Returns the kernels that support
/// any of them, at least on a machine with more instructions.
std::set<std::string_view> expect_right_on_shipped_problems(const char* device_name, size_t stride) {
  std::set<std::string_view> used;
  const std::unique_ptr<Device> device = open_device(device_name, {.threads = 2});
  const std::vector<Step> problems = read_steps(source_folder() / kOperatorList);
  size_t passed = 0;
  for (size_t i = 0; i < problems.size(); i += stride) {
    if (is_conv(problems[i])) continue;
    for (const Kernel& kernel : kernels()) {
      if (kernel.info.device != device->caps().kind || kernel.is_conv()) continue;
      for (const Step& step : op_steps_to_verify(kernel, problems[i], device->caps(), /*all=*/false)) {
        const CaseResult result = verify_op(kernel, step, *device);
        EXPECT_EQ(result.outcome, Outcome::passed)
            << kernel.info.name << ", " << describe(step) << ": " << result.reason;
        ++passed;
        used.insert(kernel.info.name);
      }
      if (lacks_only_instructions(kernel, problems[i], device->caps())) used.insert(kernel.info.name);
    }
  }
  EXPECT_GE(passed, problems.size() / stride / 2);
  return used;
}

TEST(OpKernels, OfCpusAreRightOnTheShippedProblems) {
  const std::set<std::string_view> used = expect_right_on_shipped_problems("cpu", 1);
  for (const Kernel& kernel : kernels()) {
    if (kernel.info.device != DeviceKind::cpu || kernel.is_conv()) continue;
    EXPECT_TRUE(used.contains(kernel.info.name)) << kernel.info.name << " supports no problem of " << kOperatorList;
  }
}

TEST(OpKernels, OfGpusAreRightOnTheShippedProblems) {
  if (!simt_present()) GTEST_SKIP() << "this build has no simt";
  expect_right_on_shipped_problems("simt", 5);
}

}  // namespace
}  // namespace convlab
