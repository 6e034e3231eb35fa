// Builds the cuDNN operation graph of a convolution step.

#include "convlab/kernels/libraries/cudnn_graph.h"

namespace convlab::cudnn {
namespace {

using Sizes = std::array<int64_t, 4>;  // n c h w

/// Returns the strides in elements. For nhwc, pixel_step is the elements from pixel to pixel; 0: dense.
Sizes strides_of(const Sizes& sizes, bool channels_last, int64_t pixel_step) {
  const auto [n, c, h, w] = sizes;
  if (!channels_last) return {c * h * w, h * w, w, 1};
  const int64_t step = pixel_step != 0 ? pixel_step : c;
  return {h * w * step, 1, w * step, step};
}

std::array<int64_t, 2> two(int64_t down, int64_t across) { return {down, across}; }

}  // namespace

ConvGraph::ConvGraph(const Library& library, cudnnHandle_t handle, const ConvStep& step, cudnnDataType_t bias,
                     int64_t alignment)
    : library_(library),
      channels_last_(step.input_format == kNhwcF16),
      y_sizes_{step.problem.n, step.problem.k, step.problem.p(), step.problem.q()},
      bias_(bias),
      alignment_(alignment),
      graph_(library, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR) {
  const ConvProblem& problem = step.problem;
  const cudnnDataType_t type = channels_last_ ? CUDNN_DATA_HALF : CUDNN_DATA_FLOAT;
  const bool activates = step.epilogue.activation.kind != ActivationKind::none;
  int left = (step.adds ? 1 : 0) + (step.epilogue.bias ? 1 : 0) + (activates ? 1 : 0);  // remaining operations
  const auto result = [&]() -> const Descriptor& {
    return left-- > 0 ? between() : array(Array::y, type, y_sizes_, step.output_step);
  };
  std::vector<cudnnBackendDescriptor_t> operations;

  Descriptor& convolve = part(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  const Descriptor* value = &result();
  convolve.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, convolution(problem));
  convolve.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
               array(Array::x, type, {problem.n, problem.c, problem.h, problem.w}, step.input_step));
  convolve.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
               array(Array::w, type, {problem.k, problem.channels_per_group(), problem.r, problem.s}, 0));
  convolve.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, *value);
  convolve.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1.0f);
  convolve.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0.0f);
  convolve.finalize();
  operations.push_back(convolve.pointer());

  const auto apply = [&](const Descriptor& function, const Descriptor* other) {
    Descriptor& operation = part(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, function);
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, *value);
    if (other != nullptr) operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *other);
    value = &result();
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, *value);
    operation.finalize();
    operations.push_back(operation.pointer());
  };
  // For this order the library has engines that need no compilation.
  if (step.adds) apply(addition(), &array(Array::added, type, y_sizes_, step.added_step));
  if (step.epilogue.bias) apply(addition(), &array(Array::bias, bias, {1, problem.k, 1, 1}, 0));
  if (activates) apply(activation(step.epilogue.activation), nullptr);

  graph_.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle);
  graph_.set_descriptors(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations);
  graph_.finalize();
}

Descriptor& ConvGraph::tensor(int64_t number, cudnnDataType_t type, const Sizes& sizes, const Sizes& strides) {
  Descriptor& tensor = part(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  tensor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, number);
  tensor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, type);
  tensor.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, alignment_);
  tensor.set(CUDNN_ATTR_TENSOR_DIMENSIONS, std::span<const int64_t>(sizes));
  tensor.set(CUDNN_ATTR_TENSOR_STRIDES, std::span<const int64_t>(strides));
  return tensor;
}

Descriptor& ConvGraph::array(Array array, cudnnDataType_t type, const Sizes& sizes, int64_t pixel_step) {
  Descriptor& result = tensor(static_cast<int64_t>(array), type, sizes, strides_of(sizes, channels_last_, pixel_step));
  result.finalize();
  arrays_.push_back(array);
  return result;
}

Descriptor& ConvGraph::between() {
  Descriptor& result = tensor(next_between_++, CUDNN_DATA_FLOAT, y_sizes_, strides_of(y_sizes_, channels_last_, 0));
  result.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, true);
  result.finalize();
  return result;
}

const Descriptor& ConvGraph::convolution(const ConvProblem& problem) {
  Descriptor& result = part(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  const auto set = [&](cudnnBackendAttributeName_t name, const std::array<int64_t, 2>& values) {
    result.set(name, std::span<const int64_t>(values));
  };
  result.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  result.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
  result.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, int64_t{2});
  set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, two(problem.pad_top, problem.pad_left));
  set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, two(problem.pad_bottom, problem.pad_right));
  set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, two(problem.stride_h, problem.stride_w));
  set(CUDNN_ATTR_CONVOLUTION_DILATIONS, two(problem.dilation_h, problem.dilation_w));
  result.finalize();
  return result;
}

const Descriptor& ConvGraph::addition() {
  Descriptor& result = part(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  result.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_ADD);
  result.set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT);
  result.finalize();
  return result;
}

const Descriptor& ConvGraph::activation(const Activation& activation) {
  Descriptor& result = part(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  result.set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT);
  const double alpha = activation.alpha, beta = activation.beta;
  switch (activation.kind) {
    case ActivationKind::sigmoid:
      result.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_SIGMOID_FWD);
      break;
    case ActivationKind::tanh:
      result.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_TANH_FWD);
      break;
    case ActivationKind::swish:
      result.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_SWISH_FWD);
      break;
    case ActivationKind::leaky_relu:
      result.set(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, alpha);
      [[fallthrough]];
    case ActivationKind::relu:
      result.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_RELU_FWD);
      result.set(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, CUDNN_PROPAGATE_NAN);
      break;
    case ActivationKind::clip:
      result.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_RELU_FWD);
      result.set(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, CUDNN_PROPAGATE_NAN);
      result.set(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, alpha);
      result.set(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, beta);
      break;
    case ActivationKind::none:
    case ActivationKind::hard_swish:
      throw unavailable("cuDNN does not support activation {}", to_text(activation));
  }
  result.finalize();
  return result;
}

}  // namespace convlab::cudnn
