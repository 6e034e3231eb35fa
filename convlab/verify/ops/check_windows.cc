// How convolutions, pooling and other windows are verified.
//
// Errors in units of u: maxima and indices are exact. An average of n elements is off by the error of its sum, n times
// the sum of magnitudes, and a reciprocal and a product. An lp norm is off by (n + 19) / p units from its sum, if powf
// is off by 9 ulp (CUDA), and 18 from the root. For convolutions see Bounded.

#include <cmath>

#include "convlab/model/shapes.h"
#include "convlab/verify/ops/op_check.h"

namespace convlab::op_check {
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

/// The elements of a window, and how many of its positions are within the padded image.
struct WindowElements {
  std::vector<int64_t> rows, columns;  ///< by element
  int64_t padded = 0;
};

WindowElements window_at(const Pool& pool, const Shape& x, int64_t p, int64_t q) {
  WindowElements window;
  for (int64_t r = 0; r < pool.kernel_h; ++r) {
    for (int64_t s = 0; s < pool.kernel_w; ++s) {
      const int64_t h = p * pool.stride_h - pool.pad_top + r * pool.dilation_h;
      const int64_t w = q * pool.stride_w - pool.pad_left + s * pool.dilation_w;
      window.padded += h < x[2] + pool.pad_bottom && w < x[3] + pool.pad_right;
      if (h < 0 || w < 0 || h >= x[2] || w >= x[3]) continue;
      window.rows.push_back(h);
      window.columns.push_back(w);
    }
  }
  return window;
}

/// Calls each(image, channel, window) for each output.
template <class Each>
Values of_windows(const Pool& pool, const Operands& operands, Each each) {
  return values_of(operands.output(),
                   [&](const Index& y) { return each(y[0], y[1], window_at(pool, operands[0].shape, y[2], y[3])); });
}

template <class Element>
Bounded average(int64_t count, int64_t divisor, Element element) {
  Sum sum;
  for (int64_t i = 0; i < count; ++i) sum.add(element(i));
  const double y = sum.value / static_cast<double>(divisor);
  return {y, sum.in_any_order().error / static_cast<double>(divisor) + 2 * std::fabs(y)};
}

void fill_average(Filler& filler, double terms) {
  filler.numbers(0, bound_of_power(filler.largest_accumulated(), terms, 1));
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

template <>
struct OpCheck<ConvOp> {
  static Arithmetic arithmetic(const ConvOp&) { return Arithmetic::product; }
  static int64_t terms(const ConvOp&, Shapes inputs) {
    return inputs[1][1] * inputs[1][2] * inputs[1][3] + (inputs.size() > 2 ? 1 : 0);
  }
  static constexpr auto fill = kFillProduct;
  static Values reference(const ConvOp& op, const Operands& operands) {
    std::vector<Sum> sums = convolution_sums(op, operands[0], 0, operands[1], nullptr);
    add_bias(operands, 2, sums);
    return as_products(sums);
  }
};

template <>
struct OpCheck<ConvTransposeOp> {
  static Arithmetic arithmetic(const ConvTransposeOp&) { return Arithmetic::product; }
  static int64_t terms(const ConvTransposeOp& op, Shapes inputs) {
    return inputs[0][1] / op.groups * inputs[1][2] * inputs[1][3] + (inputs.size() > 2 ? 1 : 0);
  }
  static constexpr auto fill = kFillProduct;
  /// Scatters each pixel, times the filters, over the outputs that it reaches.
  static Values reference(const ConvTransposeOp& op, const Operands& operands) {
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
};

template <>
struct OpCheck<PoolOp> {
  static Arithmetic arithmetic(const PoolOp& op) {
    return op.pool.kind == PoolKind::max ? Arithmetic::exact : Arithmetic::averages;
  }
  static void fill(const PoolOp& op, Filler& filler) {
    fill_average(filler, static_cast<double>(op.pool.kernel_h * op.pool.kernel_w));
  }
  /// Padding is never a maximum. It counts in an average's divisor with count_include_pad, but never beyond the padded
  /// image, where ceil_mode may reach (ONNX, AveragePool, opset 19).
  static Values reference(const PoolOp& op, const Operands& operands) {
    const Array& x = operands[0];
    const Pool pool = resolved_pool(op, x.shape);
    return of_windows(pool, operands, [&](int64_t n, int64_t c, const WindowElements& window) {
      const auto element = [&](int64_t i) {
        return x.at({n, c, window.rows[static_cast<size_t>(i)], window.columns[static_cast<size_t>(i)]});
      };
      const auto inside = std::ssize(window.rows);
      if (pool.kind == PoolKind::average) {
        return average(inside, pool.count_include_pad ? window.padded : inside, element);
      }
      double most = -std::numeric_limits<double>::infinity();
      for (int64_t i = 0; i < inside; ++i) {
        if (std::isnan(element(i))) return Bounded{kNotANumber, 0};
        most = std::max(most, element(i));
      }
      return Bounded{most, 0};
    });
  }
};

template <>
struct OpCheck<MaxPoolIndicesOp> {
  static Arithmetic arithmetic(const MaxPoolIndicesOp&) { return Arithmetic::exact; }
  static constexpr auto fill = kFillTies;
  static Values reference(const MaxPoolIndicesOp& op, const Operands& operands) {
    const Array& x = operands[0];
    const int64_t height = x.size(2), width = x.size(3);
    const Pool pool = resolved_pool({.pool = op.pool, .auto_pad = op.auto_pad}, x.shape);
    return of_windows(pool, operands, [&](int64_t n, int64_t c, const WindowElements& window) {
      double best = 0;
      int64_t place = -1;
      for (size_t i = 0; i < window.rows.size(); ++i) {
        const int64_t h = window.rows[i], w = window.columns[i];
        const double next = x.at({n, c, h, w});
        const bool better = std::isnan(next) ? !std::isnan(best) : next > best;
        if (place >= 0 && !better) continue;
        best = next;
        place = op.columns_first ? w * height + h : h * width + w;
      }
      return Bounded{static_cast<double>((n * x.size(1) + c) * height * width + place), 0};
    });
  }
};

template <>
struct OpCheck<MaxUnpoolOp> {
  static Arithmetic arithmetic(const MaxUnpoolOp&) { return Arithmetic::exact; }
  /// Indices point to distinct elements of their own channel.
  static void fill(const MaxUnpoolOp& op, Filler& filler) {
    filler.numbers(0, 100);
    const Shape &x = filler.shape(0), inner = unpooled_shape(op, x);
    const int64_t plane = inner[2] * inner[3], windows = x[2] * x[3];
    for (int64_t map = 0; map < x[0] * x[1]; ++map) {
      const std::vector<int64_t> order = shuffled(plane, filler.rng());
      for (int64_t i = 0; i < windows; ++i) {
        const int64_t index = map * plane + order[static_cast<size_t>(i % plane)];
        filler.set(1, static_cast<size_t>(map * windows + i), static_cast<float>(index));
      }
    }
  }
  static Values reference(const MaxUnpoolOp& op, const Operands& operands) {
    const Array& x = operands[0];
    const Shape inner = unpooled_shape(op, x.shape);
    Values values(static_cast<size_t>(element_count(operands.output())));
    for (size_t i = 0; i < x.values.size(); ++i) {
      auto at = static_cast<int64_t>(operands[1].values[i]);
      Index index(4);
      for (size_t axis = 4; axis-- > 0; at /= inner[axis]) index[axis] = at % inner[axis];
      values[static_cast<size_t>(flat_index(operands.output(), index))].value = x.values[i];
    }
    return values;
  }
};

template <>
struct OpCheck<LpPoolOp> {
  static Arithmetic arithmetic(const LpPoolOp& op) { return op.p == 1 ? Arithmetic::sums : Arithmetic::real; }
  static void fill(const LpPoolOp& op, Filler& filler) {
    filler.numbers(0,
                   bound_of_power(filler.largest_sum(), static_cast<double>(op.pool.kernel_h * op.pool.kernel_w), 1));
  }
  static Values reference(const LpPoolOp& op, const Operands& operands) {
    const Array& x = operands[0];
    const auto p = static_cast<double>(op.p);
    const Pool pool = resolved_pool({.pool = op.pool, .auto_pad = op.auto_pad}, x.shape);
    return of_windows(pool, operands, [&](int64_t n, int64_t c, const WindowElements& window) {
      double sum = 0;
      for (size_t i = 0; i < window.rows.size(); ++i) {
        sum += std::pow(std::fabs(x.at({n, c, window.rows[i], window.columns[i]})), p);
      }
      return rounded(std::pow(sum, 1 / p), (static_cast<double>(window.rows.size()) + 19) / p + 18);
    });
  }
};

template <>
struct OpCheck<GlobalAveragePoolOp> {
  static Arithmetic arithmetic(const GlobalAveragePoolOp&) { return Arithmetic::averages; }
  static void fill(const GlobalAveragePoolOp&, Filler& filler) { fill_average(filler, elements_per_output(filler)); }
  static Values reference(const GlobalAveragePoolOp&, const Operands& operands) {
    const Array& x = operands[0];
    const int64_t pixels = x.size(2) * x.size(3);
    return values_of(operands.output(), [&](const Index& y) {
      return average(pixels, pixels, [&](int64_t i) { return x.at({y[0], y[1], i / x.size(3), i % x.size(3)}); });
    });
  }
};

template <>
struct OpCheck<Col2ImOp> {
  static Arithmetic arithmetic(const Col2ImOp&) { return Arithmetic::sums; }
  static void fill(const Col2ImOp& op, Filler& filler) {
    filler.numbers(0, bound_of_power(filler.largest_sum(), static_cast<double>(op.block_h * op.block_w), 1));
  }
  static Values reference(const Col2ImOp& op, const Operands& operands) {
    const Shape& y = operands.output();
    std::vector<Sum> sums(static_cast<size_t>(element_count(y)));
    for_each_index({y[0], y[1], op.block_h, op.block_w, op.rows(), op.columns()}, [&](const Index& at) {
      const int64_t row = (at[1] * op.block_h + at[2]) * op.block_w + at[3], column = at[4] * op.columns() + at[5];
      const int64_t h = at[4] * op.stride_h + at[2] * op.dilation_h - op.pad_top;
      const int64_t w = at[5] * op.stride_w + at[3] * op.dilation_w - op.pad_left;
      if (h < 0 || w < 0 || h >= y[2] || w >= y[3]) return;
      sums[static_cast<size_t>(flat_index(y, {at[0], at[1], h, w}))].add(operands[0].at({at[0], row, column}));
    });
    Values values;
    for (const Sum& sum : sums) values.push_back(sum.in_any_order());
    return values;
  }
};

template <>
std::vector<OpCheckEntry> OpCheckEntry::rows<WindowOps>() {
  return rows_of<OpCheckEntry>(WindowOps());
}

}  // namespace convlab::op_check
