// Computes the expected output of any operator.

#include "convlab/verify/ops/op_oracle.h"

#include "convlab/base/error.h"
#include "convlab/verify/ops/op_check.h"

namespace convlab {
namespace {

template <class Element>
std::vector<double> in_double(const Tensor& tensor) {
  const std::span<const Element> values = tensor.values<Element>();
  return {values.begin(), values.end()};
}

op_check::Array array_of(const Tensor& tensor) {
  switch (tensor.type()) {
    case ElementType::u8:
      return {tensor.shape(), in_double<uint8_t>(tensor)};
    case ElementType::i8:
      return {tensor.shape(), in_double<int8_t>(tensor)};
    default:
      return {tensor.shape(), in_double<float>(tensor)};
  }
}

}  // namespace

Expected expected_output(const Step& step, std::span<const Tensor> inputs) {
  if (step.epilogue.pool || step.epilogue.bias) throw bad_input("only an activation may be fused with an operator");
  op_check::Operands operands{step, {}};
  for (const Tensor& input : inputs) operands.arrays.push_back(array_of(input));
  const op_check::Values values = op_check::op_checks()[step.op].reference(step.op, operands);
  const Activation& activation = step.epilogue.activation;
  const bool product = arithmetic_of(step) == Arithmetic::product;
  Expected expected{.shape = step.outputs[0].shape, .value = {}, .scale = {}};
  for (const op_check::Bounded& each : values) {
    // The error of an activation after a matrix product is in its ErrorModel.
    const op_check::Bounded last =
        product ? op_check::Bounded{activate(activation, each.value), each.error} : activated(activation, each);
    expected.value.push_back(last.value);
    // An infinite value is exact.
    expected.scale.push_back(std::isfinite(last.value) && std::isfinite(last.error) ? static_cast<float>(last.error)
                                                                                    : 0);
  }
  if (std::ssize(expected.value) != element_count(expected.shape)) {
    throw bad_input("{} has {} outputs, but its step's shape is {}", name_of(step.op), expected.value.size(),
                    to_text(expected.shape));
  }
  return expected;
}

Expected as_images(Expected expected) {
  constexpr size_t kSizes = 4;
  Shape& shape = expected.shape;
  while (shape.size() < kSizes) shape.push_back(1);
  for (; shape.size() > kSizes; shape.pop_back()) shape[shape.size() - 2] *= shape.back();
  return expected;
}

}  // namespace convlab
