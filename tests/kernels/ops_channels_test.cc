// Tests operators on nchw8c against the kernels of plain arrays, with every instruction set, in
// dense arrays and in parts of joint ones, with 1, 2 and 3 threads.

#include "convlab/kernels/registry.h"
#include "tests/kernels/channel_checks.h"
#include "tests/kernels/op_checks.h"
#include "tests/support/kernels_simd_targets.h"

namespace convlab {
namespace {

struct GivenTensor {
  const Tensor* tensor;
  bool constant = false;
};

Step channel_step(const Op& op, const std::vector<GivenTensor>& operands) {
  std::vector<const Tensor*> inputs;
  for (const GivenTensor& operand : operands) inputs.push_back(operand.tensor);
  Step step = step_of(op, inputs);
  for (size_t i = 0; i < operands.size(); ++i) step.inputs[i].constant = operands[i].constant;
  step.inputs[0].format = step.outputs[0].format = kNchw8c;
  return step;
}

Tensor run_in_lanes(const Kernel& kernel, Step step, const std::vector<GivenTensor>& operands, bool joint,
                    int threads) {
  const std::unique_ptr<Device> device = open_cpu({.threads = threads});
  const std::unique_ptr<Stream> stream = device->make_stream();
  std::vector<LaneArray> arrays;
  std::vector<const void*> inputs;
  for (const GivenTensor& operand : operands) {
    if (operand.constant) {
      inputs.push_back(operand.tensor->values<float>().data());
      continue;
    }
    arrays.emplace_back(*device, *operand.tensor, joint);
    step.inputs[inputs.size()].pitch = arrays.back().step();
    inputs.push_back(arrays.back().first());
  }
  const LaneArray output(*device, step.outputs[0].shape, joint);
  step.outputs[0].pitch = output.step();
  kernel.launch({step, inputs, OneOutput{output.first()}}, *stream);
  stream->synchronize();
  return output.images();
}

/// Expects that the planner chooses the kernel with this name and that its results are always bitwise equal; returns
/// them.
Tensor result_of(const char* name, const Op& op, const std::vector<GivenTensor>& operands) {
  const Step step = channel_step(op, operands);
  const Kernel& kernel = choose_kernel(step, {.kind = DeviceKind::cpu});
  EXPECT_EQ(kernel.info.name, name);
  Tensor result = run_in_lanes(kernel, step, operands, false, 1);
  for (const int64_t target : simd_targets()) {
    const ForcedTarget forced(target);
    for (const int threads : {1, 2, 3}) {
      for (const bool joint : {false, true}) {
        SCOPED_TRACE(fmt::format("{}, {} threads, joint: {}", hwy::TargetName(target), threads, joint));
        const Tensor again = run_in_lanes(kernel, step, operands, joint, threads);
        if (may_lack_fused_multiply_add(target)) {
          expect_near(again, result.shape(), 1e-6, [&](const Index& index) { return at(result, index); });
        } else {
          expect_same_bits(again, result);
        }
      }
    }
  }
  return result;
}

Tensor plain_result(const Op& op, const std::vector<GivenTensor>& operands) {
  std::vector<const Tensor*> inputs;
  for (const GivenTensor& operand : operands) inputs.push_back(operand.tensor);
  return run(op, inputs);
}

/// Expects the kernel's result within `tolerance` of the plain kernel's.
void expect_like_plain(const char* name, const Op& op, const std::vector<GivenTensor>& operands, double tolerance = 0) {
  const Tensor expected = plain_result(op, operands), got = result_of(name, op, operands);
  expect_near(got, expected.shape(), tolerance, [&](const Index& index) { return at(expected, index); });
}

TEST(ChannelOps, Pool) {
  const Tensor x = with_nan(random({3, 24, 9, 21}, 1));
  const Pool pools[] = {
      {.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2},
      {.kernel_h = 3,
       .kernel_w = 3,
       .stride_h = 2,
       .stride_w = 2,
       .pad_top = 1,
       .pad_left = 1,
       .pad_bottom = 1,
       .pad_right = 1},
      {.kernel_h = 3, .kernel_w = 3, .pad_top = 1, .pad_left = 1, .pad_bottom = 1, .pad_right = 1},
      {.kernel_h = 3, .kernel_w = 3, .stride_h = 2, .stride_w = 2, .ceil_mode = true},
      {.kernel_h = 3,
       .kernel_w = 2,
       .stride_w = 3,
       .dilation_h = 2,
       .pad_left = 1,
       .pad_bottom = 2,
       .count_include_pad = true},
      {.kernel_h = 5, .kernel_w = 1, .pad_top = 4, .pad_bottom = 3},
  };
  for (Pool pool : pools) {
    for (const PoolKind kind : {PoolKind::max, PoolKind::average}) {
      pool.kind = kind;
      SCOPED_TRACE(to_text(pool));
      expect_like_plain("cpu.nchw8c_pool", PoolOp{pool}, {{&x}}, kind == PoolKind::max ? 0 : kUnit);
    }
  }
}

TEST(ChannelOps, MeansOfMaps) {
  const Tensor x = random({3, 80, 7, 5}, 2);
  expect_like_plain("cpu.nchw8c_global_average_pool", GlobalAveragePoolOp{}, {{&x}});
  expect_like_plain("cpu.nchw8c_global_average_pool", ReduceOp{ReduceKind::mean, {2, 3}}, {{&x}}, kUnit);
  expect_like_plain("cpu.nchw8c_global_average_pool", ReduceOp{ReduceKind::mean, {-1, -2}}, {{&x}}, kUnit);
  Step step = channel_step(GlobalAveragePoolOp{}, {{&x}});
  step.outputs[0].format = kNchw;
  EXPECT_EQ(choose_kernel(step, {.kind = DeviceKind::cpu}).info.name, "cpu.nchw8c_global_average_pool");
  step.op = ReduceOp{ReduceKind::max, {2, 3}};
  EXPECT_EQ(find_kernel(step, {.kind = DeviceKind::cpu}), nullptr);
}

TEST(ChannelOps, NumbersForEachChannel) {
  const Tensor x = with_nan(random({2, 16, 5, 7}, 3)), gate = random({2, 16, 1, 1}, 4);
  const Tensor shared = random({1, 16, 1, 1}, 5), three = random({16, 1, 1}, 6);
  for (const Op& op : {Op(MulOp{}), Op(AddOp{})}) {
    expect_like_plain("cpu.nchw8c_scale", op, {{&x}, {&gate}});
    expect_like_plain("cpu.nchw8c_scale", op, {{&gate}, {&x}});
    expect_like_plain("cpu.nchw8c_scale", op, {{&x}, {&shared, true}});
    expect_like_plain("cpu.nchw8c_scale", op, {{&three, true}, {&x}});
  }
  const Tensor scale = random({16}, 7), shift = random({16}, 8), mean = random({16}, 9);
  Tensor variance = random({16}, 10);
  for (float& value : variance.values<float>()) value = value * value + 0.5f;
  expect_like_plain("cpu.nchw8c_scale", BatchNormOp{1e-3f},
                    {{&x}, {&scale, true}, {&shift, true}, {&mean, true}, {&variance, true}}, 1e-6);
}

TEST(ChannelOps, Elementwise) {
  const Tensor x = with_nan(random({2, 24, 31, 29}, 11)), y = random({2, 24, 31, 29}, 12), two = filled({1}, {2});
  constexpr const char* kName = "cpu.nchw8c_elementwise";
  expect_like_plain(kName, ActivationOp{{ActivationKind::relu}}, {{&x}});
  expect_like_plain(kName, ActivationOp{{ActivationKind::swish}}, {{&x}});
  expect_like_plain(kName, UnaryOp{UnaryKind::hard_swish}, {{&x}});
  expect_like_plain(kName, UnaryOp{UnaryKind::sqrt}, {{&x}});
  expect_like_plain(kName, AddOp{}, {{&x}, {&y}});
  expect_like_plain(kName, MulOp{}, {{&x}, {&y}});
  expect_like_plain(kName, BinaryOp{BinaryKind::subtract}, {{&x}, {&y}});
  expect_like_plain(kName, BinaryOp{BinaryKind::power}, {{&y}, {&two, true}});
  expect_like_plain(kName, BinaryOp{BinaryKind::subtract}, {{&two, true}, {&y}});
}

TEST(ChannelOps, Concat) {
  const Tensor a = random({3, 8, 4, 5}, 13), b = random({3, 24, 4, 5}, 14), c = random({3, 16, 4, 5}, 15);
  expect_like_plain("cpu.nchw8c_concat", ConcatOp{1}, {{&a}, {&b}, {&c}});
  expect_like_plain("cpu.nchw8c_concat", ConcatOp{-3}, {{&b}});
  EXPECT_EQ(find_kernel(channel_step(ConcatOp{2}, {{&a}, {&a}}), {.kind = DeviceKind::cpu}), nullptr);
}

TEST(ChannelOps, Reorder) {
  for (const Shape& shape : {Shape{2, 24, 13, 11}, Shape{1, 8, 50, 60}, Shape{3, 16, 1, 1}}) {
    const Tensor images = random(shape, 16);
    for (const int64_t target : simd_targets()) {
      const ForcedTarget forced(target);
      for (const int threads : {1, 3}) {
        for (const bool joint : {false, true}) {
          const std::unique_ptr<Device> device = open_cpu({.threads = threads});
          const std::unique_ptr<Stream> stream = device->make_stream();
          Step step = channel_step(ActivationOp{}, {{&images}});
          const LaneArray lanes(*device, shape, joint);
          step.inputs[0].format = kNchw;
          step.outputs[0].pitch = lanes.step();
          const Kernel& kernel = choose_kernel(step, {.kind = DeviceKind::cpu});
          EXPECT_EQ(kernel.info.name, "cpu.nchw8c_reorder");
          const void* const plain = images.raw();
          kernel.launch({step, {&plain, 1}, OneOutput{lanes.first()}}, *stream);
          expect_same_bits(lanes.images(), images);

          Step back = channel_step(ActivationOp{}, {{&images}});
          back.outputs[0].format = kNchw;
          back.inputs[0].pitch = lanes.step();
          EXPECT_EQ(&choose_kernel(back, {.kind = DeviceKind::cpu}), &kernel);
          Tensor again(ElementType::f32, shape);
          const void* const from = lanes.first();
          kernel.launch({back, {&from, 1}, OneOutput{again.raw()}}, *stream);
          expect_same_bits(again, images);
        }
      }
    }
  }
}

}  // namespace
}  // namespace convlab
