// Tests GPU operators on fp16 and fp32 nhwc, and scalar functions, on
// the host (simt) against the CPU's kernels of plain arrays with rounded inputs and results; in dense arrays and in
// parts of joint ones.

#include <gtest/gtest.h>

#include "convlab/kernels/registry.h"
#include "tests/kernels/op_checks.h"
#include "tests/kernels/pixel_checks.h"

namespace convlab {
namespace {

struct GivenTensor {
  const Tensor* tensor;
  bool constant = false;
};

bool is_one_pixel(const Shape& shape) { return shape.size() == 4 && shape[2] == 1 && shape[3] == 1; }

bool is_plain(const GivenTensor& operand) { return operand.constant || is_one_pixel(operand.tensor->shape()); }

Step pixel_step_of(Format format, const Op& op, const std::vector<GivenTensor>& operands) {
  std::vector<const Tensor*> inputs;
  for (const GivenTensor& operand : operands) inputs.push_back(operand.tensor);
  Step step = step_of(op, inputs);
  for (size_t i = 0; i < operands.size(); ++i) step.inputs[i].constant = operands[i].constant;
  step.inputs[0].format = format;
  step.outputs[0].format = is_one_pixel(step.outputs[0].shape) ? kNchw : format;
  return step;
}

class PixelOps : public PixelTest {
 protected:
  Tensor run_on_pixels(const Kernel& kernel, Step step, const std::vector<GivenTensor>& operands, bool joint) {
    std::vector<PixelArray> arrays;
    std::vector<Buffer> copies;
    std::vector<const void*> inputs;
    for (const GivenTensor& operand : operands) {
      if (is_plain(operand)) {
        copies.push_back(simt_->copy_of(*operand.tensor));
        inputs.push_back(copies.back().data());
      } else {
        arrays.push_back(array(*operand.tensor, joint));
        step.inputs[inputs.size()].pitch = arrays.back().step();
        inputs.push_back(arrays.back().first());
      }
    }
    const Buffer workspace = simt_->uninitialized(workspace_bytes(kernel, step, simt_->device().caps()));
    const Buffer prepared = simt_->uninitialized(prepared_bytes(kernel, step, simt_->device().caps()));
    if (kernel.prepare != nullptr) {
      kernel.prepare({step, inputs, {}, prepared.data(), workspace.data()}, simt_->stream());
    }
    if (step.outputs[0].format.order == Order::nchw) {
      Tensor output(ElementType::f32, step.outputs[0].shape);
      const Buffer plain = simt_->uninitialized(output.bytes());
      kernel.launch({step, inputs, OneOutput{plain.data()}, prepared.data(), workspace.data()}, simt_->stream());
      simt_->stream().download(output.raw(), plain.data(), output.bytes());
      simt_->stream().synchronize();
      return output;
    }
    const PixelArray output = array(step.outputs[0].shape, joint);
    step.outputs[0].pitch = output.step();
    kernel.launch({step, inputs, OneOutput{output.first()}, prepared.data(), workspace.data()}, simt_->stream());
    return output.images();
  }

