// Quantized operators.

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/base/error.h"
#include "convlab/model/op_info.h"
#include "convlab/model/op_rules.h"
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

/// Whether a scale or zero point may differ between images.
bool mixes_steps(const auto& op, const SplitOperands& inputs) {
  const bool one_step = std::ranges::all_of(inputs.begin() + 1, inputs.end(),
                                            [](const SplitOperand& input) { return element_count(input.shape) == 1; });
  return !(one_step && op.block_size == 0) && is_first(op.axis, inputs[0].shape);
}

/// The range of quantized values.
void add_range(OpFields& to, auto& op) {
  to.add("low", op.low);
  to.add("high", op.high);
}

std::vector<Shape> qlinear_conv_shapes(const Op& op, const LetterSizes& sizes) {
  const Shape maps = scalar_or(sizes.per_channel, sizes['k']);
  const Shape w = filters_of(std::get<QLinearConvOp>(op).conv, sizes);
  return with_bias({images_of(sizes), {}, {}, w, maps, maps, {}, {}}, sizes);
}
LetterSizes qlinear_conv_sizes(const Op&, std::span<const Shape> shapes) {
  LetterSizes sizes = conv_sizes_of(shapes, 3);
  sizes.per_channel = shapes.size() > 4 && !shapes[4].empty();
  sizes.bias = shapes.size() == 9;
  return sizes;
}
constexpr SizeLetters kQLinearConvLetters{kConvPattern, kConvExample,        true,
                                          true,         qlinear_conv_shapes, qlinear_conv_sizes};

std::vector<Shape> conv_integer_shapes(const Op& op, const LetterSizes& sizes) {
  const Shape w = filters_of(std::get<ConvIntegerOp>(op).conv, sizes);
  return {images_of(sizes), w, {}, scalar_or(sizes.per_channel, sizes['k'])};
}
LetterSizes conv_integer_sizes(const Op&, std::span<const Shape> shapes) {
  LetterSizes sizes = conv_sizes_of(shapes, 1);
  sizes.per_channel = shapes.size() > 3 && !shapes[3].empty();
  return sizes;
}
constexpr SizeLetters kConvIntegerLetters{kConvPattern, kConvExample,        false,
                                          true,         conv_integer_shapes, conv_integer_sizes};

std::vector<Shape> byte_conv_shapes(const Op& any, const LetterSizes& sizes) {
  const auto& op = std::get<ByteConvOp>(any);
  const Shape x = images_of(sizes), w = filters_of(op.conv, sizes), maps{sizes['k']};
  std::vector<Shape> shapes{x, w, maps, maps};
  if (op.adds) shapes.push_back(conv_problem(op.conv, x, w).output_shape());
  return shapes;
}
LetterSizes byte_conv_sizes(const Op&, std::span<const Shape> shapes) { return conv_sizes_of(shapes, 1); }
constexpr SizeLetters kByteConvLetters{kConvPattern, kConvExample, false, false, byte_conv_shapes, byte_conv_sizes};

std::vector<Shape> qlinear_matmul_shapes(const Op&, const LetterSizes& sizes) {
  const Shape columns = scalar_or(sizes.per_channel, sizes['n']);
  return {left_matrix(sizes), {}, {}, right_matrix(sizes), columns, columns, {}, {}};
}
LetterSizes qlinear_matmul_sizes(const Op&, std::span<const Shape> shapes) {
  LetterSizes sizes = product_sizes(shapes, 0, 3);
  sizes.per_channel = shapes.size() > 4 && !shapes[4].empty();
  return sizes;
}
constexpr SizeLetters kQLinearMatMulLetters{kProductPattern,       kProductExample,     false, true,
                                            qlinear_matmul_shapes, qlinear_matmul_sizes};

std::vector<Shape> matmul_integer_shapes(const Op&, const LetterSizes& sizes) {
  return {left_matrix(sizes), right_matrix(sizes), {}, scalar_or(sizes.per_channel, sizes['n'])};
}
LetterSizes matmul_integer_sizes(const Op&, std::span<const Shape> shapes) {
  LetterSizes sizes = product_sizes(shapes, 0, 1);
  sizes.per_channel = shapes.size() > 3 && !shapes[3].empty();
  return sizes;
}
constexpr SizeLetters kMatMulIntegerLetters{kProductPattern,       kProductExample,     false, true,
                                            matmul_integer_shapes, matmul_integer_sizes};

}  // namespace

