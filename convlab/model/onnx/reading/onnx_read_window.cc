// Readers of convolution, pooling and sampling, for each opset.

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/model/limits.h"
#include "convlab/model/onnx/onnx.pb.h"
#include "convlab/model/onnx/onnx_tensor.h"
#include "convlab/model/onnx/reading/onnx_images.h"
#include "convlab/model/onnx/reading/onnx_readers.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

constexpr auto kMaskType = onnx::TensorProto::BOOL;

/// Two sizes. For a one-dimensional window, h is 1, or 0 for pads.
struct Pair {
  int64_t h, w;
};

/// Reads a list with one number per dimension of the window.
Pair read_pair(const OnnxNode& node, std::string_view name, size_t dimensions, int64_t otherwise, int64_t flat = 1) {
  const std::vector<int64_t> values = node.integers(name);
  if (values.empty()) return {dimensions == 1 ? flat : otherwise, otherwise};
  if (values.size() != dimensions) {
    throw bad_input("attribute '{}' must have {} values (1 per window dimension), got {}", name, dimensions,
                    values.size());
  }
  return {dimensions == 1 ? flat : values[0], values.back()};
}

/// Returns the number of dimensions of a window. Throws unless it is 1 or 2.
size_t window_dimensions(size_t dimensions) {
  if (dimensions != 1 && dimensions != 2) {
    throw bad_input("the window has {} dimensions; only 1 and 2 are supported", dimensions);
  }
  return dimensions;
}

AutoPad read_auto_pad(const OnnxNode& node) {
  const std::string mode = node.text("auto_pad", "NOTSET");
  if (mode == "NOTSET") return AutoPad::explicit_pads;
  if (mode == "SAME_UPPER") return AutoPad::same_upper;
  if (mode == "SAME_LOWER") return AutoPad::same_lower;
  if (mode == "VALID") return AutoPad::valid;
  throw bad_input("auto_pad must be NOTSET, SAME_UPPER, SAME_LOWER or VALID, got '{}'", mode);
}

/// Reads strides, dilations, pads and auto_pad, which convolution and pooling share.
template <class Window>
void read_window(const OnnxNode& node, size_t dimensions, bool dilates, Window& window, AutoPad& auto_pad) {
  const Pair stride = read_pair(node, "strides", dimensions, 1);
  window.stride_h = stride.h, window.stride_w = stride.w;
  std::vector<int64_t> pads = node.integers("pads");
  if (!pads.empty() && pads.size() != 2 * dimensions) {
    throw bad_input("attribute 'pads' must have {} values (2 per window dimension), got {}", 2 * dimensions,
                    pads.size());
  }
  if (pads.size() == 2) pads = {0, pads[0], 0, pads[1]};
  if (pads.size() == 4) {
    window.pad_top = pads[0], window.pad_left = pads[1], window.pad_bottom = pads[2], window.pad_right = pads[3];
  }
  auto_pad = read_auto_pad(node);
  if (!dilates) return;
  const Pair dilation = read_pair(node, "dilations", dimensions, 1);
  window.dilation_h = dilation.h, window.dilation_w = dilation.w;
}

/// Translates an operator with a window. The inputs in `images` have the window's dimensions. A one-dimensional window
/// becomes two-dimensional with a height of 1.
OnnxMeaning windowed(const OnnxNode& node, size_t dimensions, Op op, size_t operands,
                     std::initializer_list<size_t> images, std::optional<int32_t> type = std::nullopt) {
  if (dimensions == 2) return OnnxComputed{std::move(op), operands, type};
  OnnxRecipe recipe(node.input_count());
  std::vector<OnnxRecipe::Value> values;
  for (size_t i = 0; i < operands; ++i) {
    const bool image = std::ranges::find(images, i) != images.end();
    values.push_back(image ? recipe.add(UnsqueezeOp{{2}}, {i}) : i);
  }
  recipe.give(recipe.add(SqueezeOp{{2}}, {recipe.add(std::move(op), values, type)}));
  return recipe;
}

/// Returns the number of window dimensions, from the filter at input `i`. 'kernel_shape', if present, must match the
/// filter.
size_t filter_dimensions(const OnnxNode& node, size_t i) {
  const int64_t rank = node.rank(i);
  const std::vector<int64_t> kernel = node.integers("kernel_shape");
  const size_t dimensions = window_dimensions(static_cast<size_t>(std::max<int64_t>(rank - 2, 0)));
  if (kernel.empty() || !node.input(i).shapes) return dimensions;
  const Shape& filter = (*node.input(i).shapes)[0];
  if (!std::ranges::equal(kernel, std::span(filter).subspan(2))) {
    throw bad_input("attribute 'kernel_shape' ({}) does not match weights '{}' ({})", fmt::join(kernel, "x"),
                    printable(node.input(i).name), to_text(filter));
  }
  return dimensions;
}

