#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "convlab/device/thread_pool.h"
#include "convlab/model/graph.h"

namespace convlab {

// Affine operators with one input, y = A x + b for each image separately, and compositions of several in a row. All
// arithmetic is in double.

/// An affine operator in a graph.
struct LinearOp {
  const Node* node = nullptr;
  ValueId from = -1;                 ///< the input that is not a constant
  Shape x, y;                        ///< shapes of input and output; the first size is the number of images
  std::vector<const Tensor*> given;  ///< by input of the node: the constant, or nullptr
};

/// Returns the node as an affine operator on images. Returns nullopt if it is not one: an activation, a maximum, a sum
/// of two computed values, or any operator that mixes images. `shapes` is by ValueId, from infer_shapes().
std::optional<LinearOp> linear_op(const Graph& graph, const Node& node, const std::vector<Shape>& shapes);

/// Returns the multiply-adds for one image if the operator is computed directly.
double multiply_adds(const LinearOp& step);

/// A dense layer: y[j] = bias[j] + sum over i of weights[i * outputs + j] * x[i]; i and j are row-major indices of an
/// image's elements.
struct DenseForm {
  int64_t inputs = 0, outputs = 0;
  std::vector<double> weights, bias;
};

/// Returns consecutive steps as one matrix.
DenseForm dense_form(const std::vector<LinearOp>& steps, ThreadPool& threads);

/// A convolution without dilation and groups. `weights` is K C R S; empty if `sizes_only`.
struct ConvForm {
  int64_t k = 1, c = 1, r = 1, s = 1;
  int64_t stride_h = 1, stride_w = 1;
  int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  bool biased = false;
  std::vector<double> weights, bias;

  bool padded() const { return (pad_top | pad_left | pad_bottom | pad_right) != 0; }
  int64_t filter_count() const { return k * c * r * s; }
};

/// Returns the steps as one convolution. Returns nullopt if that is not possible: one of them is not a convolution, or
/// zero padding between two of them gives outputs near the border a different function. Without weights if
/// `sizes_only`.
std::optional<ConvForm> conv_form(const std::vector<LinearOp>& steps, bool sizes_only);

}  // namespace convlab
