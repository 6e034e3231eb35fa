// Tests that the kernels for CPUs pass verification on all operators.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

#include "convlab/device/cpu.h"
#include "convlab/kernels/registry.h"
#include "convlab/verify/ops/verify_op.h"
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

}  // namespace
}  // namespace convlab
