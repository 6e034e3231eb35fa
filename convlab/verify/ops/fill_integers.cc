// Fills the inputs of operators with indices or quantized values.

#include <cmath>
#include <numeric>

#include "convlab/model/shapes.h"
#include "convlab/verify/ops/filler.h"

namespace convlab::op_fill {
namespace {

/// Returns 0, 1, ... count - 1 in a random order.
std::vector<int64_t> shuffled(int64_t count, Rng& rng) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  for (size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<size_t>(rng.integer(0, static_cast<int64_t>(i) - 1))]);
  }
  return order;
}

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

/// Scales: powers of two from 2^low to 2^high with integers, otherwise reals in that range.
void fill_scales(Filler& filler, size_t input, int low, int high) {
  for (float& element : filler.elements(input)) {
    const float power = filler.integers() ? static_cast<float>(filler.rng().integer(low, high))
                                          : filler.rng().uniform(static_cast<float>(low), static_cast<float>(high));
    element = std::exp2(power);
  }
}

constexpr int64_t kLargestByte = 255, kSmallestSigned = -128, kLargestSigned = 127, kLargestZero = 9;

void fill_zero_within(Filler& filler, size_t input, int low, int high) {
  filler.integers(input, low + (high - low) / 4, high - (high - low) / 4);
}

/// Sets the output's scale so that sums of n products of 8-bit integers cover its range: they are about 2^14 sqrt(n).
void set_output_scale(Filler& filler, size_t input, double terms, double scale) {
  constexpr double kProduct = 0x1p13, kSpread = 64;
  const double exponent = std::log2(scale * kProduct * std::sqrt(terms) / kSpread);
  filler.set(input, 0, static_cast<float>(std::exp2(filler.integers() ? std::round(exponent) : exponent)));
}

/// The inputs of a quantized product: x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero.
void fill_quantized_product(Filler& filler, double terms, int low, int high) {
  filler.integers(0, 0, kLargestByte);
  fill_scales(filler, 1, -6, -5);
  filler.integers(2, 0, kLargestByte);
  filler.integers(3, kSmallestSigned, kLargestSigned);
  fill_scales(filler, 4, -8, -6);
  filler.integers(5, -kLargestZero, kLargestZero);
  set_output_scale(filler, 6, terms, 0x1p-12);
  fill_zero_within(filler, 7, low, high);
}

double terms_of_filters(const Shape& w) { return static_cast<double>(w[1] * w[2] * w[3]); }

}  // namespace

/// Indices point to distinct elements of their own channel.
void fill(const MaxUnpoolOp& op, Filler& filler) {
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

void fill(const GatherOp& op, Filler& filler) {
  filler.numbers(0, 100);
  fill_indices(filler, 1, axis_size(filler, op.axis));
}

void fill(const GatherElementsOp& op, Filler& filler) {
  filler.numbers(0, 100);
  fill_indices(filler, 1, axis_size(filler, op.axis));
}

void fill(const GatherNdOp& op, Filler& filler) {
  filler.numbers(0, 100);
  const int64_t length = filler.shape(1).back();
  for (size_t i = 0; i < filler.elements(1).size(); ++i) {
    const int64_t size = filler.shape(0)[static_cast<size_t>(op.batch_dims + static_cast<int64_t>(i) % length)];
    filler.set(1, i, either_end(filler.rng().integer(0, size - 1), size, filler.rng()));
  }
}

/// Without a reduction, the indices along the axis are distinct, as far as there are enough elements.
void fill(const ScatterElementsOp& op, Filler& filler) {
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

/// Likewise: without a reduction, each row of indices selects another part of x, as far as there are enough.
void fill(const ScatterNdOp& op, Filler& filler) {
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

/// Half of the integers are halfway between two quantized values.
void fill(const QuantizeOp& op, Filler& filler) {
  filler.integers() ? filler.integers(0, -kLargestByte, kLargestByte) : filler.reals(0, -40, 40);
  fill_scales(filler, 1, filler.integers() ? 1 : -3, filler.integers() ? 1 : -1);
  if (filler.count() > 2) fill_zero_within(filler, 2, op.low, op.high);
}

void fill(const DequantizeOp&, Filler& filler) {
  filler.integers(0, 0, kLargestByte);
  fill_scales(filler, 1, -6, -1);
  if (filler.count() > 2) filler.integers(2, 0, kLargestByte);
}

void fill(const QLinearConvOp& op, Filler& filler) {
  fill_quantized_product(filler, terms_of_filters(filler.shape(3)), op.low, op.high);
  if (filler.count() > 8) filler.integers(8, -kMostInteger, kMostInteger);
}

void fill(const ConvIntegerOp&, Filler& filler) {
  filler.integers(0, 0, kLargestByte);
  filler.integers(1, kSmallestSigned, kLargestSigned);
  if (filler.count() > 2) filler.integers(2, 0, kLargestByte);
  if (filler.count() > 3) filler.integers(3, -kLargestZero, kLargestZero);
}

void fill(const QLinearMatMulOp& op, Filler& filler) {
  fill_quantized_product(filler, static_cast<double>(filler.shape(0).back()), op.low, op.high);
}

void fill(const MatMulIntegerOp&, Filler& filler) {
  filler.integers(0, 0, kLargestByte);
  filler.integers(1, kSmallestSigned, kLargestSigned);
  if (filler.count() > 2) filler.integers(2, 0, kLargestByte);
  if (filler.count() > 3) filler.integers(3, -kLargestZero, kLargestZero);
}

void fill(const ByteAddOp&, Filler& filler) {
  for (size_t i = 0; i < 2; ++i) filler.integers(i, 0, kLargestByte);
}

void fill(const ByteConvOp&, Filler& filler) {
  filler.integers(0, 0, kLargestByte);
  filler.integers(1, -kLargestSigned, kLargestSigned);
  const auto spread = static_cast<int>(std::lround(std::log2(0x1p7 * std::sqrt(terms_of_filters(filler.shape(1))))));
  fill_scales(filler, 2, -spread - 1, -spread);
  filler.integers(3, -kMostInteger, kMostInteger);
  if (filler.count() > 4) filler.integers(4, 0, kLargestByte);
}

}  // namespace convlab::op_fill
