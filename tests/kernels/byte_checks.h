#pragma once

// Runs kernels of uint8 nhwc4 uint8 in tests: arrays between guards, with arbitrary bytes in a
// pixel's padding.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "convlab/base/checked.h"
#include "convlab/kernels/registry.h"
#include "tests/kernels/op_checks.h"

namespace convlab {

/// Random integers from low to high, as fp32.
inline Tensor whole(const Shape& shape, int64_t low, int64_t high, uint64_t seed) {
  Rng rng(seed);
  Tensor tensor(ElementType::f32, shape);
  for (float& value : tensor.values<float>()) value = static_cast<float>(rng.integer(low, high));
  return tensor;
}

/// An array that a kernel reads or writes, between guards that the destructor checks.
class GuardedBytes {
 public:
  GuardedBytes(Device& device, size_t bytes) : bytes_(bytes), buffer_(device.allocate(bytes + 2 * kGuard)) {
    std::memset(buffer_.data(), kFill, buffer_.bytes());
  }
  ~GuardedBytes() {
    for (size_t i = 0; i < kGuard; ++i) {
      EXPECT_EQ(first()[-1 - static_cast<int64_t>(i)], kFill) << "written before an array";
      EXPECT_EQ(first()[bytes_ + i], kFill) << "written behind an array";
    }
  }
  GuardedBytes(GuardedBytes&& other) = delete;

  uint8_t* first() const { return static_cast<uint8_t*>(buffer_.data()) + kGuard; }
  float* as_floats() const { return reinterpret_cast<float*>(first()); }

 private:
  static constexpr size_t kGuard = 64;
  static constexpr int kFill = 0xee;
  size_t bytes_;
  Buffer buffer_;
};

/// Returns the offset of an element in uint8 nhwc4 uint8.
inline size_t place_in_bytes(const Shape& shape, const Index& index) {
  int64_t pixel = index[0];
  for (size_t i = 2; i < shape.size(); ++i) pixel = pixel * shape[i] + index[i];
  return static_cast<size_t>(pixel * round_up(shape[1], kChannelBytes) + index[1]);
}

inline void put_bytes(const Tensor& levels, uint8_t* bytes) {
  for_each(levels.shape(), [&](const Index& index, size_t flat) {
    bytes[place_in_bytes(levels.shape(), index)] = static_cast<uint8_t>(levels.values<float>()[flat]);
  });
}

inline Tensor taken_bytes(const Shape& shape, const uint8_t* bytes) {
  Tensor levels(ElementType::f32, shape);
  for_each(shape, [&](const Index& index, size_t flat) {
    levels.values<float>()[flat] = static_cast<float>(bytes[place_in_bytes(shape, index)]);
  });
  return levels;
}

/// Returns a step with uint8 input and output. Inputs from `images` on are constant, except the last one if `added`.
inline Step byte_step(const Op& op, const std::vector<const Tensor*>& inputs, size_t images, bool added = false) {
  Step step = step_of(op, inputs);
  for (size_t i = images; i + (added ? 1 : 0) < inputs.size(); ++i) step.inputs[i].constant = true;
  step.inputs[0].format = step.outputs[0].format = kNhwc4U8;
  step.inputs[0].written = step.inputs[0].shape;
  return step;
}

/// Runs the kernel and returns its output as plain fp32, whatever layouts the step has.
inline Tensor run_on_bytes(const Kernel& kernel, const Step& step, const std::vector<const Tensor*>& inputs,
                           int threads) {
  const std::unique_ptr<Device> device = open_cpu({.threads = threads});
  const std::unique_ptr<Stream> stream = device->make_stream();
  EXPECT_EQ(kernel.refuses(step, device->caps()), std::nullopt) << kernel.info.name;
  std::vector<std::unique_ptr<GuardedBytes>> arrays;
  std::vector<const void*> addresses, known;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool plain = step.inputs[i].constant || step.inputs[0].format.order == Order::nchw;
    const Format format = plain ? kNchw : kNhwc4U8;
    arrays.push_back(
        std::make_unique<GuardedBytes>(*device, static_cast<size_t>(byte_count(step.inputs[i].shape, format))));
    if (plain) {
      std::memcpy(arrays.back()->first(), inputs[i]->raw(), inputs[i]->bytes());
    } else {
      put_bytes(*inputs[i], arrays.back()->first());
    }
    addresses.push_back(arrays.back()->as_floats());
    known.push_back(step.inputs[i].constant ? addresses.back() : nullptr);
  }
  const GuardedBytes output(*device, static_cast<size_t>(byte_count(step.outputs[0].shape, step.outputs[0].format)));
  const GuardedBytes prepared(*device, prepared_bytes(kernel, step, device->caps()));
  const GuardedBytes workspace(*device, workspace_bytes(kernel, step, device->caps()));
  const Args first{step, known, {}, prepared.first(), nullptr};
  if (kernel.prepare != nullptr) kernel.prepare(first, *stream);
  if (kernel.packs_weights) addresses[1] = nullptr;
  kernel.launch({step, addresses, OneOutput{output.first()}, prepared.first(), workspace.first()}, *stream);
  stream->synchronize();
  if (step.outputs[0].format == kNhwc4U8) return taken_bytes(step.outputs[0].shape, output.first());
  const auto count = static_cast<size_t>(element_count(step.outputs[0].shape));
  return Tensor::of<float>(step.outputs[0].shape, {output.as_floats(), count});
}

/// Returns the operator kernel with this name.
inline const Kernel& op_kernel(std::string_view name) {
  const Kernel* found = find_kernel(name, DeviceKind::cpu);
  EXPECT_NE(found, nullptr) << name;
  return *found;
}

}  // namespace convlab
