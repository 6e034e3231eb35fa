#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "convlab/kernels/step.h"
#include "convlab/tensor/tensor.h"

namespace convlab::op_check {

using Index = std::vector<int64_t>;

/// An operand in double.
struct Array {
  Shape shape;
  std::vector<double> values;

  int64_t size(size_t axis) const { return shape[axis]; }
  double at(const Index& index) const {
    int64_t flat = 0;
    for (size_t i = 0; i < shape.size(); ++i) flat = flat * shape[i] + index[i];
    return values[static_cast<size_t>(flat)];
  }
  /// Returns the element that NumPy's broadcasting puts at an index of the result.
  double broadcast_at(const Index& index) const {
    const size_t missing = index.size() - shape.size();
    int64_t flat = 0;
    for (size_t i = 0; i < shape.size(); ++i) flat = flat * shape[i] + (shape[i] == 1 ? 0 : index[missing + i]);
    return values[static_cast<size_t>(flat)];
  }
  /// Returns the only element, or element i of several.
  double one_or(int64_t i) const { return values[values.size() == 1 ? 0 : static_cast<size_t>(i)]; }
};

/// A step's inputs in double.
struct Operands {
  const Step& step;
  std::vector<Array> arrays;

  const Array& operator[](size_t i) const { return arrays[i]; }
  size_t count() const { return arrays.size(); }
  const Shape& output() const { return step.outputs[0].shape; }
};

/// A value, and a bound on its error if it is computed in fp32, in units of u = 2^-24 and to first order. In a matrix
/// product, `error` is the sum of the magnitudes of its terms instead: the bound depends on the kernel's arithmetic.
struct Bounded {
  double value = 0, error = 0;
};
using Values = std::vector<Bounded>;

/// Calls each(index) for every index of a shape, in row-major order.
template <class Each>
void for_each_index(const Shape& shape, Each each) {
  const int64_t count = element_count(shape);
  Index index(shape.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    each(std::as_const(index));
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
}

/// Returns each(index) for every index of a shape.
template <class Each>
Values values_of(const Shape& shape, Each each) {
  Values values;
  values.reserve(static_cast<size_t>(element_count(shape)));
  for_each_index(shape, [&](const Index& index) { values.push_back(each(index)); });
  return values;
}

/// Returns each(index) for every index of a shape, without errors.
template <class Each>
Values exact_values_of(const Shape& shape, Each each) {
  return values_of(shape, [&](const Index& index) { return Bounded{each(index), 0}; });
}

inline int64_t flat_index(const Shape& shape, const Index& index) {
  int64_t flat = 0;
  for (size_t i = 0; i < shape.size(); ++i) flat = flat * shape[i] + index[i];
  return flat;
}

inline constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

/// A sum of n products or numbers and of their magnitudes.
struct Sum {
  double value = 0, magnitude = 0, terms = 0;

  void add(double term) {
    value += term;
    magnitude += std::fabs(term);
    ++terms;
  }
  /// In any order, fused or not, the sum of n terms is off by at most n u times the sum of their magnitudes (Higham,
  /// "Accuracy and Stability of Numerical Algorithms", 2nd ed., section 3.1).
  Bounded in_any_order() const { return {value, terms * magnitude}; }
  Bounded as_product() const { return {value, magnitude}; }
};

/// Returns a value that is off by `units` roundings of itself.
inline Bounded rounded(double value, double units) { return {value, units * std::fabs(value)}; }

/// Returns the activation of a value, with the error of both. See check_elementwise.cc.
Bounded activated(const Activation& activation, const Bounded& x);

/// Returns the value rounded to nearest even in fp16 (binary16) or bfloat16.
double rounded_to_f16(double value);
double rounded_to_bf16(double value);

/// Convolution sums of x (N C H W) and w (K C/groups R S), each less a zero point; padding equals x's. `w_zeros` is
/// null, or has one or K elements.
std::vector<Sum> convolution_sums(const ConvOp& op, const Array& x, double x_zero, const Array& w,
                                  const Array* w_zeros);

/// The sums of NumPy's matmul, with zero points subtracted: null, one, or one per row of a or column of b. `row` and
/// `column` count within a matrix.
struct MatrixSum {
  Sum sum;
  int64_t row = 0, column = 0;
};
std::vector<MatrixSum> matmul_sums(const Array& a, const Array& b, const Shape& output, const Array* a_zeros,
                                   const Array* b_zeros);

}  // namespace convlab::op_check
