// The short forms of operands in problem texts: which shapes a size for each letter stands for.

#include "convlab/kernels/size_letters.h"

#include <algorithm>
#include <cctype>

#include "convlab/model/shape_rules.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

/// Returns a dimension's size, 1 if there is none.
int64_t size_at(std::span<const Shape> shapes, size_t operand, size_t dimension) {
  const bool exists = operand < shapes.size() && dimension < shapes[operand].size();
  return exists ? shapes[operand][dimension] : 1;
}

/// Returns the sizes with letters set to the dimensions of an operand: "nchw".
LetterSizes sizes_of(std::span<const Shape> shapes, size_t operand, std::string_view letters) {
  LetterSizes sizes;
  for (size_t i = 0; i < letters.size(); ++i) sizes[letters[i]] = size_at(shapes, operand, i);
  return sizes;
}

Shape images_of(const LetterSizes& sizes) { return {sizes['n'], sizes['c'], sizes['h'], sizes['w']}; }

LetterSizes image_sizes(const Op&, std::span<const Shape> shapes) { return sizes_of(shapes, 0, "nchw"); }

Shape scalar_or(bool vector, int64_t count) { return vector ? Shape{count} : Shape{}; }

// Matrix products.

Shape matrix(int64_t batch, int64_t rows, int64_t columns) {
  return batch == 1 ? Shape{rows, columns} : Shape{batch, rows, columns};
}
Shape left_matrix(const LetterSizes& sizes) { return matrix(sizes['b'], sizes['m'], sizes['k']); }
Shape right_matrix(const LetterSizes& sizes) { return matrix(sizes['b'], sizes['k'], sizes['n']); }

LetterSizes product_sizes(std::span<const Shape> shapes, size_t left, size_t right) {
  const bool batched = left < shapes.size() && shapes[left].size() == 3;
  LetterSizes sizes = sizes_of(shapes, left, batched ? "bmk" : "mk");
  sizes['n'] = size_at(shapes, right, batched ? 2 : 1);
  return sizes;
}

std::vector<Shape> matmul_shapes(const Op&, const LetterSizes& sizes) {
  return {left_matrix(sizes), right_matrix(sizes)};
}
LetterSizes matmul_sizes(const Op&, std::span<const Shape> shapes) { return product_sizes(shapes, 0, 1); }

std::vector<Shape> gemm_shapes(const Op& any, const LetterSizes& sizes) {
  const auto& op = std::get<GemmOp>(any);
  std::vector<Shape> shapes{left_matrix(sizes), right_matrix(sizes)};
  if (op.transpose_a) std::swap(shapes[0][0], shapes[0][1]);
  if (op.transpose_b) std::swap(shapes[1][0], shapes[1][1]);
  if (sizes.bias) shapes.push_back({sizes['n']});
  return shapes;
}
LetterSizes gemm_sizes(const Op& any, std::span<const Shape> shapes) {
  const auto& op = std::get<GemmOp>(any);
  LetterSizes sizes = sizes_of(shapes, 0, op.transpose_a ? "km" : "mk");
  sizes['n'] = size_at(shapes, 1, op.transpose_b ? 0 : 1);
  sizes.bias = shapes.size() == 3;
  return sizes;
}

std::vector<Shape> qlinear_matmul_shapes(const Op&, const LetterSizes& sizes) {
  const Shape columns = scalar_or(sizes.per_channel, sizes['n']);
  return {left_matrix(sizes), {}, {}, right_matrix(sizes), columns, columns, {}, {}};
}
LetterSizes qlinear_matmul_sizes(const Op&, std::span<const Shape> shapes) {
  LetterSizes sizes = product_sizes(shapes, 0, 3);
  sizes.per_channel = shapes.size() > 4 && !shapes[4].empty();
  return sizes;
}

std::vector<Shape> matmul_integer_shapes(const Op&, const LetterSizes& sizes) {
  return {left_matrix(sizes), right_matrix(sizes), {}, scalar_or(sizes.per_channel, sizes['n'])};
}
LetterSizes matmul_integer_sizes(const Op&, std::span<const Shape> shapes) {
  LetterSizes sizes = product_sizes(shapes, 0, 1);
  sizes.per_channel = shapes.size() > 3 && !shapes[3].empty();
  return sizes;
}

// Convolutions. The number of groups may still be invalid.

int64_t per_group(int64_t channels, int64_t groups) { return groups > 0 ? channels / groups : channels; }

Shape filters(const ConvOp& op, const LetterSizes& sizes) {
  return {sizes['k'], per_group(sizes['c'], op.groups), sizes['r'], sizes['s']};
}

