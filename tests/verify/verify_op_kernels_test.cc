// Tests that the kernels for CPUs agree with the reference results of all operators, and that a planted error is found.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <set>

#include "convlab/device/cpu.h"
#include "convlab/kernels/registry.h"
#include "convlab/verify/ops/op_error.h"
#include "convlab/verify/ops/op_fills.h"
#include "convlab/verify/ops/op_oracle.h"
#include "tests/verify/op_cases.h"

namespace convlab {
namespace {

/// Runs a kernel on nchw inputs, which are converted to the step's formats, and returns the output as nchw.
std::vector<float> run_kernel(const OpKernel& kernel, const Step& step, const std::vector<Tensor>& inputs) {
  constexpr int kThreads = 2;
  const std::unique_ptr<Device> device = open_cpu({.threads = kThreads});
  const std::unique_ptr<Stream> stream = device->make_stream();
  const auto filled = [&](size_t bytes) {
    Buffer buffer = device->allocate(bytes);
    std::memset(buffer.data(), 0xff, buffer.bytes());
    return buffer;
  };
  std::vector<Tensor> packed;
  std::vector<const void*> addresses, constants;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Format format = step.inputs[i].format;
    packed.push_back(format == kNchw || format == kRawPixels ? inputs[i].clone() : pack(inputs[i], format));
    addresses.push_back(packed.back().raw());
    constants.push_back(step.inputs[i].constant ? addresses.back() : nullptr);
  }
  const Operand& last = step.outputs[0];
  const Buffer output = filled(static_cast<size_t>(byte_count(last.shape, last.format)));
  const Buffer prepared = filled(kernel.prepared_bytes == nullptr ? 0 : kernel.prepared_bytes(step));
  const Buffer workspace = filled(workspace_bytes(kernel, step, kThreads));
  if (pads_with_zeros(last.format)) std::memset(output.data(), 0, output.bytes());
  if (kernel.prepare != nullptr) kernel.prepare({step, constants, {}, prepared.data()}, *stream);
  if (kernel.packs_weights) addresses[1] = nullptr;
  void* const outputs[] = {output.data()};
  kernel.launch({step, addresses, outputs, prepared.data(), workspace.data()}, *stream);
  stream->synchronize();
  return unpack(output.data(), last.shape, last.format);
}

bool supports(const OpKernel& kernel, const Step& step) {
  if (kernel.info.device != DeviceKind::cpu || kernel.info.library) return false;
  const auto known = [&](const Operand& operand) {
    return operand.format == kNchw || operand.format == kRawPixels || operand.format == kernel.format;
  };
  if (!std::ranges::all_of(step.inputs, known) || !std::ranges::all_of(step.outputs, known)) return false;
  return !kernel.refuses(step).has_value();
}

/// Whether the kernel needs instructions that not every machine has.
bool needs_instructions(const OpKernel& kernel) {
  const auto has = [&](std::string_view part) { return kernel.info.name.find(part) != std::string_view::npos; };
  return has("amx") || has("avx512") || has("dots");
}

Verdict verdict_of(const OpKernel& kernel, const Step& step, Fill fill, uint64_t seed) {
  const std::vector<Tensor> inputs = fill_inputs(step, fill, seed, kernel.info.math);
  const Expected expected = as_images(expected_output(step, inputs));
  return compare_nan(expected, run_kernel(kernel, step, inputs), error_model(step, kernel.info, fill), false);
}

constexpr Fill kFills[] = {Fill::integers, Fill::reals, Fill::one_nan};
constexpr const char* kNames[] = {"integers", "reals", "one_nan"};

TEST(OpKernels, AreRightForEveryOperatorAndFill) {
  std::set<std::string_view> used;
  std::set<size_t> operators;
  for (const auto& [name, step] : all_op_cases()) {
    operators.insert(step.op.index());
    bool found = false;
    for (const OpKernel& kernel : op_kernels()) {
      if (!supports(kernel, step)) continue;
      found = true;
      used.insert(kernel.info.name);
      for (size_t i = 0; i < std::size(kFills); ++i) {
        if (!has_fill(step, kFills[i])) continue;
        const Verdict verdict = verdict_of(kernel, step, kFills[i], 1);
        EXPECT_TRUE(verdict.passed()) << name << ", " << kernel.info.name << ", " << kNames[i] << ": "
                                      << describe(verdict);
      }
    }
    const bool only_shape = std::holds_alternative<FlattenOp>(step.op) || std::holds_alternative<ReshapeOp>(step.op) ||
                            std::holds_alternative<SqueezeOp>(step.op) || std::holds_alternative<UnsqueezeOp>(step.op);
    const bool for_gpus = std::holds_alternative<SqueezeExciteOp>(step.op);
    EXPECT_TRUE(found || only_shape || for_gpus) << name << ": no kernel supports it";
  }
  for (size_t i = 1; i < std::variant_size_v<AnyOp>; ++i) EXPECT_TRUE(operators.contains(i)) << "operator " << i;
  for (const OpKernel& kernel : op_kernels()) {
    if (kernel.info.device != DeviceKind::cpu || kernel.info.library || needs_instructions(kernel)) continue;
    EXPECT_TRUE(used.contains(kernel.info.name)) << kernel.info.name << " was not run";
  }
}

}  // namespace
}  // namespace convlab
