#pragma once

// Runs operator kernels and compares them with reference computations. Outputs and workspaces are filled with NaN
// first, and results must not depend on the number of threads.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "convlab/base/rng.h"
#include "convlab/device/cpu.h"
#include "convlab/kernels/select.h"
#include "convlab/model/shapes.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr double kUnit = 0x1p-24;  // the relative error of one rounding to float32

/// Windows with strides, padding, dilation and partial windows, for images of 9 x 21.
inline constexpr Pool kPools[] = {
    {.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2},
    {.kernel_h = 3, .kernel_w = 3, .pad_top = 1, .pad_left = 1, .pad_bottom = 1, .pad_right = 1},
    {.kernel_h = 3, .kernel_w = 3, .stride_h = 2, .stride_w = 2, .ceil_mode = true},
    {.kernel_h = 3,
     .kernel_w = 2,
     .stride_w = 3,
     .dilation_h = 2,
     .pad_left = 1,
     .pad_bottom = 2,
     .count_include_pad = true},
    {.kernel_h = 9, .kernel_w = 21},
};

inline Tensor random(const Shape& shape, uint64_t seed) {
  Rng rng(seed);
  Tensor tensor(ElementType::f32, shape);
  for (float& value : tensor.values<float>()) value = rng.uniform(-1, 1);
  return tensor;
}

inline Tensor filled(const Shape& shape, std::initializer_list<float> values) {
  return Tensor::of<float>(shape, std::span<const float>(values.begin(), values.size()));
}

/// The address of a step's only output, for Args.
struct OneOutput {
  void* address;
  operator std::span<void* const>() const { return {&address, 1}; }
};

inline Step step_of(const Op& op, const std::vector<const Tensor*>& inputs) {
  Step step{.op = op};
  for (const Tensor* input : inputs) step.inputs.push_back({.shape = input->shape()});
  step.outputs.push_back({.shape = output_shape(op, shapes_of(step.inputs))});
  if (inputs[0]->type() == ElementType::u8) step.inputs[0].format = kRawPixels;
  if (std::holds_alternative<ScaleOp>(op)) step.outputs[0].format = kRawPixels;
  return step;
}

inline Tensor run_with(const Kernel& kernel, const Step& step, const std::vector<const Tensor*>& inputs, int threads) {
  const std::unique_ptr<Device> device = open_cpu({.threads = threads});
  const std::unique_ptr<Stream> stream = device->make_stream();
  std::vector<const void*> addresses;
  for (const Tensor* input : inputs) addresses.push_back(input->raw());
  constexpr size_t kGuard = 64;
  const size_t bytes = static_cast<size_t>(element_count(step.outputs[0].shape)) * sizeof(float);
  const Buffer output = device->allocate(bytes + 2 * kGuard);
  std::memset(output.data(), 0xff, output.bytes());
  const Buffer prepared = device->allocate(prepared_bytes(kernel, step, device->caps()));
  const size_t scratch_bytes = workspace_bytes(kernel, step, device->caps());
  const Buffer workspace = device->allocate(scratch_bytes + kGuard);
  std::memset(workspace.data(), 0xff, workspace.bytes());
  auto* first = static_cast<unsigned char*>(output.data()) + kGuard;
  const OneOutput written{first};
  const Args args{step, addresses, written, prepared.data(), workspace.data()};
  if (kernel.prepare != nullptr) kernel.prepare(args, *stream);
  kernel.launch(args, *stream);
  stream->synchronize();
  for (size_t i = 0; i < kGuard; ++i) {
    EXPECT_EQ(first[-1 - static_cast<int64_t>(i)], 0xff) << "written before the output";
    EXPECT_EQ(first[bytes + i], 0xff) << "written behind the output";
    EXPECT_EQ(static_cast<unsigned char*>(workspace.data())[scratch_bytes + i], 0xff) << "behind the workspace";
  }
  Tensor result(ElementType::f32, step.outputs[0].shape);
  std::memcpy(result.raw(), first, bytes);
  return result;
}

/// Runs the operator with one thread and with three; the results must be bitwise equal.
inline Tensor run(const Step& step, const std::vector<const Tensor*>& inputs) {
  const Kernel& kernel = choose_kernel(step, {.kind = DeviceKind::cpu});
  Tensor result = run_with(kernel, step, inputs, 1);
  const Tensor again = run_with(kernel, step, inputs, 3);
  EXPECT_EQ(std::memcmp(result.raw(), again.raw(), result.bytes()), 0) << kernel.info.name << " depends on the threads";
  return result;
}

inline Tensor run(const Op& op, const std::vector<const Tensor*>& inputs) { return run(step_of(op, inputs), inputs); }

using Index = std::vector<int64_t>;

/// Calls each(index, flat) for every element of a shape, in row-major order.
inline void for_each(const Shape& shape, const std::function<void(const Index&, size_t)>& each) {
  const int64_t count = element_count(shape);
  for (int64_t flat = 0; flat < count; ++flat) {
    Index index(shape.size());
    int64_t rest = flat;
    for (size_t i = shape.size(); i-- > 0; rest /= shape[i]) index[i] = rest % shape[i];
    each(index, static_cast<size_t>(flat));
  }
}

inline double at(const Tensor& tensor, const Index& index) {
  int64_t flat = 0;
  for (size_t i = 0; i < index.size(); ++i) flat = flat * tensor.shape()[i] + index[i];
  return tensor.values<float>()[static_cast<size_t>(flat)];
}

/// Returns the element of a broadcast tensor at an index of the result.
inline double broadcast_at(const Tensor& tensor, const Index& index) {
  Index own(index.end() - static_cast<std::ptrdiff_t>(tensor.shape().size()), index.end());
  for (size_t i = 0; i < own.size(); ++i) own[i] = tensor.shape()[i] == 1 ? 0 : own[i];
  return at(tensor, own);
}

/// Expects every element within `tolerance` of the reference; NaN exactly where the reference has NaN.
inline void expect_near(const Tensor& got, const Shape& shape, double tolerance,
                        const std::function<double(const Index&)>& expected) {
  ASSERT_EQ(got.shape(), shape);
  for_each(shape, [&](const Index& index, size_t flat) {
    const double value = got.values<float>()[flat], wanted = expected(index);
    const bool right =
        std::isnan(wanted) ? std::isnan(value) : value == wanted || std::fabs(value - wanted) <= tolerance;
    EXPECT_TRUE(right) << "element " << flat << ": " << value << ", expected " << wanted;
  });
}

/// Same with a tolerance relative to the expected value, or to 1 if that is larger.
inline void expect_close(const Tensor& got, const Shape& shape, double tolerance,
                         const std::function<double(const Index&)>& expected) {
  ASSERT_EQ(got.shape(), shape);
  for_each(shape, [&](const Index& index, size_t flat) {
    const double value = got.values<float>()[flat], wanted = expected(index);
    const double most = tolerance * std::fmax(std::fabs(wanted), 1);
    const bool right = std::isnan(wanted) ? std::isnan(value) : value == wanted || std::fabs(value - wanted) <= most;
    EXPECT_TRUE(right) << "element " << flat << ": " << value << ", expected " << wanted;
  });
}

/// Returns the same array with some elements that are not finite.
inline Tensor with_nan(Tensor tensor) {
  tensor.values<float>()[5] = kNan;
  tensor.values<float>()[40] = -kInfinity;
  return tensor;
}

}  // namespace convlab