LetterSizes conv_sizes_of(std::span<const Shape> shapes, size_t filter_operand) {
  LetterSizes sizes = sizes_of(shapes, 0, "nchw");
  sizes['k'] = size_at(shapes, filter_operand, 0);
  sizes['r'] = size_at(shapes, filter_operand, 2);
  sizes['s'] = size_at(shapes, filter_operand, 3);
  return sizes;
}

std::vector<Shape> with_bias(std::vector<Shape> shapes, const LetterSizes& sizes) {
  if (sizes.bias) shapes.push_back({sizes['k']});
  return shapes;
}

std::vector<Shape> conv_shapes(const Op& op, const LetterSizes& sizes) {
  return with_bias({images_of(sizes), filters(std::get<ConvOp>(op), sizes)}, sizes);
}
LetterSizes conv_sizes(const Op&, std::span<const Shape> shapes) {
  LetterSizes sizes = conv_sizes_of(shapes, 1);
  sizes.bias = shapes.size() == 3;
  return sizes;
}

std::vector<Shape> conv_transpose_shapes(const Op& op, const LetterSizes& sizes) {
  const int64_t maps = per_group(sizes['k'], std::get<ConvTransposeOp>(op).groups);
  return with_bias({images_of(sizes), {sizes['c'], maps, sizes['r'], sizes['s']}}, sizes);
}
LetterSizes conv_transpose_sizes(const Op& op, std::span<const Shape> shapes) {
  LetterSizes sizes = conv_sizes(op, shapes);
  const int64_t groups = std::get<ConvTransposeOp>(op).groups;
  if (__builtin_mul_overflow(size_at(shapes, 1, 1), groups, &sizes['k'])) sizes['k'] = 0;
  return sizes;
}

std::vector<Shape> qlinear_conv_shapes(const Op& op, const LetterSizes& sizes) {
  const Shape maps = scalar_or(sizes.per_channel, sizes['k']);
  const Shape w = filters(std::get<QLinearConvOp>(op).conv, sizes);
  return with_bias({images_of(sizes), {}, {}, w, maps, maps, {}, {}}, sizes);
}
LetterSizes qlinear_conv_sizes(const Op&, std::span<const Shape> shapes) {
  LetterSizes sizes = conv_sizes_of(shapes, 3);
  sizes.per_channel = shapes.size() > 4 && !shapes[4].empty();
  sizes.bias = shapes.size() == 9;
  return sizes;
}

std::vector<Shape> conv_integer_shapes(const Op& op, const LetterSizes& sizes) {
  const Shape w = filters(std::get<ConvIntegerOp>(op).conv, sizes);
  return {images_of(sizes), w, {}, scalar_or(sizes.per_channel, sizes['k'])};
}
LetterSizes conv_integer_sizes(const Op&, std::span<const Shape> shapes) {
  LetterSizes sizes = conv_sizes_of(shapes, 1);
  sizes.per_channel = shapes.size() > 3 && !shapes[3].empty();
  return sizes;
}

std::vector<Shape> byte_conv_shapes(const Op& any, const LetterSizes& sizes) {
  const auto& op = std::get<ByteConvOp>(any);
  const Shape x = images_of(sizes), w = filters(op.conv, sizes), maps{sizes['k']};
  std::vector<Shape> shapes{x, w, maps, maps};
  if (op.adds) shapes.push_back(conv_problem(op.conv, x, w).output_shape());
  return shapes;
}
LetterSizes byte_conv_sizes(const Op&, std::span<const Shape> shapes) { return conv_sizes_of(shapes, 1); }

// Rows.

std::vector<Shape> row_shapes(const Op&, const LetterSizes& sizes) { return {{sizes['r'], sizes['c']}}; }

std::vector<Shape> normalized_row_shapes(const Op& op, const LetterSizes& sizes) {
  const Shape columns{sizes['c']};
  if (!std::get<NormalizeOp>(op).center) return {{sizes['r'], sizes['c']}, columns};
  return {{sizes['r'], sizes['c']}, columns, columns};
}

LetterSizes row_sizes(const Op&, std::span<const Shape> shapes) { return sizes_of(shapes, 0, "rc"); }

// Images.

std::vector<Shape> image_shapes(const Op&, const LetterSizes& sizes) { return {images_of(sizes)}; }

std::vector<Shape> two_image_shapes(const Op&, const LetterSizes& sizes) {
  return {images_of(sizes), images_of(sizes)};
}

std::vector<Shape> batch_norm_shapes(const Op&, const LetterSizes& sizes) {
  const Shape channels{sizes['c']};
  return {images_of(sizes), channels, channels, channels, channels};
}