template <>
struct OpInfo<QuantizeOp> {
  static const char* name(const QuantizeOp&) { return "QuantizeLinear"; }
  static constexpr Arity kInputs{2, 3};
  static constexpr auto usually_constant = kAllButFirst;
  static Shape shape(const QuantizeOp& op, Shapes inputs) {
    check_quantized_range(op.low, op.high);
    check_steps("the scale", inputs[1], inputs[0], op.axis, op.block_size);
    if (inputs.size() > 2) check_steps("the zero point", inputs[2], inputs[0], op.axis, op.block_size);
    return inputs[0];
  }
  static bool mixes_images(const QuantizeOp& op, const SplitOperands& inputs) { return mixes_steps(op, inputs); }
  static void fields(OpFields& to, QuantizeOp& op) {
    to.add("axis", op.axis);
    to.add("block", op.block_size);
    add_range(to, op);
  }
  static std::vector<NamedOp> names() { return {{"quantizelinear", QuantizeOp{}}}; }
};

template <>
struct OpInfo<DequantizeOp> {
  static const char* name(const DequantizeOp&) { return "DequantizeLinear"; }
  static constexpr Arity kInputs{2, 3};
  static constexpr auto usually_constant = kAllButFirst;
  static Shape shape(const DequantizeOp& op, Shapes inputs) {
    check_steps("the scale", inputs[1], inputs[0], op.axis, op.block_size);
    if (inputs.size() > 2) check_steps("the zero point", inputs[2], inputs[0], op.axis, op.block_size);
    return inputs[0];
  }
  static bool mixes_images(const DequantizeOp& op, const SplitOperands& inputs) { return mixes_steps(op, inputs); }
  static void fields(OpFields& to, DequantizeOp& op) {
    to.add("axis", op.axis);
    to.add("block", op.block_size);
  }
  static std::vector<NamedOp> names() { return {{"dequantizelinear", DequantizeOp{}}}; }
};

template <>
struct OpInfo<QLinearConvOp> {
  static const char* name(const QLinearConvOp&) { return "QLinearConv"; }
  static constexpr Arity kInputs{8, 9};
  static constexpr auto usually_constant = kAllButFirst;
  static Shape shape(const QLinearConvOp& op, Shapes inputs) {
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
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, QLinearConvOp& op) {
    to.add_conv(op.conv);
    add_range(to, op);
  }
  static std::vector<NamedOp> names() { return {{"qlinearconv", QLinearConvOp{}, &kQLinearConvLetters}}; }
};

template <>
struct OpInfo<ConvIntegerOp> {
  static const char* name(const ConvIntegerOp&) { return "ConvInteger"; }
  static constexpr Arity kInputs{2, 4};
  static bool usually_constant(const ConvIntegerOp&, Shapes, size_t input) {
    return input == 1 || input == 3;  // the zero point of x is computed from x
  }
  static Shape shape(const ConvIntegerOp& op, Shapes inputs) {
    const ConvProblem problem = conv_problem(op.conv, inputs[0], inputs[1]);
    if (inputs.size() > 2) check_single("x_zero_point", inputs[2]);
    if (inputs.size() > 3) check_output_channels("w_zero_point", inputs[3], problem.k);
    return problem.output_shape();
  }
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, ConvIntegerOp& op) { to.add_conv(op.conv); }
  static std::vector<NamedOp> names() { return {{"convinteger", ConvIntegerOp{}, &kConvIntegerLetters}}; }
};

template <>
struct OpInfo<QLinearMatMulOp> {
  static const char* name(const QLinearMatMulOp&) { return "QLinearMatMul"; }
  static constexpr Arity kInputs{8, 8};
  static bool usually_constant(const QLinearMatMulOp&, Shapes inputs, size_t input) {
    return input == 3 ? inputs[3].size() <= 2 : input > 0;
  }
  static Shape shape(const QLinearMatMulOp& op, Shapes inputs) {
    check_quantized_range(op.low, op.high);
    const Shape &a = inputs[0], &b = inputs[3];
    const Shape operands[] = {a, b};
    Shape y = output_shape(MatMulOp{}, operands);
    check_lines("a_scale", inputs[1], rows_of(a), 2);
    check_lines("a_zero_point", inputs[2], rows_of(a), 2);
    check_lines("b_scale", inputs[4], columns_of(b), 1);
    check_lines("b_zero_point", inputs[5], columns_of(b), 1);
    check_single("y_scale", inputs[6]);
    check_single("y_zero_point", inputs[7]);
    return y;
  }
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, QLinearMatMulOp& op) { add_range(to, op); }
  static std::vector<NamedOp> names() { return {{"qlinearmatmul", QLinearMatMulOp{}, &kQLinearMatMulLetters}}; }
};

template <>
struct OpInfo<MatMulIntegerOp> {
  static const char* name(const MatMulIntegerOp&) { return "MatMulInteger"; }
  static constexpr Arity kInputs{2, 4};
  static bool usually_constant(const MatMulIntegerOp&, Shapes inputs, size_t input) {
    return (input == 1 || input == 3) && inputs[1].size() <= 2;
  }
  static Shape shape(const MatMulIntegerOp&, Shapes inputs) {
    Shape y = output_shape(MatMulOp{}, inputs.first(2));
    if (inputs.size() > 2) check_lines("a_zero_point", inputs[2], rows_of(inputs[0]), 2);
    if (inputs.size() > 3) check_lines("b_zero_point", inputs[3], columns_of(inputs[1]), 1);
    return y;
  }
  static constexpr auto mixes_images = kNever;
  static std::vector<NamedOp> names() { return {{"matmulinteger", MatMulIntegerOp{}, &kMatMulIntegerLetters}}; }
};

