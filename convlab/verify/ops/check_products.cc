// How matrix products are verified. Bounded::error is the sum of the magnitudes of a product's terms; error_model()
// multiplies it by the error of the kernel's arithmetic.

#include <cmath>

#include "convlab/model/einsum.h"
#include "convlab/model/shapes.h"
#include "convlab/verify/ops/op_check.h"

namespace convlab::op_check {

std::vector<MatrixSum> matmul_sums(const Array& a, const Array& b, const Shape& output, const Array* a_zeros,
                                   const Array* b_zeros) {
  // A vector is a matrix of one row or column, which the output lacks.
  Array first = a, second = b;
  Shape y = output;
  if (b.shape.size() == 1) second.shape.push_back(1), y.push_back(1);
  if (a.shape.size() == 1) first.shape.insert(first.shape.begin(), 1), y.insert(y.end() - 1, 1);
  const int64_t depth = first.shape.back();
  const auto step = static_cast<size_t>(second.shape.back());
  std::vector<MatrixSum> sums;
  for_each_index(y, [&](const Index& index) {
    MatrixSum result{.row = index[index.size() - 2], .column = index.back()};
    const double a_zero = a_zeros == nullptr ? 0 : a_zeros->one_or(result.row);
    const double b_zero = b_zeros == nullptr ? 0 : b_zeros->one_or(result.column);
    const auto start_of = [&](const Array& matrix, int64_t row, int64_t column) {
      Index own(index.end() - std::ssize(matrix.shape), index.end());
      for (size_t i = 0; i + 2 < own.size(); ++i) own[i] = matrix.shape[i] == 1 ? 0 : own[i];
      own[own.size() - 2] = row, own.back() = column;
      return static_cast<size_t>(flat_index(matrix.shape, own));
    };
    const double* of_a = &first.values[start_of(first, result.row, 0)];
    const double* of_b = &second.values[start_of(second, 0, result.column)];
    for (size_t i = 0; i < static_cast<size_t>(depth); ++i) {
      result.sum.add((of_a[i] - a_zero) * (of_b[i * step] - b_zero));
    }
    sums.push_back(result);
  });
  return sums;
}

template <>
struct OpCheck<GemmOp> {
  static Arithmetic arithmetic(const GemmOp&) { return Arithmetic::product; }
  static int64_t terms(const GemmOp& op, Shapes inputs) {
    return inputs[0][op.transpose_a ? 0 : 1] + (inputs.size() > 2 ? 1 : 0);
  }
  static constexpr auto fill = kFillProduct;
  static Values reference(const GemmOp& op, const Operands& operands) {
    const Array &a = operands[0], &b = operands[1];
    const int64_t depth = a.size(op.transpose_a ? 0 : 1), columns_of_a = a.size(1), columns_of_b = b.size(1);
    return values_of(operands.output(), [&](const Index& y) {
      Sum sum;
      for (int64_t i = 0; i < depth; ++i) {
        const int64_t of_a = op.transpose_a ? i * columns_of_a + y[0] : y[0] * columns_of_a + i;
        const int64_t of_b = op.transpose_b ? y[1] * columns_of_b + i : i * columns_of_b + y[1];
        sum.add(double{op.alpha} * a.values[static_cast<size_t>(of_a)] * b.values[static_cast<size_t>(of_b)]);
      }
      if (operands.count() > 2) sum.add(double{op.beta} * operands[2].broadcast_at(y));
      return sum.as_product();
    });
  }
};

template <>
struct OpCheck<MatMulOp> {
  static Arithmetic arithmetic(const MatMulOp&) { return Arithmetic::product; }
  static int64_t terms(const MatMulOp&, Shapes inputs) { return inputs[0].back(); }
  static constexpr auto fill = kFillProduct;
  static Values reference(const MatMulOp&, const Operands& operands) {
    Values values;
    for (const MatrixSum& each : matmul_sums(operands[0], operands[1], operands.output(), nullptr, nullptr)) {
      values.push_back(each.sum.as_product());
    }
    return values;
  }
};

template <>
struct OpCheck<EinsumOp> {
  static Arithmetic arithmetic(const EinsumOp&) { return Arithmetic::product; }
  static int64_t terms(const EinsumOp& op, Shapes inputs) {
    const Einsum einsum = einsum_of(op.equation, inputs);
    int64_t products = element_count(einsum.sizes);
    for (const size_t index : einsum.output) products /= std::max<int64_t>(einsum.sizes[index], 1);
    return products + std::ssize(inputs) - 2;  // each further factor rounds once more
  }
  static void fill(const EinsumOp&, Filler& filler) {
    const double terms = product_terms(filler.step());
    for (size_t i = 0; i < filler.count(); ++i) {
      filler.numbers(i, bound_of_power(filler.largest_sum(), terms, static_cast<double>(filler.count())), -1, 1);
    }
  }
  static Values reference(const EinsumOp& op, const Operands& operands) {
    const std::vector<Shape> shapes = shapes_of(operands.step.inputs);
    const Einsum einsum = einsum_of(op.equation, shapes);
    // The indices that the output lacks, and their sizes: all products over them are summed.
    std::vector<size_t> summed;
    Shape sizes;
    for (size_t i = 0; i < einsum.sizes.size(); ++i) {
      if (std::ranges::find(einsum.output, i) != einsum.output.end()) continue;
      summed.push_back(i);
      sizes.push_back(einsum.sizes[i]);
    }
    return values_of(operands.output(), [&](const Index& y) {
      Index all(einsum.sizes.size(), 0);
      for (size_t i = 0; i < y.size(); ++i) all[einsum.output[i]] = y[i];
      Sum sum;
      for_each_index(sizes, [&](const Index& inner) {
        for (size_t i = 0; i < inner.size(); ++i) all[summed[i]] = inner[i];
        double product = 1;
        for (size_t input = 0; input < operands.count(); ++input) {
          Index own;
          for (const size_t index : einsum.inputs[input]) own.push_back(all[index]);
          product *= operands[input].broadcast_at(own);
        }
        sum.add(product);
      });
      return sum.as_product();
    });
  }
};

template <>
std::vector<OpCheckEntry> OpCheckEntry::rows<ProductOps>() {
  return rows_of<OpCheckEntry>(ProductOps());
}

}  // namespace convlab::op_check