ConvOp read_conv_op(const OnnxNode& node, size_t dimensions) {
  ConvOp op;
  read_window(node, dimensions, true, op, op.auto_pad);
  op.groups = node.integer("group", 1);
  return op;
}

OnnxMeaning read_conv(const OnnxNode& node) {
  node.check_inputs(2, 3);
  const size_t dimensions = filter_dimensions(node, 1);
  return windowed(node, dimensions, read_conv_op(node, dimensions), node.input_count(), {0, 1});
}

OnnxMeaning read_conv_transpose(const OnnxNode& node) {
  node.check_inputs(2, 3);
  const size_t dimensions = filter_dimensions(node, 1);
  ConvTransposeOp op;
  read_window(node, dimensions, true, op, op.auto_pad);
  op.groups = node.integer("group", 1);
  const Pair padding = read_pair(node, "output_padding", dimensions, 0, 0);
  op.output_pad_h = padding.h, op.output_pad_w = padding.w;
  const Pair output = read_pair(node, "output_shape", dimensions, 0);
  if (output.w > 0) op.output_h = output.h, op.output_w = output.w;
  return windowed(node, dimensions, op, node.input_count(), {0, 1});
}

OnnxMeaning read_qlinear_conv(const OnnxNode& node) {
  node.check_inputs(8, 9);
  const std::optional<WholeRange> range = whole_range(node.input(7).onnx_type);
  if (!range)
    throw bad_input("output type {} is not supported; use uint8 or int8", onnx_type_name(node.input(7).onnx_type));
  for (const size_t scale : {1, 4, 6}) check_scale(node, scale);
  for (const size_t array : {0, 3}) check_zero(node, array, array + 2);
  const size_t dimensions = filter_dimensions(node, 3);
  const QLinearConvOp op{.conv = read_conv_op(node, dimensions), .low = range->low, .high = range->high};
  return windowed(node, dimensions, op, node.input_count(), {0, 3}, node.input(7).onnx_type);
}

OnnxMeaning read_conv_integer(const OnnxNode& node) {
  node.check_inputs(2, 4);
  const size_t dimensions = filter_dimensions(node, 1);
  if (node.has_input(3) && !node.has_input(2)) throw bad_input("x_zero_point is missing, but w_zero_point is present");
  return windowed(node, dimensions, ConvIntegerOp{read_conv_op(node, dimensions)}, node.input_count(), {0, 1},
                  onnx::TensorProto::INT32);
}

/// Reads a pooling window. Returns its number of dimensions.
size_t read_pool_window(const OnnxNode& node, bool dilates, Pool& pool, AutoPad& auto_pad) {
  const size_t kernel_size = node.integers("kernel_shape").size();
  if (kernel_size == 0) throw bad_input("attribute 'kernel_shape' is missing");
  const size_t dimensions = window_dimensions(kernel_size);
  const Pair kernel = read_pair(node, "kernel_shape", dimensions, 1);
  pool.kernel_h = kernel.h, pool.kernel_w = kernel.w;
  read_window(node, dimensions, dilates, pool, auto_pad);
  return dimensions;
}

OnnxMeaning read_average_pool(const OnnxNode& node) {
  node.check_inputs(1, 1);
  PoolOp op{.pool = {.kind = PoolKind::average}};
  const size_t dimensions = read_pool_window(node, node.opset() >= 19, op.pool, op.auto_pad);
  if (node.opset() >= 10) op.pool.ceil_mode = node.flag("ceil_mode", false);
  op.pool.count_include_pad = node.flag("count_include_pad", false);
  return windowed(node, dimensions, op, 1, {0});
}

OnnxMeaning read_max_pool(const OnnxNode& node) {
  node.check_inputs(1, 1);
  PoolOp op{.pool = {.kind = PoolKind::max}};
  const size_t dimensions = read_pool_window(node, node.opset() >= 10, op.pool, op.auto_pad);
  if (node.opset() >= 10) op.pool.ceil_mode = node.flag("ceil_mode", false);
  const bool columns_first = node.opset() >= 8 && node.flag("storage_order", false);
  if (!node.has_output(1)) return windowed(node, dimensions, op, 1, {0});
  OnnxRecipe recipe(1);
  const OnnxRecipe::Value x = dimensions == 1 ? recipe.add(UnsqueezeOp{{2}}, {0}) : 0;
  const MaxPoolIndicesOp indices{.pool = op.pool, .auto_pad = op.auto_pad, .columns_first = columns_first};
  for (const OnnxRecipe::Value value : {recipe.add(op, {x}), recipe.add(indices, {x}, onnx::TensorProto::INT64)}) {
    recipe.give(dimensions == 1 ? recipe.add(SqueezeOp{{2}}, {value}) : value);
  }
  return recipe;
}