  /// Expects that the planner chooses the kernel with this name, and its result within a relative tolerance of the
  /// plain CPU kernel's.
  void expect_like_plain(const char* name, const Op& op, const std::vector<GivenTensor>& operands,
                         double tolerance = unit()) {
    std::vector<Tensor> given;
    for (const GivenTensor& operand : operands) {
      given.push_back(is_plain(operand) ? operand.tensor->clone() : rounded(*operand.tensor));
    }
    std::vector<const Tensor*> inputs;
    for (const Tensor& tensor : given) inputs.push_back(&tensor);
    const Tensor expected = run(op, inputs);
    const Step step = pixel_step_of(GetParam(), op, operands);
    const Kernel& kernel = choose_kernel(step, {.kind = DeviceKind::simt}, math());
    EXPECT_EQ(kernel.info.name, named(name));
    for (const bool joint : {false, true}) {
      SCOPED_TRACE(joint ? "joint" : "dense");
      const Tensor got = run_on_pixels(kernel, step, operands, joint);
      expect_close(got, expected.shape(), tolerance, [&](const Index& index) { return at(expected, index); });
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Layouts, PixelOps, kPixelFormats, format_in_name);

TEST_P(PixelOps, Pool) {
  Tensor x = with_nan(random({3, 72, 9, 21}, 1));
  x.values<float>().back() = -std::numeric_limits<float>::quiet_NaN();
  for (Pool pool : kPools) {
    for (const PoolKind kind : {PoolKind::max, PoolKind::average}) {
      pool.kind = kind;
      SCOPED_TRACE(to_text(pool));
      expect_like_plain("cuda.nhwc_pool", PoolOp{pool}, {{&x}});
    }
  }
}

TEST_P(PixelOps, PoolToPlainImages) {
  const Tensor x = with_nan(random({3, 72, 9, 21}, 4));
  const Tensor of_elements = rounded(x);
  for (const PoolKind kind : {PoolKind::max, PoolKind::average}) {
    const PoolOp op{{.kind = kind, .kernel_h = 2, .kernel_w = 3, .stride_h = 2, .stride_w = 2, .pad_left = 1}};
    Step step = pixel_step_of(GetParam(), op, {{&x}});
    step.outputs[0].format = kNchw;
    const Tensor expected = run(op, {&of_elements});
    const Kernel& kernel = choose_kernel(step, {.kind = DeviceKind::simt}, math());
    EXPECT_EQ(kernel.info.name, named("cuda.nhwc_pool"));
    for (const bool joint : {false, true}) {
      const Tensor got = run_on_pixels(kernel, step, {{&x}}, joint);
      expect_close(got, expected.shape(), 1e-6, [&](const Index& index) { return at(expected, index); });
    }
  }
}

TEST_P(PixelOps, PoolOfManyRows) {  // each thread computes several rows
  const Tensor x = with_nan(random({1, 512, 131, 131}, 2));
  const Pool pool{.kernel_h = 2, .kernel_w = 2};
  const Step step = pixel_step_of(GetParam(), PoolOp{pool}, {{&x}});
  ASSERT_GE(element_count(step.outputs[0].shape), int64_t{8} * 4 * 256 * 1024);
  const Tensor expected = run(PoolOp{pool}, {&x});
  const Tensor got = run_on_pixels(choose_kernel(step, {.kind = DeviceKind::simt}, math()), step, {{&x}}, false);
  EXPECT_EQ(std::memcmp(got.raw(), rounded(expected).raw(), got.bytes()), 0);
}

TEST_P(PixelOps, MeansOfMaps) {
  for (const Shape& shape : {Shape{3, 72, 7, 5}, Shape{1, 8, 1, 3}, Shape{2, 24, 41, 59}, Shape{1, 136, 23, 31}}) {
    const Tensor x = random(shape, 2);
    expect_like_plain("cuda.nhwc_mean", GlobalAveragePoolOp{}, {{&x}}, 1e-6);
    expect_like_plain("cuda.nhwc_mean", ReduceOp{ReduceKind::mean, {2, 3}}, {{&x}}, 1e-6);
  }
  const Tensor x = with_nan(random({2, 24, 41, 59}, 3));
  expect_like_plain("cuda.nhwc_mean", GlobalAveragePoolOp{}, {{&x}}, 1e-6);
}

/// Returns x * gate, in double.
std::vector<double> squeezed_and_excited(const std::vector<const Tensor*>& inputs) {
  const Tensor &x = *inputs[0], &w1 = *inputs[1], &b1 = *inputs[2], &w2 = *inputs[3], &b2 = *inputs[4];
  const int64_t channels = x.shape()[1], pixels = x.shape()[2] * x.shape()[3], hidden = w1.shape()[0];
  const auto number = [](const Tensor& tensor, int64_t i) {
    return static_cast<double>(tensor.values<float>()[static_cast<size_t>(i)]);
  };
  std::vector<double> y;
  for (int64_t image = 0; image < x.shape()[0]; ++image) {
    std::vector<double> few;
    for (int64_t i = 0; i < hidden; ++i) {
      double sum = number(b1, i);
      for (int64_t j = 0; j < channels * pixels; ++j) {
        sum += number(w1, i * channels + j / pixels) * number(x, image * channels * pixels + j) /
               static_cast<double>(pixels);
      }
      few.push_back(sum < 0 ? 0 : sum);
    }
    for (int64_t channel = 0; channel < channels; ++channel) {
      double sum = number(b2, channel);
      for (int64_t i = 0; i < hidden; ++i) sum += number(w2, channel * hidden + i) * few[static_cast<size_t>(i)];
      const double gate = 1 / (1 + std::exp(-sum));
      for (int64_t i = 0; i < pixels; ++i) y.push_back(number(x, (image * channels + channel) * pixels + i) * gate);
    }
  }
  return y;
}

TEST_P(PixelOps, SqueezeExcite) {
  const SqueezeExciteOp op{{ActivationKind::relu}, {ActivationKind::sigmoid}};
  struct Case {
    Shape x;
    int64_t hidden;
  };
  for (const Case& each : {Case{{3, 72, 7, 5}, 6}, Case{{1, 8, 1, 3}, 1}, Case{{2, 24, 41, 59}, 70},
                           Case{{1, 136, 23, 31}, 33}, Case{{1, 4096, 2, 2}, 3}}) {
    SCOPED_TRACE(to_text(each.x));
    const int64_t channels = each.x[1];
    Tensor x = rounded(random(each.x, 2));
    if (each.x[0] > 1) x.values<float>()[0] = kNan;  // makes the first image's means NaN, and so the whole image
    const Tensor w1 = random({each.hidden, channels, 1, 1}, 3), b1 = random({each.hidden}, 4);
    const Tensor w2 = random({channels, each.hidden, 1, 1}, 5), b2 = random({channels}, 6);
    const std::vector<GivenTensor> operands{{&x}, {&w1, true}, {&b1, true}, {&w2, true}, {&b2, true}};
    const Step step = pixel_step_of(GetParam(), op, operands);
    const Kernel& kernel = choose_kernel(step, {.kind = DeviceKind::simt}, math());
    EXPECT_EQ(kernel.info.name, named("cuda.nhwc_squeeze_excite"));
    const std::vector<double> expected = squeezed_and_excited({&x, &w1, &b1, &w2, &b2});
    for (const bool joint : {false, true}) {
      const Tensor got = run_on_pixels(kernel, step, operands, joint);
      expect_close(got, each.x, unit() + 1e-5, [&](const Index& at) {
        return expected[static_cast<size_t>(((at[0] * channels + at[1]) * each.x[2] + at[2]) * each.x[3] + at[3])];
      });
    }
  }
}

TEST_P(PixelOps, SqueezeExciteLeavesFewLargeImagesToOthers) {
  Step step{.op = SqueezeExciteOp{}, .outputs = {{{1, 64, 250, 250}}}};
  for (const Shape& shape : {step.outputs[0].shape, Shape{4, 64, 1, 1}, Shape{4}, Shape{64, 4, 1, 1}, Shape{64}}) {
    step.inputs.push_back({.shape = shape});
  }
  step.inputs[0].format = step.outputs[0].format = GetParam();
  EXPECT_EQ(find_kernel(step, {.kind = DeviceKind::simt}, math()), nullptr);
  step.inputs[0].shape[0] = step.outputs[0].shape[0] = 8;
  EXPECT_NE(find_kernel(step, {.kind = DeviceKind::simt}, math()), nullptr);
}

TEST_P(PixelOps, NumbersForEachChannel) {
  const Tensor x = with_nan(random({2, 24, 5, 7}, 3)), gate = random({2, 24, 1, 1}, 4);
  const Tensor shared = random({1, 24, 1, 1}, 5), three = random({24, 1, 1}, 6);
  for (const Op& op : {Op(MulOp{}), Op(AddOp{})}) {
    expect_like_plain("cuda.nhwc_scale", op, {{&x}, {&gate}});
    expect_like_plain("cuda.nhwc_scale", op, {{&gate}, {&x}});
    expect_like_plain("cuda.nhwc_scale", op, {{&x}, {&shared, true}});
    expect_like_plain("cuda.nhwc_scale", op, {{&three, true}, {&x}});
  }
  const Tensor scale = random({24}, 7), shift = random({24}, 8), mean = random({24}, 9);
  Tensor variance = random({24}, 10);
  for (float& value : variance.values<float>()) value = value * value + 0.5f;
  expect_like_plain("cuda.nhwc_scale", BatchNormOp{1e-3f},
                    {{&x}, {&scale, true}, {&shift, true}, {&mean, true}, {&variance, true}});
}

TEST_P(PixelOps, ClampsWhatIsNormalized) {
  const Tensor x = with_nan(rounded(random({1, 8, 3, 5}, 3)));
  const Tensor ones = filled({8}, {1, 1, 1, 1, 1, 1, 1, 1}), zeros = filled({8}, {0, 0, 0, 0, 0, 0, 0, 0});
  const std::vector<GivenTensor> operands{{&x}, {&ones, true}, {&zeros, true}, {&zeros, true}, {&ones, true}};
  Step step = pixel_step_of(GetParam(), BatchNormOp{0}, operands);
  step.epilogue.activation = {ActivationKind::clip, -0.25f, 0.5f};
  const Tensor got = run_on_pixels(choose_kernel(step, {.kind = DeviceKind::simt}, math()), step, operands, true);
  expect_close(got, x.shape(), unit(), [&](const Index& index) {
    const double value = at(x, index);
    return std::isnan(value) ? value : std::clamp(value, -0.25, 0.5);
  });
}

TEST_P(PixelOps, Elementwise) {
  const Tensor x = with_nan(random({2, 24, 11, 19}, 11)), y = random({2, 24, 11, 19}, 12), two = filled({1}, {2});
  constexpr const char* kName = "cuda.nhwc_elementwise";
  for (const Activation& activation :
       {Activation{ActivationKind::relu}, Activation{ActivationKind::leaky_relu, 0.25f},
        Activation{ActivationKind::clip, -0.5f, 0.5f}, Activation{ActivationKind::sigmoid},
        Activation{ActivationKind::tanh}, Activation{ActivationKind::swish}, Activation{ActivationKind::hard_swish}}) {
    SCOPED_TRACE(to_text(activation));
    expect_like_plain(kName, ActivationOp{activation}, {{&x}});
  }
  for (const UnaryOp& op : {UnaryOp{UnaryKind::hard_swish}, UnaryOp{UnaryKind::swish, 1}, UnaryOp{UnaryKind::swish, 2},
                            UnaryOp{UnaryKind::hard_sigmoid, 0.2f, 0.5f}, UnaryOp{UnaryKind::gelu}}) {
    expect_like_plain(kName, op, {{&x}});
  }
  expect_like_plain(kName, AddOp{}, {{&x}, {&y}});
  expect_like_plain(kName, MulOp{}, {{&x}, {&y}});
  expect_like_plain(kName, MulOp{}, {{&two, true}, {&y}});
  expect_like_plain(kName, BinaryOp{BinaryKind::maximum}, {{&x}, {&y}});
  expect_like_plain(kName, BinaryOp{BinaryKind::power}, {{&y}, {&two, true}});
  expect_like_plain(kName, BinaryOp{BinaryKind::subtract}, {{&two, true}, {&y}});
  const Tensor small = random({1, 8, 1, 3}, 13);
  expect_like_plain(kName, ActivationOp{{ActivationKind::relu}}, {{&small}});
}

TEST_P(PixelOps, BinaryFunctions) {
  const Tensor x = random({1, 8, 5, 7}, 14), y = random({1, 8, 5, 7}, 15);
  for (int kind = 0; kind <= static_cast<int>(BinaryKind::prelu); ++kind) {
    if (static_cast<BinaryKind>(kind) == BinaryKind::divide) continue;  // its tolerance would be too large
    SCOPED_TRACE(kind);
    expect_like_plain("cuda.nhwc_elementwise", BinaryOp{static_cast<BinaryKind>(kind)}, {{&x}, {&y}});
  }
}

TEST_P(PixelOps, Reorder) {
  for (const Shape& shape : {Shape{2, 24, 13, 11}, Shape{1, 8, 50, 60}, Shape{3, 72, 1, 5}, Shape{1, 136, 8, 8}}) {
    const Tensor images = with_nan(random(shape, 16));
    const Buffer plain = simt_->copy_of(images);
    for (const bool joint : {false, true}) {
      const PixelArray pixels = array(shape, joint), again = array(shape, !joint);
      const Buffer back = simt_->uninitialized(images.bytes());
      const auto copy = [&](Format from, int64_t x_step, const void* x, Format to, int64_t y_step, void* y) {
        Step step = pixel_step_of(GetParam(), ActivationOp{}, {{&images}});
        step.inputs[0].format = from, step.inputs[0].pitch = x_step;
        step.outputs[0].format = to, step.outputs[0].pitch = y_step;
        const Kernel& kernel = choose_kernel(step, {.kind = DeviceKind::simt}, math());
        EXPECT_EQ(kernel.info.name, named("cuda.nhwc_reorder"));
        kernel.launch({step, {&x, 1}, OneOutput{y}}, simt_->stream());
      };
      const Format plainly = kNchw, last = GetParam();
      copy(plainly, 0, plain.data(), last, pixels.step(), pixels.first());
      copy(last, pixels.step(), pixels.first(), last, again.step(), again.first());
      copy(last, again.step(), again.first(), plainly, 0, back.data());
      const Tensor expected = rounded(images);
      Tensor got(ElementType::f32, shape);
      simt_->stream().download(got.raw(), back.data(), got.bytes());
      simt_->stream().synchronize();
      for (const Tensor& result : {pixels.images(), again.images(), std::move(got)}) {
        expect_near(result, shape, 0, [&](const Index& index) { return at(expected, index); });
      }
    }
  }
}

TEST(PlainOps, FunctionsOfNumbers) {
  if (!simt_present()) GTEST_SKIP() << how_to_get_simt();
  const SimtDevice simt;
  Tensor x = random({2, 24, 5, 7}, 17);
  for (float& value : x.values<float>()) value *= 3;
  x = with_nan(std::move(x));
  x.values<float>()[41] = kInfinity;
  x.values<float>()[42] = 0;
  const Buffer input = simt.copy_of(x);
  const void* const from = input.data();
  for (int kind = 0; kind <= static_cast<int>(UnaryKind::shrink); ++kind) {
    SCOPED_TRACE(kind);
    const UnaryOp op{static_cast<UnaryKind>(kind), 0.75f, 0.5f};
    const Step step = step_of(op, {&x});
    const Kernel& kernel = choose_kernel(step, {.kind = DeviceKind::simt});
    EXPECT_EQ(kernel.info.name, "cuda.unary");
    const Buffer output = simt.uninitialized(x.bytes());
    kernel.launch({step, {&from, 1}, OneOutput{output.data()}}, simt.stream());
    Tensor got(ElementType::f32, x.shape());
    simt.stream().download(got.raw(), output.data(), got.bytes());
    simt.stream().synchronize();
    const Tensor expected = run(op, {&x});
    expect_close(got, x.shape(), 1e-6, [&](const Index& index) { return at(expected, index); });
  }
}

TEST_P(PixelOps, RefuseWhatTheyDoNotCompute) {
  const Tensor odd = random({1, 12, 3, 3}, 18), even = random({1, 16, 3, 3}, 19);
  const auto refused = [](const Step& step) {
    return find_kernel(step, {.kind = DeviceKind::simt}, math()) == nullptr;
  };
  EXPECT_TRUE(refused(pixel_step_of(GetParam(), AddOp{}, {{&odd}, {&odd}})));
  Step pool = pixel_step_of(GetParam(), PoolOp{{.kernel_h = 2, .kernel_w = 2}}, {{&even}});
  EXPECT_FALSE(refused(pool));
  pool.inputs[0].format = kNchw;
  EXPECT_TRUE(refused(pool));
  const Step activation = pixel_step_of(GetParam(), ActivationOp{{ActivationKind::relu}}, {{&even}});
  for (std::vector<Operand> Step::*side : {&Step::inputs, &Step::outputs}) {
    Step half_plain = activation;
    (half_plain.*side)[0].format = kNchw;
    EXPECT_TRUE(refused(half_plain));
  }
}

}  // namespace
}  // namespace convlab
