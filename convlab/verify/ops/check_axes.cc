// How reductions, indices of extremes, TopK and running sums are verified.
//
// Errors in units of u: a sum of n terms is off by n times the sum of their magnitudes, a product of n by n, and each
// function adds its own, see check_elementwise.cc. Extremes and indices are exact.

#include <cmath>
#include <limits>
#include <numeric>

#include "convlab/model/shapes.h"
#include "convlab/verify/ops/op_check.h"

namespace convlab::op_check {
namespace {

Arithmetic arithmetic_of_kind(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::sum:
    case ReduceKind::l1:
    case ReduceKind::prod:
    case ReduceKind::sum_square:
      return Arithmetic::sums;
    case ReduceKind::mean:
      return Arithmetic::averages;
    case ReduceKind::max:
    case ReduceKind::min:
      return Arithmetic::exact;
    default:
      return Arithmetic::real;
  }
}

Bounded reduced(ReduceKind kind, const std::vector<double>& x) {
  const auto n = static_cast<double>(x.size());
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double sum = 0, magnitude = 0, squares = 0, product = 1, most = -kInfinity, least = kInfinity;
  bool has_nan = false;
  for (const double each : x) {
    has_nan = has_nan || std::isnan(each);
    sum += each, magnitude += std::fabs(each), squares += each * each, product *= each;
    most = std::max(most, each), least = std::min(least, each);
  }
  if (has_nan) return {kNotANumber, 0};
  switch (kind) {
    case ReduceKind::sum:
      return {sum, n * magnitude};
    case ReduceKind::mean:  // the sum's error, and a reciprocal and a product
      return {sum / n, magnitude + 2 * std::fabs(sum / n)};
    case ReduceKind::max:
      return {most, 0};
    case ReduceKind::min:
      return {least, 0};
    case ReduceKind::prod:
      return rounded(product, n);
    case ReduceKind::l1:
      return rounded(magnitude, n);
    case ReduceKind::l2:
      return rounded(std::sqrt(squares), (n + 1) / 2 + 1);
    case ReduceKind::log_sum:
      return {std::log(sum), n * magnitude / std::fabs(sum) + 2 * std::fabs(std::log(sum))};
    case ReduceKind::sum_square:
      return rounded(squares, n + 1);
    case ReduceKind::log_sum_exp: {  // as Softmax: see normalize.cc
      double powers = 0;
      for (const double each : x) powers += std::exp(each - most);
      const double y = most + std::log(powers);
      return {y, (most - least) + 4 + n + 2 * std::log(powers) + std::fabs(y)};
    }
  }
  return {};
}

/// Whether a is before b in the order of the largest (or smallest) elements; NaN is larger than all numbers.
bool comes_before(double a, double b, bool largest) {
  const bool above = a > b || (std::isnan(a) && !std::isnan(b)), below = a < b || (std::isnan(b) && !std::isnan(a));
  return largest ? above : below;
}

}  // namespace

template <>
struct OpCheck<ReduceOp> {
  static Arithmetic arithmetic(const ReduceOp& op) { return arithmetic_of_kind(op.kind); }
  static void fill(const ReduceOp& op, Filler& filler) {
    const double terms = elements_per_output(filler);
    switch (op.kind) {
      case ReduceKind::sum:
      case ReduceKind::l1:
        return filler.numbers(0, bound_of_power(filler.largest_sum(), terms, 1));
      case ReduceKind::sum_square:
        return filler.numbers(0, bound_of_power(filler.largest_sum(), terms, 2));
      case ReduceKind::mean:
        return filler.numbers(0, bound_of_power(filler.largest_accumulated(), terms, 1));
      case ReduceKind::prod: {
        if (!filler.integers()) return filler.signed_reals(0, 0.8f, 1.25f);
        filler.integers(0, 0, 1);
        for (float& element : filler.elements(0)) element = element * 2 - 1;
        // Only this many elements of the array, so that each product is at most 2^7.
        for (int i = 0; i < 7; ++i) {
          filler.set(0, static_cast<size_t>(filler.rng().integer(0, std::ssize(filler.elements(0)) - 1)), 2);
        }
        return;
      }
      case ReduceKind::log_sum:
        return filler.reals(0, 0.1f, 2);
      case ReduceKind::max:
      case ReduceKind::min:
        return filler.ties(0);
      default:
        return filler.reals(0, -2, 2);
    }
  }
  static Values reference(const ReduceOp& op, const Operands& operands) {
    const Array& x = operands[0];
    const std::vector<bool> marks = reduced_axes(op, x.shape.size());
    Shape kept = x.shape;
    for (size_t i = 0; i < kept.size(); ++i) {
      if (marks[i]) kept[i] = 1;
    }
    std::vector<std::vector<double>> groups(static_cast<size_t>(element_count(kept)));
    for_each_index(x.shape, [&](const Index& index) {
      Index own = index;
      for (size_t i = 0; i < own.size(); ++i) {
        if (marks[i]) own[i] = 0;
      }
      groups[static_cast<size_t>(flat_index(kept, own))].push_back(x.at(index));
    });
    Values values;
    for (const std::vector<double>& group : groups) values.push_back(reduced(op.kind, group));
    return values;
  }
};

