// Resize and GridSample.

#include <algorithm>
#include <cmath>

#include "convlab/base/error.h"
#include "convlab/model/op_info.h"
#include "convlab/model/op_rules.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

const std::vector<std::string> kSampleModes{"nearest", "linear", "cubic"};

/// Uses one scale for all axes that have sizes, so that the result is not larger, or not smaller, than these sizes.
void keep_aspect_ratio(AspectRatio rule, const Shape& x, const std::vector<size_t>& axes,
                       std::vector<ResizedAxis>& resized) {
  float scale = resized[axes[0]].scale;
  for (size_t axis : axes) {
    const float other = resized[axis].scale;
    scale = rule == AspectRatio::not_larger ? std::min(scale, other) : std::max(scale, other);
  }
  for (size_t axis : axes) {
    resized[axis].scale = scale;
    resized[axis].length = scale * static_cast<float>(x[axis]);
    resized[axis].size = std::llround(resized[axis].length);
  }
}

}  // namespace

std::vector<ResizedAxis> resized_axes(const ResizeOp& op, const Shape& x) {
  std::vector<ResizedAxis> resized;
  for (int64_t size : x) {
    check_range("the input size", size, 1);
    resized.push_back({.size = size, .length = static_cast<float>(size)});
  }
  marked(op.axes, std::ssize(x));
  std::vector<size_t> axes;
  for (int64_t axis : op.axes) axes.push_back(static_cast<size_t>(normalized_axis(axis, std::ssize(x))));
  for (size_t i = 0; op.axes.empty() && i < x.size(); ++i) axes.push_back(i);
  if (op.scales.empty() == op.sizes.empty()) throw bad_input("exactly one of scales and sizes must be set");
  if (std::max(op.scales.size(), op.sizes.size()) != axes.size()) {
    throw bad_input("expected {} scales or sizes, one for each axis, got {}", axes.size(),
                    std::max(op.scales.size(), op.sizes.size()));
  }
  const bool crops = op.coordinates == ResizeCoordinates::tf_crop_and_resize;
  if (crops && op.roi.size() != 2 * axes.size()) {
    throw bad_input("roi must have two numbers for each of {} axes, got {}", axes.size(), op.roi.size());
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizedAxis& axis = resized[axes[i]];
    const auto size = static_cast<float>(x[axes[i]]);
    if (op.sizes.empty()) {
      const float scale = op.scales[i];
      if (!(scale > 0 && scale * size < static_cast<float>(kMostSize))) {
        throw bad_input("cannot scale axis {} of {} elements by {}", axes[i], x[axes[i]], scale);
      }
      axis = {.size = static_cast<int64_t>(std::floor(size * scale)), .scale = scale, .length = size * scale};
    } else {
      check_range("a size", op.sizes[i], 1);
      const auto length = static_cast<float>(op.sizes[i]);
      axis = {.size = op.sizes[i], .scale = length / size, .length = length};
    }
    if (!crops) continue;
    axis.roi_start = op.roi[i];
    axis.roi_end = op.roi[axes.size() + i];
    if (!std::isfinite(axis.roi_start) || !std::isfinite(axis.roi_end)) {
      throw bad_input("roi must be finite, got {} and {}", axis.roi_start, axis.roi_end);
    }
  }
  if (op.aspect_ratio != AspectRatio::stretch && !op.sizes.empty()) {
    keep_aspect_ratio(op.aspect_ratio, x, axes, resized);
  }
  for (size_t axis : axes) resized[axis].changes = crops || resized[axis].scale != 1;
  return resized;
}

template <>
struct OpInfo<ResizeOp> {
  static const char* name(const ResizeOp&) { return "Resize"; }
  static constexpr Arity kInputs{1, 1};
  static Shape shape(const ResizeOp& op, Shapes inputs) {
    Shape y;
    for (const ResizedAxis& axis : resized_axes(op, inputs[0])) {
      check_range("the output size", axis.size, 1);
      y.push_back(axis.size);
    }
    return y;
  }
  static bool mixes_images(const ResizeOp& op, const SplitOperands& inputs) {
    return resized_axes(op, inputs[0].shape)[0].changes;
  }
  static void fields(OpFields& to, ResizeOp& op) {
    to.add("scales", op.scales);
    to.add("sizes", op.sizes);
    to.add("axes", op.axes);
    to.add_choice(op.mode, kSampleModes);
    to.add_choice(op.coordinates, {"halfpixel", "halfpixelsymmetric", "pytorchhalfpixel", "aligncorners", "asymmetric",
                                   "tfhalfpixelfornn", "tfcropandresize"});
    to.add_choice(op.nearest, {"roundpreferfloor", "roundpreferceil", "floor", "ceil", "simple"});
    to.add_choice(op.aspect_ratio, {"stretch", "notlarger", "notsmaller"});
    to.add("cubiccoeffa", op.cubic_coeff_a);
    to.add_flag("excludeoutside", op.exclude_outside);
    to.add_flag("antialias", op.antialias);
    to.add("extrapolation", op.extrapolation_value);
    to.add("roi", op.roi);
  }
  static std::vector<NamedOp> names() { return {{"resize", ResizeOp{}, &kImageLetters}}; }
};

template <>
struct OpInfo<GridSampleOp> {
  static const char* name(const GridSampleOp&) { return "GridSample"; }
  static constexpr Arity kInputs{2, 2};
  static constexpr auto usually_constant = kNone;
  static Shape shape(const GridSampleOp&, Shapes inputs) {
    const Shape &x = inputs[0], &grid = inputs[1];
    check_image(x);
    for (int64_t size : {x[2], x[3]}) check_range("the image size", size, 1);
    if (grid.size() != 4 || grid[0] != x[0] || grid[3] != 2) {
      throw bad_input("grid of shape {} does not match input of shape {}; expected N x H x W x 2", to_text(grid),
                      to_text(x));
    }
    return {x[0], x[1], grid[1], grid[2]};
  }
  static constexpr auto mixes_images = kNever;
  static void fields(OpFields& to, GridSampleOp& op) {
    to.add_choice(op.mode, kSampleModes);
    to.add_choice(op.padding, {"zeros", "border", "reflection"});
    to.add_flag("aligncorners", op.align_corners);
  }
  static std::vector<NamedOp> names() { return {{"gridsample", GridSampleOp{}}}; }
};

template <>
std::vector<OpEntry> OpEntry::rows<SamplingOps>() {
  return rows_of<OpEntry>(SamplingOps());
}

}  // namespace convlab
