// Evaluates rearrangements and dequantization of constants.

#include "convlab/model/onnx/reading/constant_folding.h"

#include <cstring>

#include "convlab/base/error.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

Tensor transposed(const Tensor& x, const std::vector<int64_t>& permutation, const Shape& shape) {
  const size_t rank = shape.size(), size = size_of(x.type());
  // Strides in x, in elements, along each axis of the result.
  std::vector<int64_t> x_stride(rank, 1), stride(rank);
  for (size_t i = rank; i-- > 1;) x_stride[i - 1] = x_stride[i] * x.shape()[i];
  for (size_t i = 0; i < rank; ++i) {
    stride[i] = x_stride[permutation.empty() ? rank - 1 - i : static_cast<size_t>(permutation[i])];
  }
  Tensor y(x.type(), shape);
  const char* from = static_cast<const char*>(x.raw());
  char* to = static_cast<char*>(y.raw());
  std::vector<int64_t> index(rank);
  int64_t offset = 0;
  for (int64_t i = 0; i < y.count(); ++i, to += size) {
    std::memcpy(to, from + static_cast<size_t>(offset) * size, size);
    for (size_t axis = rank; axis-- > 0;) {
      offset += stride[axis];
      if (++index[axis] < shape[axis]) break;
      offset -= stride[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return y;
}

Tensor concatenated(Constants inputs, int64_t axis, const Shape& shape) {
  const int64_t rank = std::ssize(shape);
  const int64_t at = normalized_axis(axis, rank);
  const int64_t blocks = element_count({shape.begin(), shape.begin() + at});
  Tensor y(inputs[0].get().type(), shape);
  std::erase_if(inputs, [](const Tensor& x) { return x.count() == 0; });  // otherwise each block would visit them
  char* to = static_cast<char*>(y.raw());
  for (int64_t block = 0; block < blocks; ++block) {
    for (const Tensor& x : inputs) {
      const size_t bytes = x.bytes() / static_cast<size_t>(blocks);
      std::memcpy(to, static_cast<const char*>(x.raw()) + static_cast<size_t>(block) * bytes, bytes);
      to += bytes;
    }
  }
  return y;
}

}  // namespace

std::optional<Shape> rearranged_shape(const Op& op, const Constants& inputs) {
  const bool rearranges = std::holds_alternative<ReshapeOp>(op) || std::holds_alternative<FlattenOp>(op) ||
                          std::holds_alternative<SqueezeOp>(op) || std::holds_alternative<UnsqueezeOp>(op) ||
                          std::holds_alternative<TransposeOp>(op) || std::holds_alternative<ConcatOp>(op);
  if (!rearranges) return std::nullopt;

  std::vector<Shape> shapes;
  for (const Tensor& input : inputs) {
    if (input.type() != inputs[0].get().type()) {
      throw bad_input("input types must match, got {} and {}", name_of(inputs[0].get().type()), name_of(input.type()));
    }
    shapes.push_back(input.shape());
  }
  return output_shape(op, shapes);
}

WholeConstant whole_constant(const DequantizeOp& op, const Constants& inputs) {
  const Tensor scales = converted(inputs[1], ElementType::f32);
  const auto count = static_cast<size_t>(scales.count());
  WholeConstant constant{inputs[0].get().clone(), {}, std::vector<int64_t>(count, 0)};
  constant.scales.assign(scales.values<float>().begin(), scales.values<float>().end());
  if (inputs.size() > 2) {
    const Tensor zeros = converted(inputs[2], ElementType::i64);
    if (zeros.count() != scales.count()) {
      throw bad_input("the number of zero points ({}) must match the number of scales ({})", zeros.count(),
                      scales.count());
    }
    constant.zeros.assign(zeros.values<int64_t>().begin(), zeros.values<int64_t>().end());
  }
  if (count == 1) return constant;
  const Shape& shape = constant.whole.shape();
  constant.axis = normalized_axis(op.axis, std::ssize(shape));
  const int64_t along = shape[static_cast<size_t>(constant.axis)];
  if (scales.count() != along)
    throw bad_input("the number of scales ({}) must match the size of the axis ({})", scales.count(), along);
  return constant;
}

Tensor dequantized(const WholeConstant& constant) {
  const Tensor whole = converted(constant.whole, ElementType::i64);
  const Shape& shape = whole.shape();
  const size_t along = constant.scales.size();
  const auto inner =
      static_cast<size_t>(along == 1 ? 1 : element_count({shape.begin() + constant.axis + 1, shape.end()}));
  Tensor y(ElementType::f32, shape);
  const std::span<float> values = y.values<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t which = i / inner % along;
    values[i] = static_cast<float>(whole.values<int64_t>()[i] - constant.zeros[which]) * constant.scales[which];
  }
  return y;
}

Tensor rearranged(const Op& op, const Constants& inputs, const Shape& shape) {
  if (const auto* transpose = std::get_if<TransposeOp>(&op))
    return transposed(inputs[0], transpose->permutation, shape);
  if (const auto* concat = std::get_if<ConcatOp>(&op)) return concatenated(inputs, concat->axis, shape);
  return inputs[0].get().clone().reshaped(shape);
}

}  // namespace convlab