std::vector<Shape> group_norm_shapes(const Op&, const LetterSizes& sizes) {
  const Shape channels{sizes['c']};
  return {images_of(sizes), channels, channels};
}

std::vector<Shape> squeeze_excite_shapes(const Op&, const LetterSizes& sizes) {
  const int64_t c = sizes['c'], m = sizes['m'];
  return {images_of(sizes), {m, c, 1, 1}, {m}, {c, m, 1, 1}, {c}};
}
LetterSizes squeeze_excite_sizes(const Op&, std::span<const Shape> shapes) {
  LetterSizes sizes = sizes_of(shapes, 0, "nchw");
  sizes['m'] = size_at(shapes, 1, 0);
  return sizes;
}

constexpr std::string_view kProductPattern = "[b]mnk", kProductExample = "m512n512k512";
constexpr std::string_view kConvPattern = "[n]_chw_krs", kConvExample = "n2_c12h33w33_k24r5s5";
constexpr std::string_view kImagePattern = "[n]_chw", kImageExample = "n2_c8h32w32";

}  // namespace

const SizeLetters kMatMulLetters{kProductPattern, kProductExample, false, false, matmul_shapes, matmul_sizes};
const SizeLetters kGemmLetters{"mnk", kProductExample, true, false, gemm_shapes, gemm_sizes};
const SizeLetters kQLinearMatMulLetters{kProductPattern,       kProductExample,     false, true,
                                        qlinear_matmul_shapes, qlinear_matmul_sizes};
const SizeLetters kMatMulIntegerLetters{kProductPattern,       kProductExample,     false, true,
                                        matmul_integer_shapes, matmul_integer_sizes};
const SizeLetters kConvLetters{kConvPattern, kConvExample, true, false, conv_shapes, conv_sizes};
const SizeLetters kConvTransposeLetters{kConvPattern, kConvExample,          true,
                                        false,        conv_transpose_shapes, conv_transpose_sizes};
const SizeLetters kQLinearConvLetters{kConvPattern, kConvExample, true, true, qlinear_conv_shapes, qlinear_conv_sizes};
const SizeLetters kConvIntegerLetters{kConvPattern, kConvExample, false, true, conv_integer_shapes, conv_integer_sizes};
const SizeLetters kByteConvLetters{kConvPattern, kConvExample, false, false, byte_conv_shapes, byte_conv_sizes};
const SizeLetters kRowLetters{"rc", "r64c1024", false, false, row_shapes, row_sizes};
const SizeLetters kNormalizedRowLetters{"rc", "r64c768", false, false, normalized_row_shapes, row_sizes};
const SizeLetters kImageLetters{kImagePattern, kImageExample, false, false, image_shapes, image_sizes};
const SizeLetters kTwoImagesLetters{kImagePattern, kImageExample, false, false, two_image_shapes, image_sizes};
const SizeLetters kBatchNormLetters{kImagePattern, kImageExample, false, false, batch_norm_shapes, image_sizes};
const SizeLetters kGroupNormLetters{kImagePattern, kImageExample, false, false, group_norm_shapes, image_sizes};
const SizeLetters kSqueezeExciteLetters{"[n]_chw_m", "n2_c64h7w7_m16",      false,
                                        false,       squeeze_excite_shapes, squeeze_excite_sizes};

LetterSizes read_sizes(TextReader& reader, const SizeLetters& letters) {
  LetterSizes sizes;
  const auto size = [&](char letter) { sizes[letter] = reader.number({&letter, 1}, 1, kMostSize); };
  std::string_view pattern = letters.pattern;
  while (!pattern.empty()) {
    const char next = pattern.front();
    pattern.remove_prefix(1);
    if (next == '[') {
      const char letter = pattern.front();
      pattern.remove_prefix(2);
      if (reader.accept({&letter, 1})) {
        size(letter);
      } else if (pattern.front() == '_') {
        pattern.remove_prefix(1);
      }
      continue;
    }
    reader.expect({&next, 1});
    if (next != '_') size(next);
  }
  return sizes;
}

std::string to_text(const LetterSizes& sizes, const SizeLetters& letters) {
  std::string text;
  bool optional = false;
  for (const char next : letters.pattern) {
    if (next == '[' || next == ']') {
      optional = next == '[';
    } else if (next == '_') {
      if (!text.empty()) text += next;
    } else if (!optional || sizes[next] != 1) {
      text += fmt::format("{}{}", next, sizes[next]);
    }
  }
  return text;
}

}  // namespace convlab
