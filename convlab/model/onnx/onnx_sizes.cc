// Reshapes and expansions to sizes that may depend on the batch size.

#include "convlab/model/onnx/onnx_sizes.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "convlab/base/checked.h"
#include "convlab/model/onnx/onnx_images.h"

namespace convlab {
namespace {

/// Returns the size inferred for -1, for this batch size.
int64_t inferred_size(const std::vector<OnnxSize>& sizes, const ByTrial<Shape>& shapes, int64_t images) {
  const Shape from = *at_images(shapes, images);
  int64_t others = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int64_t size = *at_images(sizes[i].by_trial, images);
    if (size == 0 && i >= from.size())
      throw bad_input("shape keeps the size of axis {}, but the input has shape {}", i, to_text(from));
    if (size != -1) others = checked_mul(others, size == 0 ? from[i] : size);
  }
  if (others < 1 || element_count(from) % others != 0)
    throw bad_input("the number of elements is not divisible by the product of the other sizes");
  return element_count(from) / others;
}

/// Returns the inferred size if it is known and does not depend on the batch size.
std::optional<int64_t> fixed_inferred_size(const std::vector<OnnxSize>& sizes, const OnnxValue& x) {
  if (!x.shapes) return std::nullopt;
  try {
    const auto rest = [&](int64_t images) { return Shape{inferred_size(sizes, *x.shapes, images)}; };
    const ByTrial<Shape> rests{rest(kTrialImages[0]), rest(kTrialImages[1])};
    return rests[0] == rests[1] && is_linear(rests, rest) ? std::optional(rests[0][0]) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

ReshapeOp reshape_to(const std::vector<OnnxSize>& sizes, const OnnxValue& x) {
  ReshapeOp op;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i].fixed()) {
      op.shape.push_back(sizes[i].value());
      continue;
    }
    const bool kept = x.shapes && i < (*x.shapes)[0].size() &&
                      ByTrial<int64_t>{(*x.shapes)[0][i], (*x.shapes)[1][i]} == sizes[i].by_trial;
    op.shape.push_back(kept ? 0 : -1);
  }
  if (std::ranges::count(op.shape, -1) < 2) return op;
  const auto left = std::ranges::find(sizes, ByTrial<int64_t>{-1, -1}, &OnnxSize::by_trial);
  if (left == sizes.end()) return op;
  op.shape[static_cast<size_t>(left - sizes.begin())] = fixed_inferred_size(sizes, x).value_or(-1);
  return op;
}

OnnxRecipe::Value add_expansion(OnnxRecipe& recipe, OnnxRecipe::Value value, const std::vector<OnnxSize>& sizes) {
  ExpandOp op;
  std::vector<OnnxRecipe::Value> operands{value};
  for (const OnnxSize& size : sizes) {
    op.shape.push_back(size.fixed() ? size.value() : ExpandOp::kImages);
    if (size.fixed()) continue;
    const bool first = operands.size() == 1;
    if (size.per_image() == 0 || !(first || op.per_image == size.per_image())) {
      throw open_size("a size depends on the batch size but is not a multiple of it");
    }
    op.per_image = size.per_image();
    if (first) operands.push_back(OnnxRecipe::kImages);
  }
  return recipe.add(std::move(op), std::move(operands));
}

}  // namespace convlab
