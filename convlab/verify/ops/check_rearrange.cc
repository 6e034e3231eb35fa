// How operators that move elements are verified. All are exact.

#include "convlab/model/shapes.h"
#include "convlab/verify/ops/op_check.h"

namespace convlab::op_check {
namespace {

/// Elements are moved, or replaced by constants.
struct Moves {
  static Arithmetic arithmetic(const auto&) { return Arithmetic::exact; }
  static constexpr auto fill = kFillNumbers;
};

/// The elements stay in their order: only the shape changes.
struct Reshapes : Moves {
  static Values reference(const auto&, const Operands& operands) {
    Values values;
    for (const double x : operands[0].values) values.push_back({x, 0});
    return values;
  }
};

/// Returns the input's element at source(index) for each index of the output.
template <class Source>
Values moved(const Operands& operands, Source source) {
  return exact_values_of(operands.output(), [&](const Index& index) { return operands[0].at(source(index)); });
}

/// Returns which of `size` elements is at index i of an array that is padded before it, or -1 in a constant padding.
int64_t padded_source(PadMode mode, int64_t i, int64_t size) {
  if (i >= 0 && i < size) return i;
  switch (mode) {
    case PadMode::constant:
      return -1;
    case PadMode::edge:
      return i < 0 ? 0 : size - 1;
    case PadMode::reflect:
      return i < 0 ? -i : 2 * (size - 1) - i;
    case PadMode::wrap:
      return (i % size + size) % size;
  }
  return -1;
}

}  // namespace

template <>
struct OpCheck<ConcatOp> : Moves {
  static Values reference(const ConcatOp& op, const Operands& operands) {
    const auto axis = static_cast<size_t>(normalized_axis(op.axis, std::ssize(operands.output())));
    return exact_values_of(operands.output(), [&](Index index) {
      size_t input = 0;
      while (index[axis] >= operands[input].size(axis)) index[axis] -= operands[input++].size(axis);
      return operands[input].at(index);
    });
  }
};

template <>
struct OpCheck<FlattenOp> : Reshapes {};

template <>
struct OpCheck<ReshapeOp> : Reshapes {};

template <>
struct OpCheck<SqueezeOp> : Reshapes {};

template <>
struct OpCheck<UnsqueezeOp> : Reshapes {};

template <>
struct OpCheck<TransposeOp> : Moves {
  static Values reference(const TransposeOp& op, const Operands& operands) {
    return moved(operands, [&](const Index& y) {
      Index x(y.size());
      for (size_t i = 0; i < y.size(); ++i) {
        x[op.permutation.empty() ? y.size() - 1 - i : static_cast<size_t>(op.permutation[i])] = y[i];
      }
      return x;
    });
  }
};

template <>
struct OpCheck<PadOp> : Moves {
  /// Negative pads crop the array first; the other pads then see the cropped array.
  static Values reference(const PadOp& op, const Operands& operands) {
    const Array& x = operands[0];
    const size_t rank = x.shape.size();
    return exact_values_of(operands.output(), [&](const Index& y) {
      Index source(rank);
      for (size_t i = 0; i < rank; ++i) {
        const int64_t before = op.pads[i], after = op.pads[rank + i];
        const int64_t cropped = std::max<int64_t>(-before, 0);
        const int64_t size = x.size(i) - cropped - std::max<int64_t>(-after, 0);
        const int64_t own = padded_source(op.mode, y[i] - std::max<int64_t>(before, 0), size);
        if (own < 0) return double{op.value};
        source[i] = own + cropped;
      }
      return x.at(source);
    });
  }
};

template <>
struct OpCheck<SliceOp> : Moves {
  static Values reference(const SliceOp& op, const Operands& operands) {
    const std::vector<SliceRange> ranges = slice_ranges(op, operands[0].shape);
    return moved(operands, [&](Index index) {
      for (size_t i = 0; i < index.size(); ++i) index[i] = ranges[i].start + index[i] * ranges[i].step;
      return index;
    });
  }
};

template <>
struct OpCheck<ExpandOp> : Moves {
  static Values reference(const ExpandOp&, const Operands& operands) {
    return exact_values_of(operands.output(), [&](const Index& index) { return operands[0].broadcast_at(index); });
  }
};

template <>
struct OpCheck<TileOp> : Moves {
  static Values reference(const TileOp&, const Operands& operands) {
    return moved(operands, [&](Index index) {
      for (size_t i = 0; i < index.size(); ++i) index[i] %= operands[0].size(i);
      return index;
    });
  }
};

template <>
struct OpCheck<DepthToSpaceOp> : Moves {
  static Values reference(const DepthToSpaceOp& op, const Operands& operands) {
    const int64_t block = op.block, channels = operands.output()[1];
    return moved(operands, [&](const Index& y) {
      const int64_t row = y[2] % block, column = y[3] % block;
      const int64_t c =
          op.columns_rows_depth ? (y[1] * block + row) * block + column : (row * block + column) * channels + y[1];
      return Index{y[0], c, y[2] / block, y[3] / block};
    });
  }
};

template <>
struct OpCheck<SpaceToDepthOp> : Moves {
  static Values reference(const SpaceToDepthOp& op, const Operands& operands) {
    const int64_t block = op.block, channels = operands[0].size(1);
    return moved(operands, [&](const Index& y) {
      const int64_t within = y[1] / channels;
      return Index{y[0], y[1] % channels, y[2] * block + within / block, y[3] * block + within % block};
    });
  }
};

template <>
struct OpCheck<TriluOp> : Moves {
  static Values reference(const TriluOp& op, const Operands& operands) {
    return exact_values_of(operands.output(), [&](const Index& index) {
      const int64_t right = index.back() - index[index.size() - 2];
      return (op.upper ? right >= op.k : right <= op.k) ? operands[0].at(index) : 0.0;
    });
  }
};

template <>
std::vector<OpCheckEntry> OpCheckEntry::rows<RearrangeOps>() {
  return rows_of<OpCheckEntry>(RearrangeOps());
}

}  // namespace convlab::op_check
