// cuda.nhwc_elementwise, cuda.nhwc_elementwise_fp32: elementwise functions in nhwc, of one array, of two arrays of
// one shape, or of an array and a number. A thread computes 8 channels of a pixel.
// Not supported: other shapes, and input or output in other layouts.
// Limited by memory, except for functions that take many instructions.

#include "convlab/kernels/cuda/nhwc/pixel_end.cuh"
#include "convlab/kernels/cuda/nhwc/pixel_op.h"
#include "convlab/kernels/cuda/nhwc/quick_activation.cuh"
#include "convlab/kernels/ops/functions.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr int kThreads = 256;

/// An array in nhwc or, if `number` is not nullptr, that number for all elements.
template <class Element>
struct Operand {
  const Element* array = nullptr;
  int64_t step = 0;
  const float* number = nullptr;
};

template <class Element>
struct Elementwise {
  Operand<Element> operands[2];
  Element* y;
  int64_t y_step;
  unsigned chunks;  ///< per pixel
  unsigned count;   ///< chunks of all pixels
};

template <class Element, ActivationKind kKind>
struct ActivationOf {
  static constexpr int kOperands = 1;
  float alpha = 0, beta = 0;
  __device__ float operator()(float x, float) const { return activated_as<Element>({kKind, alpha, beta}, x); }
};

struct Sum {
  static constexpr int kOperands = 2;
  __device__ float operator()(float a, float b) const { return a + b; }
};

struct Product {
  static constexpr int kOperands = 2;
  __device__ float operator()(float a, float b) const { return a * b; }
};

// Functions that networks rarely use are not inlined: one copy is called for every element.
__attribute__((noinline)) __device__ float any_function_of(const UnaryOp& op, float x) { return function_of(op, x); }
__attribute__((noinline)) __device__ float any_function_of(const BinaryOp& op, float a, float b) {
  return function_of(op, a, b);
}

struct Unary {
  static constexpr int kOperands = 1;
  UnaryOp op;
  __device__ float operator()(float x, float) const { return any_function_of(op, x); }
};

struct Binary {
  static constexpr int kOperands = 2;
  BinaryOp op;
  __device__ float operator()(float a, float b) const { return any_function_of(op, a, b); }
};

template <class Element>
__device__ void load_operand(const Operand<Element>& operand, unsigned pixel, unsigned channel, float (&to)[8]) {
  if (operand.number == nullptr) return load_eight(operand.array + pixel * operand.step + channel, to);
  const float number = *operand.number;
#pragma unroll
  for (int i = 0; i < 8; ++i) to[i] = number;
}

template <class Element, class Function>
__global__ void __launch_bounds__(kThreads) compute_pixels(const Elementwise<Element> step, const Function function) {
  const unsigned i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= step.count) return;
  const unsigned pixel = i / step.chunks, channel = i % step.chunks * 8;
  float x[2][8] = {};
#pragma unroll
  for (int operand = 0; operand < Function::kOperands; ++operand) {
    load_operand(step.operands[operand], pixel, channel, x[operand]);
  }
  float y[8];
#pragma unroll
  for (int j = 0; j < 8; ++j) y[j] = function(x[0][j], x[1][j]);
  store_eight(step.y + pixel * step.y_step + channel, y);
}

template <class Element>
Refusal refuses(const Step& step, const DeviceCaps&) {
  if (const Refusal refusal = refuse_unless_elementwise(step)) return refusal;
  return refuse_unless_last<Element>(step);
}

template <class Element, class Function>
void launch_function(const Args& args, const Function& function, Stream& stream) {
  const Step& step = args.step;
  Elementwise<Element> elementwise{.y = pixel_output<Element>(args),
                                   .y_step = output_pixel_step(step),
                                   .chunks = static_cast<unsigned>(step.outputs[0].shape[1] / kChannelLanes),
                                   .count = static_cast<unsigned>(chunks_in(step.outputs[0].shape))};
  if (elementwise.count == 0) return;
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    if (is_number(step, i)) {
      elementwise.operands[i].number = args.input(i);
    } else {
      elementwise.operands[i] = {pixel_input<Element>(args, i), input_pixel_step(step, i)};
    }
  }
  launch(compute_pixels<Element, Function>, {.grid = ceil_div(elementwise.count, kThreads), .block = kThreads},
         stream.native(), elementwise, function);
}

template <class Element>
void launch_activation(const Args& args, const Activation& activation, Stream& stream) {
  const auto with = [&]<ActivationKind kKind>() {
    launch_function<Element>(args, ActivationOf<Element, kKind>{activation.alpha, activation.beta}, stream);
  };
  switch (activation.kind) {
    case ActivationKind::none:
      return with.template operator()<ActivationKind::none>();
    case ActivationKind::relu:
      return with.template operator()<ActivationKind::relu>();
    case ActivationKind::leaky_relu:
      return with.template operator()<ActivationKind::leaky_relu>();
    case ActivationKind::clip:
      return with.template operator()<ActivationKind::clip>();
    case ActivationKind::sigmoid:
      return with.template operator()<ActivationKind::sigmoid>();
    case ActivationKind::tanh:
      return with.template operator()<ActivationKind::tanh>();
    case ActivationKind::swish:
      return with.template operator()<ActivationKind::swish>();
    case ActivationKind::hard_swish:
      return with.template operator()<ActivationKind::hard_swish>();
  }
}

template <class Element>
void launch_elementwise(const Args& args, Stream& stream) {
  const Op& op = args.step.op;
  if (const auto* activation = std::get_if<ActivationOp>(&op)) {
    return launch_activation<Element>(args, activation->activation, stream);
  }
  if (const auto* unary = std::get_if<UnaryOp>(&op)) {
    if (unary->kind == UnaryKind::hard_swish)
      return launch_activation<Element>(args, {ActivationKind::hard_swish}, stream);
    if (unary->kind == UnaryKind::swish && unary->alpha == 1) {
      return launch_activation<Element>(args, {ActivationKind::swish}, stream);
    }
    return launch_function<Element>(args, Unary{*unary}, stream);
  }
  if (const auto* binary = std::get_if<BinaryOp>(&op)) return launch_function<Element>(args, Binary{*binary}, stream);
  if (std::holds_alternative<AddOp>(op)) return launch_function<Element>(args, Sum{}, stream);
  launch_function<Element>(args, Product{}, stream);
}

template <class Element>
Kernel kernel(const char* name) {
  return {.info = {.name = name,
                   .device = kCompiledFor,
                   .family = Family::elementwise,
                   .math = kPixelMath<Element>,
                   .idea = "elementwise functions of nhwc images: a thread computes 8 channels of a pixel"},
          .refuses = refuses<Element>,
          .launch = launch_elementwise<Element>,
          .format = kPixelFormat<Element>};
}

const RegisterKernel of_halves(kernel<__half>("cuda.nhwc_elementwise"));
const RegisterKernel of_floats(kernel<float>("cuda.nhwc_elementwise_fp32"));

}  // namespace
}  // namespace convlab
