#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace convlab {

enum class ActivationKind { none, relu, leaky_relu, clip, sigmoid, tanh, swish, hard_swish };

/// An elementwise function. leaky_relu: alpha is the slope below 0; clip: min(max(x, alpha), beta), NaN stays NaN.
/// swish: x * sigmoid(x); hard_swish: x * min(max(x + 3, 0), 6) / 6; only kernels of channel_lanes and channel_halves
/// are asked for these two.
struct Activation {
  ActivationKind kind = ActivationKind::none;
  float alpha = 0, beta = 0;

  bool operator==(const Activation&) const = default;

  /// Never decreasing: max-pooling before it gives the same values as after it.
  bool monotonic() const {
    if (kind == ActivationKind::swish || kind == ActivationKind::hard_swish) return false;
    return kind != ActivationKind::leaky_relu || alpha >= 0;
  }
};

enum class PoolKind { max, average };

/// A pooling window over the last two dimensions. Sizes as in ONNX's MaxPool and AveragePool.
struct Pool {
  PoolKind kind = PoolKind::max;
  int64_t kernel_h = 1, kernel_w = 1;
  int64_t stride_h = 1, stride_w = 1;
  int64_t dilation_h = 1, dilation_w = 1;
  int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  bool ceil_mode = false;
  bool count_include_pad = false;  ///< average only: divide by the whole window, padding included

  bool operator==(const Pool&) const = default;

  /// Output height and width for an input of h by w. With ceil_mode a last window that would begin in the right or
  /// bottom padding is dropped, as ONNX (since opset 19), ONNX Runtime and PyTorch do.
  int64_t output_h(int64_t h) const;
  int64_t output_w(int64_t w) const;

  /// The course's pooling: maxima of disjoint 2x2 squares.
  bool is_max_2x2() const {
    return *this == Pool{.kind = PoolKind::max, .kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2};
  }
};

/// What a fused convolution step does after the sum, in this order: add a bias to each map, pool, apply the activation.
/// A graph whose activation comes before its max-pooling has this form, too, if the activation is monotonic.
struct Epilogue {
  bool bias = false;
  std::optional<Pool> pool;
  Activation activation;

  bool operator==(const Epilogue&) const = default;
  bool empty() const { return !bias && !pool && activation.kind == ActivationKind::none; }
};

/// "bias+max2x2/2+tanh"; "" for an empty epilogue.
std::string to_text(const Epilogue& epilogue);
std::string to_text(const Activation& activation);
std::string to_text(const Pool& pool);

}  // namespace convlab