OnnxMeaning read_lp_pool(const OnnxNode& node) {
  node.check_inputs(1, 1);
  LpPoolOp op{.p = node.integer("p", 2)};
  const size_t dimensions = read_pool_window(node, node.opset() >= 18, op.pool, op.auto_pad);
  if (node.opset() >= 18) op.pool.ceil_mode = node.flag("ceil_mode", false);
  return windowed(node, dimensions, op, 1, {0});
}

OnnxMeaning read_max_unpool(const OnnxNode& node) {
  node.check_inputs(2, 3);
  MaxUnpoolOp op;
  AutoPad auto_pad = AutoPad::explicit_pads;
  const size_t dimensions = read_pool_window(node, false, op.pool, auto_pad);
  op.output_shape = node.constant_integers(2, "output_shape");
  if (dimensions == 1 && !op.output_shape.empty()) op.output_shape.insert(op.output_shape.begin() + 2, 1);
  return windowed(node, dimensions, op, 2, {0, 1});
}

/// Translates a global pool to a reduction. The mean of a 4-D input has an operator of its own.
OnnxMeaning read_global_pool(const OnnxNode& node, ReduceKind kind) {
  node.check_inputs(1, 1);
  const int64_t rank = node.rank(0);
  if (rank < 3) throw bad_input("global pooling requires at least 3 dimensions, got {}", rank);
  if (kind == ReduceKind::mean && rank == 4) return OnnxComputed{GlobalAveragePoolOp{}};
  ReduceOp op{.kind = kind};
  for (int64_t axis = 2; axis < rank; ++axis) op.axes.push_back(axis);
  return OnnxComputed{op};
}

OnnxMeaning read_global_average_pool(const OnnxNode& node) { return read_global_pool(node, ReduceKind::mean); }
OnnxMeaning read_global_max_pool(const OnnxNode& node) { return read_global_pool(node, ReduceKind::max); }
OnnxMeaning read_global_lp_pool(const OnnxNode& node) {
  const int64_t p = node.integer("p", 2);
  if (p != 1 && p != 2) throw bad_input("p must be 1 or 2, got {}", p);
  return read_global_pool(node, p == 1 ? ReduceKind::l1 : ReduceKind::l2);
}

OnnxMeaning read_lrn(const OnnxNode& node) {
  return read_plain(node, 1,
                    LrnOp{.alpha = node.real("alpha", 1e-4f),
                          .beta = node.real("beta", 0.75f),
                          .bias = node.real("bias", 1),
                          .size = node.integer("size")});
}

// ---- Sampling ----

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

OnnxMeaning read_grid_sample(const OnnxNode& node) {
  return read_plain(node, 2,
                    GridSampleOp{.mode = read_sample_mode(node, node.opset() < 20 ? "bilinear" : "linear"),
                                 .padding = choice<SamplePadding>(node, "padding_mode", "zeros",
                                                                  {{"zeros", SamplePadding::zeros},
                                                                   {"border", SamplePadding::border},
                                                                   {"reflection", SamplePadding::reflection}}),
                                 .align_corners = node.flag("align_corners", false)});
}

constexpr OnnxEntry kWindowReaders[] = {
    {"AveragePool", read_average_pool},
    {"Conv", read_conv},
    {"ConvInteger", read_conv_integer},
    {"ConvTranspose", read_conv_transpose},
    {"GlobalAveragePool", read_global_average_pool},
    {"GlobalLpPool", read_global_lp_pool},
    {"GlobalMaxPool", read_global_max_pool},
    {"GridSample", read_grid_sample},
    {"LRN", read_lrn},
    {"LpPool", read_lp_pool},
    {"MaxPool", read_max_pool},
    {"MaxUnpool", read_max_unpool},
    {"QLinearConv", read_qlinear_conv},
    {"Resize", read_resize},
    {"Upsample", read_upsample},
};

}  // namespace

std::span<const OnnxEntry> onnx_window_readers() { return kWindowReaders; }

}  // namespace convlab
