// Reference results of pooling, its indices and its inverse.
//
// Errors in units of u: maxima and indices are exact. An average of n elements is off by the error of its sum, n times
// the sum of magnitudes, and a reciprocal and a product. An lp norm is off by (n + 19) / p units from its sum, if powf
// is off by 9 ulp (CUDA), and 18 from the root.

#include "convlab/model/shapes.h"
#include "convlab/verify/ops/references.h"

namespace convlab::op_oracle {
namespace {

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

}  // namespace

/// Padding is never a maximum. It counts in an average's divisor with count_include_pad, but never beyond the padded
/// image, where ceil_mode may reach (ONNX, AveragePool, opset 19).
Values reference(const PoolOp& op, const Operands& operands) {
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

Values reference(const GlobalAveragePoolOp&, const Operands& operands) {
  const Array& x = operands[0];
  const int64_t pixels = x.size(2) * x.size(3);
  return values_of(operands.output(), [&](const Index& y) {
    return average(pixels, pixels, [&](int64_t i) { return x.at({y[0], y[1], i / x.size(3), i % x.size(3)}); });
  });
}

Values reference(const MaxPoolIndicesOp& op, const Operands& operands) {
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

Values reference(const MaxUnpoolOp& op, const Operands& operands) {
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

Values reference(const LpPoolOp& op, const Operands& operands) {
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

}  // namespace convlab::op_oracle
