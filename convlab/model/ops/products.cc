// Matrix products.

#include <algorithm>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/model/einsum.h"
#include "convlab/model/op_info.h"
#include "convlab/model/op_rules.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

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
constexpr SizeLetters kGemmLetters{"mnk", kProductExample, true, false, gemm_shapes, gemm_sizes};

std::vector<Shape> matmul_shapes(const Op&, const LetterSizes& sizes) {
  return {left_matrix(sizes), right_matrix(sizes)};
}
LetterSizes matmul_sizes(const Op&, std::span<const Shape> shapes) { return product_sizes(shapes, 0, 1); }
constexpr SizeLetters kMatMulLetters{kProductPattern, kProductExample, false, false, matmul_shapes, matmul_sizes};

}  // namespace

template <>
struct OpInfo<GemmOp> {
  static const char* name(const GemmOp&) { return "Gemm"; }
  static constexpr Arity kInputs{2, 3};
  static constexpr auto usually_constant = kAllButFirst;
  static Shape shape(const GemmOp& op, Shapes inputs) {
    const Shape &a = inputs[0], &b = inputs[1];
    if (a.size() != 2 || b.size() != 2) {
      throw bad_input("inputs must be matrices, got shapes {} and {}", to_text(a), to_text(b));
    }
    const auto [m, depth] = op.transpose_a ? std::pair(a[1], a[0]) : std::pair(a[0], a[1]);
    const auto [depth_b, n] = op.transpose_b ? std::pair(b[1], b[0]) : std::pair(b[0], b[1]);
    if (depth != depth_b) {
      throw bad_input("cannot multiply {}{} by {}{}: {} columns, but {} rows", to_text(a), op.transpose_a ? "'" : "",
                      to_text(b), op.transpose_b ? "'" : "", depth, depth_b);
    }
    Shape y{m, n};
    if (inputs.size() == 3 && (inputs[2].size() > 2 || broadcast_shape(inputs[2], y) != y)) {
      throw bad_input("C of shape {} does not broadcast to {}", to_text(inputs[2]), to_text(y));
    }
    return y;
  }
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, GemmOp& op) {
    to.add_flag("ta", op.transpose_a);
    to.add_flag("tb", op.transpose_b);
    to.add("alpha", op.alpha);
    to.add("beta", op.beta);
  }
  static std::vector<NamedOp> names() { return {{"gemm", GemmOp{}, &kGemmLetters}}; }
};

template <>
struct OpInfo<MatMulOp> {
  static const char* name(const MatMulOp&) { return "MatMul"; }
  static constexpr Arity kInputs{2, 2};
  static bool usually_constant(const MatMulOp&, Shapes inputs, size_t input) {
    return input == 1 && inputs[1].size() <= 2;
  }
  static Shape shape(const MatMulOp&, Shapes inputs) {
    Shape a = inputs[0], b = inputs[1];
    check_rank(a, 1);
    check_rank(b, 1);
    const bool row = a.size() == 1, column = b.size() == 1;
    if (row) a.insert(a.begin(), 1);
    if (column) b.push_back(1);
    if (a.back() != b[b.size() - 2]) {
      throw bad_input("cannot multiply {} by {}: {} columns, but {} rows", to_text(inputs[0]), to_text(inputs[1]),
                      a.back(), b[b.size() - 2]);
    }
    Shape y = broadcast_shape({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
    if (!row) y.push_back(a[a.size() - 2]);
    if (!column) y.push_back(b.back());
    return y;
  }
  static constexpr auto mixes_images = kNever;
  static std::vector<NamedOp> names() { return {{"matmul", MatMulOp{}, &kMatMulLetters}}; }
};

template <>
struct OpInfo<EinsumOp> {
  static const char* name(const EinsumOp&) { return "Einsum"; }
  static constexpr Arity kInputs{1, SIZE_MAX};
  static constexpr auto usually_constant = kNone;
  static Shape shape(const EinsumOp& op, Shapes inputs) {
    const Einsum einsum = einsum_of(op.equation, inputs);
    Shape y;
    for (size_t index : einsum.output) y.push_back(einsum.sizes[index]);
    return y;
  }
  /// Images must have an index of their own: the first of the output and of all operands that hold images.
  static bool mixes_images(const EinsumOp& op, const SplitOperands& inputs) {
    std::vector<Shape> shapes;
    for (const SplitOperand& input : inputs) shapes.push_back(input.shape);
    const Einsum einsum = einsum_of(op.equation, shapes);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::vector<size_t>& own = einsum.inputs[i];
      const auto count = std::ranges::count(own, einsum.output[0]);
      const bool leads = !own.empty() && own[0] == einsum.output[0] && count == 1;
      if (inputs[i].images ? !leads : count != 0) return true;
    }
    return false;
  }
  static void fields(OpFields& to, EinsumOp& op) { to.add_equation(op.equation); }
  static std::vector<NamedOp> names() { return {{"einsum", EinsumOp{}}}; }
};

template <>
std::vector<OpEntry> OpEntry::rows<ProductOps>() {
  return rows_of<OpEntry>(ProductOps());
}

}  // namespace convlab
