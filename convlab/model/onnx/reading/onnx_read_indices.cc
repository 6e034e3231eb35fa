// Readers of gather and scatter operators, for each opset.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/model/onnx/onnx.pb.h"
#include "convlab/model/onnx/onnx_tensor.h"
#include "convlab/model/onnx/reading/onnx_readers.h"
#include "convlab/model/onnx/reading/onnx_sizes.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

/// Translates a node to one operator with this many operands. The second operand has the indices.
template <class One>
OnnxMeaning read_indexed(const OnnxNode& node, size_t operands, One op) {
  node.check_inputs(operands, operands);
  const OnnxValue& indices = node.input(1);
  if (indices.type != ElementType::i64 && indices.type != ElementType::i32) {
    throw bad_input("indices '{}' must be int64 or int32, got {}", printable(indices.name),
                    onnx_type_name(indices.onnx_type));
  }
  return OnnxComputed{std::move(op), operands};
}

/// Whether the list of indices, which depends on the batch size, is all indices along the axis in order.
bool takes_all_in_order(const OnnxNode& node, int64_t axis) {
  const OnnxValue& indices = node.input(1);
  if (!indices.trial || !node.input(0).shapes) return false;
  for (size_t trial = 0; trial < kTrialImages.size(); ++trial) {
    const Tensor wide = converted((*indices.trial)[trial], ElementType::i64);
    if (wide.count() != node.size_along(0, axis).by_trial[trial]) return false;
    int64_t place = 0;
    for (const int64_t index : wide.values<int64_t>()) {
      if (index != place++) return false;
    }
  }
  return true;
}

/// PyTorch's as_strided becomes a Gather. For an array in its original order, it is only a reshape.
OnnxMeaning read_gather(const OnnxNode& node) {
  const GatherOp op{node.integer("axis", 0)};
  OnnxMeaning meaning = read_indexed(node, 2, op);
  if (!takes_all_in_order(node, op.axis)) return meaning;
  const auto& indices = *node.input(1).shapes;
  const int64_t axis = normalized_axis(op.axis, node.rank(0));
  std::vector<OnnxSize> sizes;
  for (int64_t i = 0; i < node.rank(0); ++i) {
    if (i != axis) sizes.push_back(node.size_along(0, i));
    for (size_t k = 0; i == axis && k < indices[0].size(); ++k) sizes.push_back({{indices[0][k], indices[1][k]}});
  }
  return OnnxComputed{reshape_to(sizes, node.input(0))};
}
OnnxMeaning read_gather_elements(const OnnxNode& node) {
  return read_indexed(node, 2, GatherElementsOp{node.integer("axis", 0)});
}
OnnxMeaning read_gather_nd(const OnnxNode& node) {
  return read_indexed(node, 2, GatherNdOp{node.opset() < 12 ? 0 : node.integer("batch_dims", 0)});
}

ScatterReduction read_reduction(const OnnxNode& node) {
  const std::string name = node.opset() < 16 ? "none" : node.text("reduction", "none");
  if (name == "none") return ScatterReduction::none;
  if (name == "add") return ScatterReduction::add;
  if (name == "mul") return ScatterReduction::mul;
  if (name == "max") return ScatterReduction::max;
  if (name == "min") return ScatterReduction::min;
  throw bad_input("reduction '{}' is not supported; supported: none, add, mul, max, min", name);
}

OnnxMeaning read_scatter_elements(const OnnxNode& node) {
  const ScatterElementsOp op{.axis = node.integer("axis", 0), .reduction = read_reduction(node)};
  return read_indexed(node, 3, op);
}

OnnxMeaning read_scatter_nd(const OnnxNode& node) { return read_indexed(node, 3, ScatterNdOp{read_reduction(node)}); }

/// Along a new axis of size `depth`, selects one value at the index and another elsewhere, by comparisons. Negative
/// indices count from the end; an index out of range selects nothing.
OnnxMeaning read_one_hot(const OnnxNode& node) {
  constexpr float kMostDepth = 1 << 20;
  node.check_inputs(3, 3);
  const float depth = std::trunc(node.constant_real(1, "depth", 0));
  if (!(depth >= 1 && depth <= kMostDepth))
    throw bad_input("depth must be between 1 and {}, got {}", kMostDepth, depth);
  const int64_t rank = node.rank(0), places = static_cast<int64_t>(depth);
  const int64_t axis = normalized_axis(node.integer("axis", -1), rank + 1);
  Shape shape(static_cast<size_t>(rank + 1 - axis), 1);
  shape[0] = places;
  std::vector<int64_t> from_front(static_cast<size_t>(places)), from_end(from_front.size());
  std::iota(from_front.begin(), from_front.end(), int64_t{0});
  std::iota(from_end.begin(), from_end.end(), -places);
  OnnxRecipe recipe(3);
  const auto is = [&](OnnxRecipe::Value indices, const std::vector<int64_t>& numbers) {
    const OnnxRecipe::Value all = recipe.constant(Tensor::of<int64_t>(shape, numbers));
    return recipe.add(BinaryOp{BinaryKind::equal}, {indices, all}, onnx::TensorProto::BOOL);
  };
  const OnnxRecipe::Value indices = recipe.add(UnsqueezeOp{{axis}}, {0});
  const OnnxRecipe::Value first = is(indices, from_front), second = is(indices, from_end);
  const OnnxRecipe::Value hot = recipe.add(BinaryOp{BinaryKind::logical_or}, {first, second}, onnx::TensorProto::BOOL);
  const OnnxRecipe::Value off = recipe.add(SliceOp{.starts = {0}, .ends = {1}}, {2});
  const OnnxRecipe::Value on = recipe.add(SliceOp{.starts = {1}, .ends = {2}}, {2});
  recipe.give(recipe.add(WhereOp{}, {hot, on, off}, node.input(2).onnx_type));
  return recipe;
}

constexpr OnnxEntry kIndexReaders[] = {
    {"Gather", read_gather},
    {"GatherElements", read_gather_elements},
    {"GatherND", read_gather_nd},
    {"OneHot", read_one_hot},
    {"Scatter", read_scatter_elements},
    {"ScatterElements", read_scatter_elements},
    {"ScatterND", read_scatter_nd},
};

}  // namespace

std::span<const OnnxEntry> onnx_index_readers() { return kIndexReaders; }

}  // namespace convlab
