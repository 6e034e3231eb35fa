// How Gather and Scatter are verified. All are exact, except sums and products of updates: k updates of an element add
// k roundings, in units of u times the magnitude of what they sum or multiply.

#include <cmath>

#include "convlab/model/shapes.h"
#include "convlab/verify/ops/op_check.h"

namespace convlab::op_check {
namespace {

Arithmetic arithmetic_of_reduction(ScatterReduction reduction) {
  const bool sums = reduction == ScatterReduction::add || reduction == ScatterReduction::mul;
  return sums ? Arithmetic::sums : Arithmetic::exact;
}

/// Returns the element that an index selects: a negative one counts from the end.
int64_t selected(double index, int64_t size) {
  const auto at = static_cast<int64_t>(index);
  return at < 0 ? at + size : at;
}

/// The output of a scatter: x, with updates in their order.
class Updated {
 public:
  Updated(const Array& x, ScatterReduction reduction) : reduction_(reduction) {
    for (const double each : x.values) elements_.push_back({each, std::fabs(each), 0});
  }

  void update(int64_t at, double value) {
    Element& element = elements_[static_cast<size_t>(at)];
    const bool has_nan = std::isnan(element.value) || std::isnan(value);
    switch (reduction_) {
      case ScatterReduction::none:
        element.value = value;
        return;
      case ScatterReduction::add:
        element = {element.value + value, element.magnitude + std::fabs(value), element.updates + 1};
        return;
      case ScatterReduction::mul:
        element = {element.value * value, std::fabs(element.value * value), element.updates + 1};
        return;
      case ScatterReduction::max:
        element.value = has_nan ? kNotANumber : std::max(element.value, value);
        return;
      case ScatterReduction::min:
        element.value = has_nan ? kNotANumber : std::min(element.value, value);
        return;
    }
  }

  Values values() const {
    Values values;
    for (const Element& each : elements_) values.push_back({each.value, each.updates * each.magnitude});
    return values;
  }

