// Resize and GridSample in ONNX, for each opset.

#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/model/graph_limits.h"
#include "convlab/model/onnx/onnx_images.h"
#include "convlab/model/onnx/ops/onnx_op.h"

namespace convlab {
namespace {

template <class Choice>
Choice choice(const OnnxNode& node, std::string_view name, std::string_view otherwise,
              std::initializer_list<std::pair<std::string_view, Choice>> choices) {
  const std::string text = node.text(name, otherwise);
  std::vector<std::string_view> names;
  for (const auto& [key, value] : choices) {
    if (key == text) return value;
    names.push_back(key);
  }
  throw bad_input("{} '{}' is not supported; supported: {}", name, text, fmt::join(names, ", "));
}

SampleMode read_sample_mode(const OnnxNode& node, std::string_view otherwise) {
  return choice<SampleMode>(node, "mode", otherwise,
                            {{"nearest", SampleMode::nearest},
                             {"linear", SampleMode::linear},
                             {"bilinear", SampleMode::linear},
                             {"cubic", SampleMode::cubic},
                             {"bicubic", SampleMode::cubic}});
}

std::vector<float> constant_reals(const OnnxNode& node, size_t i, std::string_view what) {
  if (!node.has_input(i)) return {};
  const Tensor tensor = converted(node.constant(i, what), ElementType::f32);
  constexpr int64_t kMost = 2 * static_cast<int64_t>(kMostRank);
  if (tensor.count() > kMost) throw bad_input("{} must have at most {} values, got {}", what, kMost, tensor.count());
  const auto values = tensor.values<float>();
  return {values.begin(), values.end()};
}

OnnxMeaning read_upsample(const OnnxNode& node) {
  node.check_inputs(node.opset() < 9 ? 1 : 2, node.opset() < 9 ? 1 : 2);
  ResizeOp op{.mode = read_sample_mode(node, "nearest"),
              .coordinates = ResizeCoordinates::asymmetric,
              .nearest = NearestRule::floor};
  op.scales = node.opset() < 9 ? node.reals("scales") : constant_reals(node, 1, "scales");
  return OnnxComputed{op};
}

/// Reads the sizes of a Resize. It changes nothing along axes that keep their size, so the batch size need not be
/// known.
void read_sizes(const OnnxNode& node, ResizeOp& op) {
  const std::vector<OnnxSize> sizes = node.sizes(3, "sizes");
  std::vector<int64_t> axes = op.axes;
  if (axes.empty()) {
    for (size_t i = 0; i < sizes.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  }
  if (axes.size() != sizes.size())
    throw bad_input("the number of sizes ({}) must match the number of axes ({})", sizes.size(), axes.size());
  op.axes.clear();
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!sizes[i].fixed()) {
      if (node.size_along(0, axes[i]).by_trial == sizes[i].by_trial) continue;
      throw open_size("the size of axis {} depends on the batch size", axes[i]);
    }
    op.axes.push_back(axes[i]);
    op.sizes.push_back(sizes[i].value());
  }
}

OnnxMeaning read_resize(const OnnxNode& node) {
  ResizeOp op{.mode = read_sample_mode(node, "nearest")};
  if (node.opset() < 11) {
    node.check_inputs(2, 2);
    op.coordinates = ResizeCoordinates::asymmetric;
    op.nearest = NearestRule::simple;
    op.scales = constant_reals(node, 1, "scales");
    return OnnxComputed{op};
  }
  node.check_inputs(node.opset() < 13 ? 3 : 1, 4);
  op.coordinates = choice<ResizeCoordinates>(node, "coordinate_transformation_mode", "half_pixel",
                                             {{"half_pixel", ResizeCoordinates::half_pixel},
                                              {"half_pixel_symmetric", ResizeCoordinates::half_pixel_symmetric},
                                              {"pytorch_half_pixel", ResizeCoordinates::pytorch_half_pixel},
                                              {"align_corners", ResizeCoordinates::align_corners},
                                              {"asymmetric", ResizeCoordinates::asymmetric},
                                              {"tf_half_pixel_for_nn", ResizeCoordinates::tf_half_pixel_for_nn},
                                              {"tf_crop_and_resize", ResizeCoordinates::tf_crop_and_resize}});
  op.nearest = choice<NearestRule>(node, "nearest_mode", "round_prefer_floor",
                                   {{"round_prefer_floor", NearestRule::round_prefer_floor},
                                    {"round_prefer_ceil", NearestRule::round_prefer_ceil},
                                    {"floor", NearestRule::floor},
                                    {"ceil", NearestRule::ceil}});
  op.cubic_coeff_a = node.real("cubic_coeff_a", -0.75f);
  op.exclude_outside = node.flag("exclude_outside", false);
  op.extrapolation_value = node.real("extrapolation_value", 0);
  if (node.opset() >= 18) {
    op.antialias = node.flag("antialias", false);
    op.axes = node.integers("axes");
    op.aspect_ratio = choice<AspectRatio>(node, "keep_aspect_ratio_policy", "stretch",
                                          {{"stretch", AspectRatio::stretch},
                                           {"not_larger", AspectRatio::not_larger},
                                           {"not_smaller", AspectRatio::not_smaller}});
  }
  if (op.coordinates == ResizeCoordinates::tf_crop_and_resize) op.roi = constant_reals(node, 1, "roi");
  op.scales = constant_reals(node, 2, "scales");
  if (op.scales.empty()) read_sizes(node, op);
  return OnnxComputed{op};
}

const char* text_of(SampleMode mode) {
  constexpr const char* kTexts[] = {"nearest", "linear", "cubic"};
  return kTexts[static_cast<int>(mode)];
}

/// Returns a Resize of only the axes that shrink. Axes that shrink and axes that grow need different rounding rules.
ResizeOp shrinking_part(const ResizeOp& op) {
  ResizeOp part = op;
  for (float& scale : part.scales) scale = std::min(scale, 1.0f);
  part.nearest = NearestRule::ceil;
  return part;
}

ResizeOp growing_part(const ResizeOp& op) {
  ResizeOp part = op;
  for (float& scale : part.scales) scale = std::max(scale, 1.0f);
  part.nearest = NearestRule::floor;
  return part;
}

}  // namespace