template <>
struct OpCheck<ArgReduceOp> {
  static Arithmetic arithmetic(const ArgReduceOp&) { return Arithmetic::exact; }
  static constexpr auto fill = kFillTies;
  static Values reference(const ArgReduceOp& op, const Operands& operands) {
    const Array& x = operands[0];
    const auto axis = static_cast<size_t>(normalized_axis(op.axis, std::ssize(x.shape)));
    Shape kept = x.shape;
    kept[axis] = 1;
    return exact_values_of(kept, [&](Index index) {
      double best = kNotANumber;
      int64_t found = -1;
      for (int64_t i = 0; i < x.size(axis); ++i) {
        index[axis] = i;
        const double next = x.at(index);
        const bool is_nan = std::isnan(next), ties = next == best || (is_nan && std::isnan(best));
        const bool better = is_nan ? !std::isnan(best) : op.largest ? next > best : next < best;
        if (found < 0 || better || (ties && op.last)) best = next, found = i;
      }
      return static_cast<double>(found);
    });
  }
};

template <>
struct OpCheck<TopKOp> {
  static Arithmetic arithmetic(const TopKOp&) { return Arithmetic::exact; }
  static constexpr auto fill = kFillTies;
  static Values reference(const TopKOp& op, const Operands& operands) {
    const Array& x = operands[0];
    const auto axis = static_cast<size_t>(normalized_axis(op.axis, std::ssize(x.shape)));
    return exact_values_of(operands.output(), [&](const Index& index) {
      std::vector<double> line;
      Index own = index;
      for (own[axis] = 0; own[axis] < x.size(axis); ++own[axis]) line.push_back(x.at(own));
      std::vector<size_t> order(line.size());
      std::iota(order.begin(), order.end(), size_t{0});
      std::ranges::stable_sort(order, [&](size_t i, size_t j) { return comes_before(line[i], line[j], op.largest); });
      const size_t found = order[static_cast<size_t>(index[axis])];
      return op.indices ? static_cast<double>(found) : line[found];
    });
  }
};

template <>
struct OpCheck<CumSumOp> {
  static Arithmetic arithmetic(const CumSumOp&) { return Arithmetic::sums; }
  static void fill(const CumSumOp& op, Filler& filler) {
    const Shape& x = filler.shape(0);
    const auto terms = static_cast<double>(x[static_cast<size_t>(normalized_axis(op.axis, std::ssize(x)))]);
    filler.numbers(0, bound_of_power(filler.largest_sum(), terms, 1));
  }
  static Values reference(const CumSumOp& op, const Operands& operands) {
    const Array& x = operands[0];
    const auto axis = static_cast<size_t>(normalized_axis(op.axis, std::ssize(x.shape)));
    return values_of(x.shape, [&](const Index& index) {
      Sum sum;
      Index own = index;
      for (own[axis] = 0; own[axis] < x.size(axis); ++own[axis]) {
        const int64_t behind = op.reverse ? own[axis] - index[axis] : index[axis] - own[axis];
        if (op.exclusive ? behind > 0 : behind >= 0) sum.add(x.at(own));
      }
      return sum.in_any_order();
    });
  }
};

template <>
std::vector<OpCheckEntry> OpCheckEntry::rows<AxisOps>() {
  return rows_of<OpCheckEntry>(AxisOps());
}

}  // namespace convlab::op_check
