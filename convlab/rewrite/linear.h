#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "convlab/device/thread_pool.h"
#include "convlab/model/graph.h"

namespace convlab {

// Affine operators of one input, y = A x + b for each image by itself, and what several of them in a row amount to. All
// arithmetic is double.

/// An affine operator in a graph.
struct LinearOp {
  const Node* node = nullptr;
  ValueId from = -1;                 ///< the input that is no constant
  Shape x, y;                        ///< of input and output, the first size being the images
  std::vector<const Tensor*> given;  ///< by input of the node: the constant, or nullptr
};

/// The node as an affine operator on images, or nothing if it is not one: an activation, a maximum, a sum of two
/// computed values, whatever mixes images. `shapes` is by ValueId, as from infer_shapes().
std::optional<LinearOp> linear_op(const Graph& graph, const Node& node, const std::vector<Shape>& shapes);

/// Multiply-adds of one image by the operator's own definition.
double multiply_adds(const LinearOp& step);

/// y[j] = bias[j] + sum over i of weights[i * outputs + j] * x[i]; i and j count an image's elements in row-major
/// order.
struct DenseForm {
  int64_t inputs = 0, outputs = 0;
  std::vector<double> weights, bias;
};

/// The steps, which follow each other, as one matrix.
DenseForm dense_form(const std::vector<LinearOp>& steps, ThreadPool& threads);

/// A convolution without dilation and groups. weights is K C R S; empty if `sizes_only`.
struct ConvForm {
  int64_t k = 1, c = 1, r = 1, s = 1;
  int64_t stride_h = 1, stride_w = 1;
  int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  bool biased = false;
  std::vector<double> weights, bias;

  bool padded() const { return (pad_top | pad_left | pad_bottom | pad_right) != 0; }
  int64_t filter_count() const { return k * c * r * s; }
};

/// The steps as one convolution, or nothing if they cannot be: one of them is no convolution, or zeros around an image
/// in the middle make outputs near the border a different function from the rest. Without weights if `sizes_only`.
std::optional<ConvForm> conv_form(const std::vector<LinearOp>& steps, bool sizes_only);

}  // namespace convlab