 private:
  struct Element {
    double value, magnitude, updates;
  };
  ScatterReduction reduction_;
  std::vector<Element> elements_;
};

/// Returns the index, or the same one counted from the end.
float either_end(int64_t index, int64_t size, Rng& rng) {
  return static_cast<float>(rng.integer(0, 1) == 0 ? index : index - size);
}

/// Random indices of an axis.
void fill_indices(Filler& filler, size_t input, int64_t size) {
  for (float& element : filler.elements(input))
    element = either_end(filler.rng().integer(0, size - 1), size, filler.rng());
}

int64_t axis_size(const Filler& filler, int64_t axis) {
  const Shape& x = filler.shape(0);
  return x[static_cast<size_t>(normalized_axis(axis, std::ssize(x)))];
}

/// Fills x and the updates of a scatter so that sums and products of updates are exact.
void fill_updated(Filler& filler, ScatterReduction reduction) {
  filler.numbers(0, 100);
  if (reduction != ScatterReduction::mul) return filler.numbers(2, 100);
  // An element may be multiplied by all updates: factors of 1 and -1.
  if (!filler.integers()) return filler.signed_reals(2, 0.8f, 1.25f);
  filler.integers(2, 0, 1);
  for (float& element : filler.elements(2)) element = element * 2 - 1;
}

}  // namespace

template <>
struct OpCheck<GatherOp> {
  static Arithmetic arithmetic(const GatherOp&) { return Arithmetic::exact; }
  static void fill(const GatherOp& op, Filler& filler) {
    filler.numbers(0, 100);
    fill_indices(filler, 1, axis_size(filler, op.axis));
  }
  static Values reference(const GatherOp& op, const Operands& operands) {
    const Array &x = operands[0], &indices = operands[1];
    const int64_t axis = normalized_axis(op.axis, std::ssize(x.shape)), taken = std::ssize(indices.shape);
    return exact_values_of(operands.output(), [&](const Index& y) {
      const Index at(y.begin() + axis, y.begin() + axis + taken);
      Index own(y.begin(), y.begin() + axis);
      own.push_back(selected(indices.at(at), x.size(static_cast<size_t>(axis))));
      own.insert(own.end(), y.begin() + axis + taken, y.end());
      return x.at(own);
    });
  }
};

template <>
struct OpCheck<GatherElementsOp> {
  static Arithmetic arithmetic(const GatherElementsOp&) { return Arithmetic::exact; }
  static void fill(const GatherElementsOp& op, Filler& filler) {
    filler.numbers(0, 100);
    fill_indices(filler, 1, axis_size(filler, op.axis));
  }
  static Values reference(const GatherElementsOp& op, const Operands& operands) {
    const Array& x = operands[0];
    const auto axis = static_cast<size_t>(normalized_axis(op.axis, std::ssize(x.shape)));
    return exact_values_of(operands.output(), [&](Index index) {
      index[axis] = selected(operands[1].at(index), x.size(axis));
      return x.at(index);
    });
  }
};

template <>
struct OpCheck<GatherNdOp> {
  static Arithmetic arithmetic(const GatherNdOp&) { return Arithmetic::exact; }
  static void fill(const GatherNdOp& op, Filler& filler) {
    filler.numbers(0, 100);
    const int64_t length = filler.shape(1).back();
    for (size_t i = 0; i < filler.elements(1).size(); ++i) {
      const int64_t size = filler.shape(0)[static_cast<size_t>(op.batch_dims + static_cast<int64_t>(i) % length)];
      filler.set(1, i, either_end(filler.rng().integer(0, size - 1), size, filler.rng()));
    }
  }
  static Values reference(const GatherNdOp& op, const Operands& operands) {
    const Array &x = operands[0], &indices = operands[1];
    const auto batch = static_cast<size_t>(op.batch_dims);
    const int64_t length = indices.shape.back(), rows = std::ssize(indices.shape) - 1;
    return exact_values_of(operands.output(), [&](const Index& y) {
      Index at(y.begin(), y.begin() + rows), own(y.begin(), y.begin() + op.batch_dims);
      at.push_back(0);
      for (; at.back() < length; ++at.back()) {
        own.push_back(selected(indices.at(at), x.size(batch + static_cast<size_t>(at.back()))));
      }
      own.insert(own.end(), y.begin() + rows, y.end());
      return x.at(own);
    });
  }
};

template <>
struct OpCheck<ScatterElementsOp> {
  static Arithmetic arithmetic(const ScatterElementsOp& op) { return arithmetic_of_reduction(op.reduction); }
  /// Without a reduction, the indices along the axis are distinct, as far as there are enough elements.
  static void fill(const ScatterElementsOp& op, Filler& filler) {
    fill_updated(filler, op.reduction);
    const Shape& indices = filler.shape(1);
    const int64_t axis = normalized_axis(op.axis, std::ssize(indices)), size = axis_size(filler, op.axis);
    if (op.reduction != ScatterReduction::none) return fill_indices(filler, 1, size);
    const int64_t count = indices[static_cast<size_t>(axis)];
    const int64_t inner = element_count({indices.begin() + axis + 1, indices.end()});
    for (int64_t line = 0; line < element_count(indices) / count; ++line) {
      const std::vector<int64_t> order = shuffled(size, filler.rng());
      for (int64_t i = 0; i < count; ++i) {
        const int64_t at = (line / inner * count + i) * inner + line % inner;
        filler.set(1, static_cast<size_t>(at), either_end(order[static_cast<size_t>(i % size)], size, filler.rng()));
      }
    }
  }
  static Values reference(const ScatterElementsOp& op, const Operands& operands) {
    const Array &x = operands[0], &indices = operands[1];
    const auto axis = static_cast<size_t>(normalized_axis(op.axis, std::ssize(x.shape)));
    Updated updated(x, op.reduction);
    for_each_index(indices.shape, [&](const Index& from) {
      Index to = from;
      to[axis] = selected(indices.at(from), x.size(axis));
      updated.update(flat_index(x.shape, to), operands[2].at(from));
    });
    return updated.values();
  }
};

template <>
struct OpCheck<ScatterNdOp> {
  static Arithmetic arithmetic(const ScatterNdOp& op) { return arithmetic_of_reduction(op.reduction); }
  /// Likewise: without a reduction, each row of indices selects another part of x, as far as there are enough.
  static void fill(const ScatterNdOp& op, Filler& filler) {
    fill_updated(filler, op.reduction);
    const Shape &x = filler.shape(0), &indices = filler.shape(1);
    const int64_t length = indices.back(), rows = element_count(indices) / length;
    const int64_t parts = element_count({x.begin(), x.begin() + length});
    const std::vector<int64_t> order = shuffled(parts, filler.rng());
    for (int64_t row = 0; row < rows; ++row) {
      const bool distinct = op.reduction == ScatterReduction::none;
      int64_t part = distinct ? order[static_cast<size_t>(row % parts)] : filler.rng().integer(0, parts - 1);
      for (int64_t i = length; i-- > 0;) {
        const int64_t size = x[static_cast<size_t>(i)];
        filler.set(1, static_cast<size_t>(row * length + i), either_end(part % size, size, filler.rng()));
        part /= size;
      }
    }
  }
  static Values reference(const ScatterNdOp& op, const Operands& operands) {
    const Array &x = operands[0], &indices = operands[1], &updates = operands[2];
    const int64_t length = indices.shape.back(), rows = std::ssize(indices.shape) - 1;
    Updated updated(x, op.reduction);
    for_each_index(updates.shape, [&](const Index& from) {
      Index at(from.begin(), from.begin() + rows), to;
      at.push_back(0);
      for (; at.back() < length; ++at.back()) {
        to.push_back(selected(indices.at(at), x.size(static_cast<size_t>(at.back()))));
      }
      to.insert(to.end(), from.begin() + rows, from.end());
      updated.update(flat_index(x.shape, to), updates.at(from));
    });
    return updated.values();
  }
};

template <>
std::vector<OpCheckEntry> OpCheckEntry::rows<GatherOps>() {
  return rows_of<OpCheckEntry>(GatherOps());
}

}  // namespace convlab::op_check
