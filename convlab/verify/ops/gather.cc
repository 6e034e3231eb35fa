// Reference results of Gather and Scatter. All are exact, except sums and products of updates: k updates of an element
// add k roundings, in units of u times the magnitude of what they sum or multiply.

#include "convlab/model/shapes.h"
#include "convlab/verify/ops/references.h"

namespace convlab::op_oracle {
namespace {

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

}  // namespace

Values reference(const GatherOp& op, const Operands& operands) {
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

Values reference(const GatherElementsOp& op, const Operands& operands) {
  const Array& x = operands[0];
  const auto axis = static_cast<size_t>(normalized_axis(op.axis, std::ssize(x.shape)));
  return exact_values_of(operands.output(), [&](Index index) {
    index[axis] = selected(operands[1].at(index), x.size(axis));
    return x.at(index);
  });
}

Values reference(const GatherNdOp& op, const Operands& operands) {
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

Values reference(const ScatterElementsOp& op, const Operands& operands) {
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

Values reference(const ScatterNdOp& op, const Operands& operands) {
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

}  // namespace convlab::op_oracle
