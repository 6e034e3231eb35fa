// Reference results of convolutions and matrix products. Bounded::error is the sum of the magnitudes of a product's
// terms; error_model() multiplies it by the error of the kernel's arithmetic.

#include "convlab/model/einsum.h"
#include "convlab/model/shapes.h"
#include "convlab/verify/ops/references.h"

namespace convlab::op_oracle {
namespace {

Values as_products(const std::vector<Sum>& sums) {
  Values values;
  for (const Sum& sum : sums) values.push_back(sum.as_product());
  return values;
}

/// Adds the bias (K), if there is one, to N K P Q sums.
void add_bias(const Operands& operands, size_t input, std::vector<Sum>& sums) {
  if (input >= operands.count()) return;
  const Shape& y = operands.output();
  for (size_t i = 0; i < sums.size(); ++i) {
    sums[i].add(operands[input].values[i / static_cast<size_t>(y[2] * y[3]) % static_cast<size_t>(y[1])]);
  }
}

}  // namespace

std::vector<Sum> convolution_sums(const ConvOp& op, const Array& x, double x_zero, const Array& w,
                                  const Array* w_zeros) {
  const ConvProblem problem = conv_problem(op, x.shape, w.shape);
  std::vector<Sum> sums;
  for_each_index(problem.output_shape(), [&](const Index& y) {
    const double w_zero = w_zeros == nullptr ? 0 : w_zeros->one_or(y[1]);
    const int64_t group = y[1] / problem.maps_per_group();
    Sum sum;
    for (int64_t c = 0; c < problem.channels_per_group(); ++c) {
      for (int64_t r = 0; r < problem.r; ++r) {
        for (int64_t s = 0; s < problem.s; ++s) {
          const int64_t h = y[2] * problem.stride_h + r * problem.dilation_h - problem.pad_top;
          const int64_t v = y[3] * problem.stride_w + s * problem.dilation_w - problem.pad_left;
          if (h < 0 || v < 0 || h >= problem.h || v >= problem.w) continue;
          const int64_t channel = group * problem.channels_per_group() + c;
          const double pixel =
              x.values[static_cast<size_t>(((y[0] * problem.c + channel) * problem.h + h) * problem.w + v)];
          const double weight = w.values[static_cast<size_t>(
              ((y[1] * problem.channels_per_group() + c) * problem.r + r) * problem.s + s)];
          sum.add((pixel - x_zero) * (weight - w_zero));
        }
      }
    }
    sums.push_back(sum);
  });
  return sums;
}

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

Values reference(const ConvOp& op, const Operands& operands) {
  std::vector<Sum> sums = convolution_sums(op, operands[0], 0, operands[1], nullptr);
  add_bias(operands, 2, sums);
  return as_products(sums);
}

/// Scatters each pixel, times the filters, over the outputs that it reaches.
Values reference(const ConvTransposeOp& op, const Operands& operands) {
  const Array &x = operands[0], &w = operands[1];
  const TransposedConv conv = transposed_conv(op, x.shape, w.shape);
  const int64_t channels = x.size(1) / op.groups, maps = w.size(1);
  std::vector<Sum> sums(static_cast<size_t>(element_count(operands.output())));
  for_each_index(x.shape, [&](const Index& pixel) {
    const double value = x.at(pixel);
    for_each_index({maps, w.size(2), w.size(3)}, [&](const Index& tap) {
      const int64_t p = pixel[2] * op.stride_h + tap[1] * op.dilation_h - conv.pad_top;
      const int64_t q = pixel[3] * op.stride_w + tap[2] * op.dilation_w - conv.pad_left;
      if (p < 0 || q < 0 || p >= conv.output_h || q >= conv.output_w) return;
      const Index y{pixel[0], pixel[1] / channels * maps + tap[0], p, q};
      const double weight = w.at({pixel[1], tap[0], tap[1], tap[2]});
      sums[static_cast<size_t>(flat_index(operands.output(), y))].add(value * weight);
    });
  });
  add_bias(operands, 2, sums);
  return as_products(sums);
}

Values reference(const GemmOp& op, const Operands& operands) {
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

Values reference(const MatMulOp&, const Operands& operands) {
  Values values;
  for (const MatrixSum& each : matmul_sums(operands[0], operands[1], operands.output(), nullptr, nullptr)) {
    values.push_back(each.sum.as_product());
  }
  return values;
}

Values reference(const EinsumOp& op, const Operands& operands) {
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

}  // namespace convlab::op_oracle
