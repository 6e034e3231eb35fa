#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace convlab {

enum class ActivationKind { none, relu, leaky_relu, clip, sigmoid, tanh, swish, hard_swish };

/// An elementwise function. leaky_relu: alpha is the slope below 0; clip: min(max(x, alpha), beta), NaN stays NaN.
/// swish: x * sigmoid(x); hard_swish: x * min(max(x + 3, 0), 6) / 6. Only kernels of nchw8c and nhwc get the last two.
struct Activation {
  ActivationKind kind = ActivationKind::none;
  float alpha = 0, beta = 0;

  bool operator==(const Activation&) const = default;

  /// Whether the function never decreases, so that max pooling before it and after it returns the same values.
  bool monotonic() const {
    if (kind == ActivationKind::swish || kind == ActivationKind::hard_swish) return false;
    return kind != ActivationKind::leaky_relu || alpha >= 0;
  }
};

enum class PoolKind { max, average };

/// A pooling window over the last two dimensions, with the attributes of ONNX's MaxPool and AveragePool.
struct Pool {
  PoolKind kind = PoolKind::max;
  int64_t kernel_h = 1, kernel_w = 1;
  int64_t stride_h = 1, stride_w = 1;
  int64_t dilation_h = 1, dilation_w = 1;
  int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  bool ceil_mode = false;
  bool count_include_pad = false;  ///< average only: divide by the whole window, padding included

  bool operator==(const Pool&) const = default;

  /// Return the output height for input height h, and the output width for input width w. With ceil_mode, a last window
  /// that would begin in the right or bottom padding is dropped, as in ONNX (since opset 19), ONNX Runtime and PyTorch.
  int64_t output_h(int64_t h) const;
  int64_t output_w(int64_t w) const;

  /// Whether this is the course's pooling: maxima of disjoint 2x2 windows.
  bool is_max_2x2() const {
    return *this == Pool{.kind = PoolKind::max, .kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2};
  }
};

/// The epilogue of a fused convolution step, in this order: add a bias to each output channel, pool, apply the
/// activation. A graph whose activation precedes max pooling also has this form if the activation is monotonic.
struct Epilogue {
  bool bias = false;
  std::optional<Pool> pool;
  Activation activation;

  bool operator==(const Epilogue&) const = default;
  bool empty() const { return !bias && !pool && activation.kind == ActivationKind::none; }
};

/// Returns "bias+max2x2/2+tanh"; "" for an empty epilogue.
std::string to_text(const Epilogue& epilogue);
std::string to_text(const Activation& activation);
std::string to_text(const Pool& pool);

}  // namespace convlab