template <>
struct OnnxOp<ResizeOp> {
  static OnnxReaders readers() { return {{"Resize", read_resize}, {"Upsample", read_upsample}}; }
  static void write(OnnxNodeWriter& node, const ResizeOp& op) {
    if (op.nearest == NearestRule::simple) {
      const bool shrinks =
          op.mode == SampleMode::nearest && std::ranges::any_of(op.scales, [](float s) { return s < 1; });
      const bool grows = std::ranges::any_of(op.scales, [](float s) { return s > 1; });
      if (!shrinks) return write(node, growing_part(op));
      if (!grows) return write(node, shrinking_part(op));
      const std::string between = node.file().fresh(node.file().name(node.node().output) + ".shrunk");
      OnnxNodeWriter before(node.file(), node.node());
      write(before, shrinking_part(op));
      before.done_as(between);
      node.operand_as(between);
      return write(node, growing_part(op));
    }
    constexpr const char* kCoordinates[] = {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                                            "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"};
    constexpr const char* kNearest[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
    constexpr const char* kRatios[] = {"stretch", "not_larger", "not_smaller"};
    node.need_opset(21);
    node.text("mode", text_of(op.mode));
    node.text("coordinate_transformation_mode", kCoordinates[static_cast<int>(op.coordinates)]);
    if (op.mode == SampleMode::nearest) node.text("nearest_mode", kNearest[static_cast<int>(op.nearest)]);
    if (op.mode == SampleMode::cubic) node.real("cubic_coeff_a", op.cubic_coeff_a);
    if (op.aspect_ratio != AspectRatio::stretch) {
      node.text("keep_aspect_ratio_policy", kRatios[static_cast<int>(op.aspect_ratio)]);
    }
    if (op.exclude_outside) node.integer("exclude_outside", 1);
    if (op.antialias) node.integer("antialias", 1);
    if (op.extrapolation_value != 0) node.real("extrapolation_value", op.extrapolation_value);
    if (!op.axes.empty()) node.integers("axes", op.axes);
    if (op.roi.empty()) {
      node.no_input();
    } else {
      node.reals_input("roi", op.roi);
    }
    if (!op.scales.empty()) return node.reals_input("scales", op.scales);
    node.no_input();
    node.integer_input("sizes", op.sizes);
  }
};

template <>
struct OnnxOp<GridSampleOp> {
  static OnnxMeaning read(const OnnxNode& node) {
    return read_plain(node, 2,
                      GridSampleOp{.mode = read_sample_mode(node, node.opset() < 20 ? "bilinear" : "linear"),
                                   .padding = choice<SamplePadding>(node, "padding_mode", "zeros",
                                                                    {{"zeros", SamplePadding::zeros},
                                                                     {"border", SamplePadding::border},
                                                                     {"reflection", SamplePadding::reflection}}),
                                   .align_corners = node.flag("align_corners", false)});
  }
  static OnnxReaders readers() { return {{"GridSample", read}}; }
  static void write(OnnxNodeWriter& node, const GridSampleOp& op) {
    constexpr const char* kPaddings[] = {"zeros", "border", "reflection"};
    node.need_opset(21);
    node.text("mode", text_of(op.mode));
    node.text("padding_mode", kPaddings[static_cast<int>(op.padding)]);
    node.integer("align_corners", op.align_corners);
  }
};

template <>
std::vector<OnnxOpEntry> OnnxOpEntry::rows<SamplingOps>() {
  return rows_of<OnnxOpEntry>(SamplingOps());
}

}  // namespace convlab