template <>
struct OpInfo<ByteAddOp> {
  static const char* name(const ByteAddOp&) { return "QLinearAdd"; }
  static constexpr Arity kInputs{2, 2};
  static constexpr auto usually_constant = kNone;
  static Shape shape(const ByteAddOp& op, Shapes inputs) {
    check_bytes(op);
    if (inputs[0] != inputs[1])
      throw bad_input("inputs must have the same shape, got {} and {}", to_text(inputs[0]), to_text(inputs[1]));
    return inputs[0];
  }
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, ByteAddOp& op) {
    to.add("afactor", op.a_factor);
    to.add("bfactor", op.b_factor);
    to.add("azero", op.a_zero);
    to.add("bzero", op.b_zero);
    to.add("zero", op.zero);
    add_range(to, op);
  }
  static std::vector<NamedOp> names() { return {{"byteadd", ByteAddOp{}, nullptr, true}}; }
};

template <>
struct OpInfo<ByteConvOp> {
  static const char* name(const ByteConvOp& op) { return op.adds ? "QLinearConv+add" : "QLinearConv"; }
  static constexpr Arity kInputs{4, 5};
  static bool usually_constant(const ByteConvOp&, Shapes, size_t input) { return input > 0 && input < 4; }
  static Shape shape(const ByteConvOp& op, Shapes inputs) {
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
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, ByteConvOp& op) {
    to.add_conv(op.conv);
    to.add("xzero", op.x_zero);
    to.add("zero", op.zero);
    add_range(to, op);
    to.add_flag("adds", op.adds);
    OpFields sum;
    OpInfo<ByteAddOp>::fields(sum, op.sum);
    for (OpField& each : sum.all) {
      each.name = "sum" + each.name;
      to.all.push_back(std::move(each));
    }
  }
  static std::vector<NamedOp> names() { return {{"byteconv", ByteConvOp{}, &kByteConvLetters, true}}; }
};

template <>
struct OpInfo<ByteMeanOp> {
  static const char* name(const ByteMeanOp&) { return "QLinearGlobalAveragePool"; }
  static constexpr Arity kInputs{1, 1};
  static Shape shape(const ByteMeanOp& op, Shapes inputs) {
    check_bytes(op.low, op.high, {op.x_zero, op.zero});
    return output_shape(GlobalAveragePoolOp{}, inputs);
  }
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, ByteMeanOp& op) {
    to.add("factor", op.factor);
    to.add("xzero", op.x_zero);
    to.add("zero", op.zero);
    add_range(to, op);
  }
  static std::vector<NamedOp> names() { return {{"bytemean", ByteMeanOp{}, &kImageLetters, true}}; }
};

template <>
struct OpInfo<ByteConcatOp> {
  static const char* name(const ByteConcatOp&) { return "QLinearConcat"; }
  static constexpr Arity kInputs{1, SIZE_MAX};
  static constexpr auto usually_constant = kNone;
  static Shape shape(const ByteConcatOp& op, Shapes inputs) {
    check_bytes(op.low, op.high, {op.zero});
    for (const ByteConcatOp::Part& each : op.parts) check_bytes(op.low, op.high, {each.zero});
    if (op.parts.size() != inputs.size())
      throw bad_input("wrong number of inputs: expected {}, got {}", op.parts.size(), inputs.size());
    return output_shape(ConcatOp{.axis = 1}, inputs);
  }
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, ByteConcatOp& op) {
    std::vector<std::string> texts;
    for (const ByteConcatOp::Part& each : op.parts)
      texts.push_back(fmt::format("{}x{}", text_of(each.scale), each.zero));
    to.all.push_back(
        {.name = "parts",
         .value = fmt::format("{}", fmt::join(texts, "x")),
         .syntax = "XxNxXxN",
         .read = [&](TextReader& reader) {
           using Limits = std::numeric_limits<int>;
           op.parts.clear();
           do {
             const float scale = reader.real();
             reader.expect("x");
             op.parts.push_back({scale, static_cast<int>(reader.number("zero", Limits::min(), Limits::max()))});
           } while (reader.accept("x"));
         }});
    to.add("scale", op.scale);
    to.add("zero", op.zero);
    add_range(to, op);
  }
  static std::vector<NamedOp> names() { return {{"byteconcat", ByteConcatOp{}, nullptr, true}}; }
};

template <>
std::vector<OpEntry> OpEntry::rows<QuantizedOps>() {
  return rows_of<OpEntry>(QuantizedOps());
}

}  // namespace convlab
