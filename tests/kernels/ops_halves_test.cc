// Tests operators on bf16 nhwc bfloat16 against the kernels of plain arrays with rounded inputs and
// results; with every instruction set, in dense arrays and in parts of joint ones, with 1 and 3 threads.

#include "convlab/kernels/registry.h"
#include "tests/kernels/channel_checks.h"
#include "tests/kernels/half_checks.h"
#include "tests/kernels/op_checks.h"
#include "tests/support/kernels_simd_targets.h"

namespace convlab {
namespace {

struct HalfOperand {
  const Tensor* tensor;
  bool constant = false;
};

bool is_one_pixel(const Shape& shape) { return shape.size() == 4 && shape[2] == 1 && shape[3] == 1; }

Step half_step(const Op& op, const std::vector<HalfOperand>& operands) {
  std::vector<const Tensor*> inputs;
  for (const HalfOperand& operand : operands) inputs.push_back(operand.tensor);
  Step step = step_of(op, inputs);
  for (size_t i = 0; i < operands.size(); ++i) step.inputs[i].constant = operands[i].constant;
  step.inputs[0].format = kNhwcBf16;
  step.outputs[0].format = is_one_pixel(step.outputs[0].shape) ? kNchw : kNhwcBf16;
  return step;
}

Tensor run_in_halves(const Kernel& kernel, Step step, const std::vector<HalfOperand>& operands, bool joint,
                     int threads) {
  const std::unique_ptr<Device> device = open_cpu({.threads = threads});
  const std::unique_ptr<Stream> stream = device->make_stream();
  std::vector<HalfArray> arrays;
  std::vector<const void*> inputs;
  for (const HalfOperand& operand : operands) {
    if (operand.constant || is_one_pixel(operand.tensor->shape())) {
      inputs.push_back(operand.tensor->values<float>().data());
      continue;
    }
    arrays.emplace_back(*device, *operand.tensor, joint);
    step.inputs[inputs.size()].pitch = arrays.back().step();
    inputs.push_back(arrays.back().first());
  }
  if (step.outputs[0].format.order == Order::nchw) {
    Tensor output(ElementType::f32, step.outputs[0].shape);
    kernel.launch({step, inputs, OneOutput{output.raw()}}, *stream);
    stream->synchronize();
    return output;
  }
  const HalfArray output(*device, step.outputs[0].shape, joint);
  step.outputs[0].pitch = output.step();
  kernel.launch({step, inputs, OneOutput{output.first()}}, *stream);
  stream->synchronize();
  return output.images();
}

/// Expects that the planner chooses the kernel with this name, and its result within a relative tolerance of the plain
/// kernel's, rounded.
void expect_like_rounded(const char* name, const Op& op, const std::vector<HalfOperand>& operands,
                         double tolerance = 0x1p-8) {
  std::vector<Tensor> halves;
  for (const HalfOperand& operand : operands) {
    const bool plain = operand.constant || is_one_pixel(operand.tensor->shape());
    halves.push_back(plain ? operand.tensor->clone() : rounded(*operand.tensor));
  }
  std::vector<const Tensor*> inputs;
  for (const Tensor& tensor : halves) inputs.push_back(&tensor);
  const Tensor expected = run(op, inputs);
  const Step step = half_step(op, operands);
  const Kernel& kernel = choose_kernel(step, {.kind = DeviceKind::cpu}, Math::bf16);
  EXPECT_EQ(kernel.info.name, name);
  for (const int64_t target : simd_targets()) {
    const ForcedTarget forced(target);
    for (const int threads : {1, 3}) {
      for (const bool joint : {false, true}) {
        SCOPED_TRACE(fmt::format("{}, {} threads, joint: {}", hwy::TargetName(target), threads, joint));
        const Tensor got = run_in_halves(kernel, step, operands, joint, threads);
        expect_close(got, expected.shape(), tolerance, [&](const Index& index) { return at(expected, index); });
      }
    }
  }
}

TEST(HalfOps, Pool) {
  Tensor x = with_nan(random({3, 88, 9, 21}, 1));
  x.values<float>().back() = -std::numeric_limits<float>::quiet_NaN();
  for (Pool pool : kPools) {
    for (const PoolKind kind : {PoolKind::max, PoolKind::average}) {
      pool.kind = kind;
      SCOPED_TRACE(to_text(pool));
      expect_like_rounded("cpu.nhwc_bf16_pool", PoolOp{pool}, {{&x}});
    }
  }
}

TEST(HalfOps, MeansOfMaps) {
  const Tensor x = random({3, 88, 7, 5}, 2);
  expect_like_rounded("cpu.nhwc_bf16_mean", GlobalAveragePoolOp{}, {{&x}}, 1e-6);
  expect_like_rounded("cpu.nhwc_bf16_mean", ReduceOp{ReduceKind::mean, {2, 3}}, {{&x}}, 1e-6);
}

TEST(HalfOps, NumbersForEachChannel) {
  const Tensor x = with_nan(random({2, 24, 5, 7}, 3)), gate = random({2, 24, 1, 1}, 4);
  const Tensor shared = random({1, 24, 1, 1}, 5), three = random({24, 1, 1}, 6);
  for (const Op& op : {Op(MulOp{}), Op(AddOp{})}) {
    expect_like_rounded("cpu.nhwc_bf16_scale", op, {{&x}, {&gate}});
    expect_like_rounded("cpu.nhwc_bf16_scale", op, {{&gate}, {&x}});
    expect_like_rounded("cpu.nhwc_bf16_scale", op, {{&x}, {&shared, true}});
    expect_like_rounded("cpu.nhwc_bf16_scale", op, {{&three, true}, {&x}});
  }
  const Tensor scale = random({24}, 7), shift = random({24}, 8), mean = random({24}, 9);
  Tensor variance = random({24}, 10);
  for (float& value : variance.values<float>()) value = value * value + 0.5f;
  expect_like_rounded("cpu.nhwc_bf16_scale", BatchNormOp{1e-3f},
                      {{&x}, {&scale, true}, {&shift, true}, {&mean, true}, {&variance, true}});
}

TEST(HalfOps, Elementwise) {
  const Tensor x = with_nan(random({2, 24, 11, 19}, 11)), y = random({2, 24, 11, 19}, 12), two = filled({1}, {2});
  constexpr const char* kName = "cpu.nhwc_bf16_elementwise";
  expect_like_rounded(kName, ActivationOp{{ActivationKind::relu}}, {{&x}});
  expect_like_rounded(kName, ActivationOp{{ActivationKind::swish}}, {{&x}});
  expect_like_rounded(kName, UnaryOp{UnaryKind::hard_swish}, {{&x}});
  expect_like_rounded(kName, AddOp{}, {{&x}, {&y}});
  expect_like_rounded(kName, MulOp{}, {{&x}, {&y}});
  expect_like_rounded(kName, BinaryOp{BinaryKind::power}, {{&y}, {&two, true}});
  expect_like_rounded(kName, BinaryOp{BinaryKind::subtract}, {{&two, true}, {&y}});
}

TEST(HalfOps, Reorder) {
  for (const Shape& shape : {Shape{2, 24, 13, 11}, Shape{1, 8, 50, 60}}) {
    const Tensor images = with_nan(random(shape, 16));
    for (const int64_t target : simd_targets()) {
      const ForcedTarget forced(target);
      for (const bool joint : {false, true}) {
        const std::unique_ptr<Device> device = open_cpu({.threads = 3});
        const std::unique_ptr<Stream> stream = device->make_stream();
        const HalfArray halves(*device, shape, joint), again(*device, shape, !joint);
        const auto copy = [&](Format from, int64_t x_step, const void* x, Format to, int64_t y_step, void* y) {
          Step step = half_step(ActivationOp{}, {{&images}});
          step.inputs[0].format = from, step.inputs[0].pitch = x_step;
          step.outputs[0].format = to, step.outputs[0].pitch = y_step;
          const Kernel& kernel = choose_kernel(step, {.kind = DeviceKind::cpu}, Math::bf16);
          EXPECT_EQ(kernel.info.name, "cpu.nhwc_bf16_reorder");
          kernel.launch({step, {&x, 1}, OneOutput{y}}, *stream);
        };
        Tensor back(ElementType::f32, shape);
        copy(kNchw, 0, images.values<float>().data(), kNhwcBf16, halves.step(), halves.first());
        copy(kNhwcBf16, halves.step(), halves.first(), kNhwcBf16, again.step(), again.first());
        copy(kNhwcBf16, again.step(), again.first(), kNchw, 0, back.values<float>().data());
        expect_same_bits(back, rounded(images));
      }
    }
  }
}

}  // namespace
}  // namespace convlab
