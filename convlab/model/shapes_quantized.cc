// Shape inference for quantized operators.

#include "convlab/base/checked.h"
#include "convlab/base/error.h"
#include "convlab/model/shape_rules.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

void check_single(const char* name, const Shape& shape) {
  if (!is_single(shape)) throw bad_input("{} must have one element, got shape {}", name, to_text(shape));
}

void check_quantized_range(int low, int high) {
  if (low > high) throw bad_input("quantized range from {} to {} is empty", low, high);
}

/// Checks a range and zero points of 8 bits. Values of int8 are below 0 until all of them are shifted.
void check_bytes(int low, int high, std::initializer_list<int> zeros) {
  check_quantized_range(low, high);
  const auto check = [](int value) {
    if (value < -128 || value > 255) throw bad_input("quantized values must have 8 bits, got {}", value);
  };
  for (const int each : {low, high}) check(each);
  for (const int each : zeros) check(each);
}

void check_bytes(const ByteAddOp& op) { check_bytes(op.low, op.high, {op.a_zero, op.b_zero, op.zero}); }

/// Checks a scale or zero point of a whole array, of each index along an axis, or of blocks along it.
void check_steps(const char* name, const Shape& shape, const Shape& x, int64_t axis, int64_t block_size) {
  if (block_size == 0 && is_single(shape)) return;
  const auto along = static_cast<size_t>(normalized_axis(axis, std::ssize(x)));
  check_range("the block size", block_size, 0);
  if (block_size == 0) return check_vector(name, shape, x[along]);
  Shape wanted = x;
  wanted[along] = ceil_div(x[along], block_size);
  if (shape != wanted) {
    throw bad_input("{} must have shape {} (blocks of {} along axis {} of {}), got {}", name, to_text(wanted),
                    block_size, along, to_text(x), to_text(shape));
  }
}

/// Checks a scale or zero point of a whole matrix, or of each of `count` rows or columns, which are counted along the
/// dimension `from_back` from the end.
void check_lines(const char* name, const Shape& shape, int64_t count, size_t from_back) {
  if (is_single(shape) || shape == Shape{count}) return;
  const bool fits = shape.size() >= from_back && shape[shape.size() - from_back] == count;
  if (!fits || element_count(shape) != count) {
    throw bad_input("{} must have 1 or {} elements, got shape {}", name, count, to_text(shape));
  }
}

int64_t rows_of(const Shape& a) { return a.size() < 2 ? 1 : a[a.size() - 2]; }
int64_t columns_of(const Shape& b) { return b.size() < 2 ? 1 : b.back(); }

/// Checks the scale or zero point of filters: one for all, or one per output channel.
void check_output_channels(const char* name, const Shape& shape, int64_t maps) {
  if (!is_single(shape)) check_vector(name, shape, maps);
}

}  // namespace

Shape shape_of(const QuantizeOp& op, Shapes inputs) {
  check_quantized_range(op.low, op.high);
  check_steps("the scale", inputs[1], inputs[0], op.axis, op.block_size);
  if (inputs.size() > 2) check_steps("the zero point", inputs[2], inputs[0], op.axis, op.block_size);
  return inputs[0];
}

Shape shape_of(const DequantizeOp& op, Shapes inputs) {
  check_steps("the scale", inputs[1], inputs[0], op.axis, op.block_size);
  if (inputs.size() > 2) check_steps("the zero point", inputs[2], inputs[0], op.axis, op.block_size);
  return inputs[0];
}

Shape shape_of(const QLinearConvOp& op, Shapes inputs) {
  check_quantized_range(op.low, op.high);
  const ConvProblem problem = conv_problem(op.conv, inputs[0], inputs[3]);
  check_single("x_scale", inputs[1]);
  check_single("x_zero_point", inputs[2]);
  check_output_channels("w_scale", inputs[4], problem.k);
  check_output_channels("w_zero_point", inputs[5], problem.k);
  check_single("y_scale", inputs[6]);
  check_single("y_zero_point", inputs[7]);
  if (inputs.size() > 8) check_vector("the bias", inputs[8], problem.k);
  return problem.output_shape();
}

Shape shape_of(const ConvIntegerOp& op, Shapes inputs) {
  const ConvProblem problem = conv_problem(op.conv, inputs[0], inputs[1]);
  if (inputs.size() > 2) check_single("x_zero_point", inputs[2]);
  if (inputs.size() > 3) check_output_channels("w_zero_point", inputs[3], problem.k);
  return problem.output_shape();
}

Shape shape_of(const QLinearMatMulOp& op, Shapes inputs) {
  check_quantized_range(op.low, op.high);
  const Shape &a = inputs[0], &b = inputs[3];
  const Shape operands[] = {a, b};
  Shape y = shape_of(MatMulOp{}, operands);
  check_lines("a_scale", inputs[1], rows_of(a), 2);
  check_lines("a_zero_point", inputs[2], rows_of(a), 2);
  check_lines("b_scale", inputs[4], columns_of(b), 1);
  check_lines("b_zero_point", inputs[5], columns_of(b), 1);
  check_single("y_scale", inputs[6]);
  check_single("y_zero_point", inputs[7]);
  return y;
}

Shape shape_of(const MatMulIntegerOp&, Shapes inputs) {
  Shape y = shape_of(MatMulOp{}, inputs.first(2));
  if (inputs.size() > 2) check_lines("a_zero_point", inputs[2], rows_of(inputs[0]), 2);
  if (inputs.size() > 3) check_lines("b_zero_point", inputs[3], columns_of(inputs[1]), 1);
  return y;
}

Shape shape_of(const ByteAddOp& op, Shapes inputs) {
  check_bytes(op);
  if (inputs[0] != inputs[1])
    throw bad_input("inputs must have the same shape, got {} and {}", to_text(inputs[0]), to_text(inputs[1]));
  return inputs[0];
}

Shape shape_of(const ByteConvOp& op, Shapes inputs) {
  check_bytes(op.low, op.high, {op.x_zero, op.zero});
  check_bytes(op.sum);
  const ConvProblem problem = conv_problem(op.conv, inputs[0], inputs[1]);
  check_vector("the factors", inputs[2], problem.k);
  check_vector("the bias", inputs[3], problem.k);
  if ((inputs.size() > 4) != op.adds)
    throw bad_input("wrong number of inputs: expected {}, got {}", op.adds ? 5 : 4, inputs.size());
  Shape y = problem.output_shape();
  if (op.adds && inputs[4] != y)
    throw bad_input("the addend must have shape {}, got {}", to_text(y), to_text(inputs[4]));
  return y;
}

Shape shape_of(const ByteMeanOp& op, Shapes inputs) {
  check_bytes(op.low, op.high, {op.x_zero, op.zero});
  return shape_of(GlobalAveragePoolOp{}, inputs);
}

Shape shape_of(const ByteConcatOp& op, Shapes inputs) {
  check_bytes(op.low, op.high, {op.zero});
  for (const ByteConcatOp::Part& each : op.parts) check_bytes(op.low, op.high, {each.zero});
  if (op.parts.size() != inputs.size())
    throw bad_input("wrong number of inputs: expected {}, got {}", op.parts.size(), inputs.size());
  return shape_of(ConcatOp{.axis = 1}, inputs);
}

}  // namespace convlab
