#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "convlab/base/rng.h"
#include "convlab/device/devices.h"
#include "convlab/kernels/kernel.h"
#include "convlab/kernels/registry.h"

namespace convlab {

inline std::vector<float> random_values(int64_t count, uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = rng.uniform(-1, 1);
  return values;
}

inline const Kernel& kernel_named(std::string_view name) { return require_kernel(name, DeviceKind::cpu); }

/// Returns a dense layer's step: its inputs but the first are constant, and the first has this format.
inline Step dense_step(const Op& op, const std::vector<Shape>& inputs, const Shape& output, Format format = kNchw) {
  Step step{.op = op, .outputs = {{output}}};
  for (const Shape& shape : inputs) step.inputs.push_back({.shape = shape, .constant = !step.inputs.empty()});
  step.inputs[0].format = format;
  return step;
}

/// Prepares and launches an operator kernel on the CPU. inputs[0] has step.inputs[0].format; the result has
/// step.outputs[0].format. Fails the test if the kernel writes past its output or workspace.
inline std::vector<float> run_dense(const Kernel& kernel, const Step& step,
                                    const std::vector<std::vector<float>>& values, int threads) {
  const auto device = open_device("cpu", {.threads = threads});
  const auto stream = device->make_stream();
  std::vector<Buffer> buffers;
  std::vector<const void*> inputs;
  for (const std::vector<float>& each : values) {
    buffers.push_back(device->allocate(each.size() * sizeof(float)));
    std::copy(each.begin(), each.end(), static_cast<float*>(buffers.back().data()));
    inputs.push_back(buffers.back().data());
  }
  const Buffer prepared = device->allocate(prepared_bytes(kernel, step, device->caps()));
  const size_t scratch_bytes = workspace_bytes(kernel, step, device->caps());
  const Buffer workspace = device->allocate(scratch_bytes + 64);
  std::fill_n(static_cast<unsigned char*>(workspace.data()), scratch_bytes + 64, 0xff);
  const int64_t count = element_count(step.outputs[0].shape, step.outputs[0].format);
  const Buffer output = device->allocate(static_cast<size_t>(count + 16) * sizeof(float));
  auto* y = static_cast<float*>(output.data());
  std::fill_n(y, count + 16, NAN);
  void* const outputs[] = {y};
  const Args args{step, inputs, outputs, prepared.data(), workspace.data()};
  kernel.prepare(args, *stream);
  kernel.launch(args, *stream);
  for (int64_t i = count; i < count + 16; ++i) EXPECT_TRUE(std::isnan(y[i])) << "written beyond the output";
  for (size_t i = scratch_bytes; i < scratch_bytes + 64; ++i) {
    EXPECT_EQ(static_cast<unsigned char*>(workspace.data())[i], 0xff) << "written beyond the workspace";
  }
  return {y, y + count};
}

}  // namespace convlab
