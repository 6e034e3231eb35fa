// Rearrangements and slices in ONNX, for each opset.

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/model/onnx/onnx_images.h"
#include "convlab/model/onnx/onnx_sizes.h"
#include "convlab/model/onnx/ops/onnx_op.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

using Proto = onnx::TensorProto;

PadMode read_pad_mode(const OnnxNode& node) {
  const std::string mode = node.text("mode", "constant");
  if (mode == "constant") return PadMode::constant;
  if (mode == "reflect") return PadMode::reflect;
  if (mode == "edge") return PadMode::edge;
  if (mode == "wrap") return PadMode::wrap;
  throw bad_input("mode '{}' is not supported; supported: constant, reflect, edge, wrap", mode);
}

OnnxMeaning read_slice(const OnnxNode& node) {
  SliceOp op;
  if (node.opset() < 10) {
    node.check_inputs(1, 1);
    op = {.starts = node.integers("starts"), .ends = node.integers("ends"), .axes = node.integers("axes")};
    return OnnxComputed{op};
  }
  node.check_inputs(3, 5);
  op.starts = node.constant_integers(1, "starts");
  op.axes = node.constant_integers(3, "axes");
  op.steps = node.constant_integers(4, "steps");
  const std::vector<OnnxSize> ends = node.sizes(2, "ends");
  for (size_t i = 0; i < ends.size(); ++i) {
    if (!ends[i].fixed()) {
      const OnnxSize size = node.size_along(0, i < op.axes.size() ? op.axes[i] : static_cast<int64_t>(i));
      if (!ends[i].covers(size)) throw open_size("ends depend on the batch size");
    }
    op.ends.push_back(ends[i].fixed() ? ends[i].value() : std::numeric_limits<int64_t>::max());
  }
  return OnnxComputed{op};
}

/// Returns the sizes of a Split's outputs.
std::vector<int64_t> read_parts(const OnnxNode& node, int64_t axis) {
  constexpr int64_t kMostParts = 1024;
  std::vector<int64_t> parts =
      node.opset() < 13 ? node.integers("split") : node.constant_integers(1, "split", kMostParts);
  int64_t count = static_cast<int64_t>(node.output_count());
  if (node.opset() >= 18 && node.has("num_outputs")) count = node.integer("num_outputs");
  if (!parts.empty()) return parts;
  const OnnxSize size = node.size_along(0, axis);
  if (!size.fixed()) throw open_size("the size of the split axis depends on the batch size");
  if (count < 1 || count > size.value()) throw bad_input("cannot split {} elements into {} parts", size.value(), count);
  const int64_t each = (size.value() + count - 1) / count;
  parts.assign(static_cast<size_t>(count), each);
  parts.back() = size.value() - each * (count - 1);
  return parts;
}

OnnxMeaning read_split(const OnnxNode& node) {
  node.check_inputs(1, node.opset() < 13 ? 1 : 2);
  const int64_t axis = node.integer("axis", 0);
  const std::vector<int64_t> parts = read_parts(node, axis);
  if (parts.size() < node.output_count())
    throw bad_input("the node splits into {} parts but has {} outputs", parts.size(), node.output_count());
  OnnxRecipe recipe(node.input_count());
  int64_t start = 0;
  for (const int64_t part : parts) {
    if (part < 1) throw bad_input("each part must have at least 1 element, got {}", part);
    recipe.give(recipe.add(SliceOp{.starts = {start}, .ends = {start + part}, .axes = {axis}}, {0}));
    start += part;
  }
  if (node.input(0).shapes && node.size_along(0, axis).value() != start) {
    throw bad_input("the parts have {} elements in total, but the axis has {}", start,
                    node.size_along(0, axis).value());
  }
  return recipe;
}

/// Writes nodes before an Expand that compute its sizes: the batch size times its multiples, plus the fixed sizes.
/// Returns the name of the sizes.
std::string written_sizes(OnnxNodeWriter& node, const ExpandOp& op, const Shape& shape) {
  OnnxWriter& file = node.file();
  const std::string& name = file.name(node.node().output);
  const auto add = [&](const char* op_type, const std::vector<std::string>& inputs, const char* what) {
    onnx::NodeProto before;
    before.set_name(fmt::format("{}.{}", node.node().name, what));
    before.set_op_type(op_type);
    for (const std::string& input : inputs) before.add_input(input);
    before.add_output(file.fresh(fmt::format("{}.{}", name, what)));
    std::string output = before.output(0);
    file.add(std::move(before));
    return output;
  };
  const auto constant = [&](const char* what, const std::vector<int64_t>& values) {
    return file.add_constant(fmt::format("{}.{}", name, what), Proto::INT64,
                             Tensor::of<int64_t>({std::ssize(values)}, values));
  };
  std::vector<int64_t> times, others;
  for (const int64_t size : shape) {
    times.push_back(size == ExpandOp::kImages ? op.per_image : 0);
    others.push_back(size == ExpandOp::kImages ? 0 : size);
  }
  const std::string all = add("Shape", {file.form(node.node().inputs[1], Proto::FLOAT)}, "images_shape");
  const std::string images = add("Gather", {all, constant("first", {0})}, "images");
  const std::string scaled = add("Mul", {images, constant("times", times)}, "scaled");
  return add("Add", {scaled, constant("others", others)}, "sizes");
}

}  // namespace

template <>
struct OnnxOp<ConcatOp> {
  static OnnxMeaning read(const OnnxNode& node) {
    node.check_inputs(std::max<size_t>(node.input_count(), 1), SIZE_MAX);
    return OnnxComputed{ConcatOp{.axis = node.integer("axis")}, node.input_count()};
  }
  static OnnxReaders readers() { return {{"Concat", read}}; }
  static void write(OnnxNodeWriter& node, const ConcatOp& op) { node.integer("axis", op.axis); }
};

template <>
struct OnnxOp<FlattenOp> {
  static OnnxMeaning read(const OnnxNode& node) {
    node.check_inputs(1, 1);
    return OnnxComputed{FlattenOp{.axis = node.integer("axis", 1)}};
  }
  static OnnxReaders readers() { return {{"Flatten", read}}; }
  static void write(OnnxNodeWriter& node, const FlattenOp& op) { node.integer("axis", op.axis); }
};

template <>
struct OnnxOp<ReshapeOp> {
  static OnnxMeaning read(const OnnxNode& node) {
    node.check_inputs(2, 2);
    const std::vector<OnnxSize> sizes = node.sizes(1, "shape");
    const bool allow_zero = node.opset() >= 14 && node.flag("allowzero", false);
    const ReshapeOp op = reshape_to(sizes, node.input(0));
    const bool asks_for_none =
        std::ranges::any_of(sizes, [](const OnnxSize& size) { return size.fixed() && size.value() == 0; });
    if (allow_zero && asks_for_none) {
      throw bad_input("shape {} with allowzero = 1 has no elements; empty tensors are not supported",
                      fmt::join(op.shape, "x"));
    }
    return OnnxComputed{op};
  }
  static OnnxReaders readers() { return {{"Reshape", read}}; }
  static void write(OnnxNodeWriter& node, const ReshapeOp& op) { node.integer_input("shape", op.shape); }
};

template <>
struct OnnxOp<SqueezeOp> {
  static OnnxMeaning read(const OnnxNode& node) { return OnnxComputed{SqueezeOp{.axes = read_axes(node, 13, 1)}}; }
  static OnnxReaders readers() { return {{"Squeeze", read}}; }
  static void write(OnnxNodeWriter& node, const SqueezeOp& op) {
    if (!op.axes.empty()) node.integer_input("axes", op.axes);
  }
};

template <>
struct OnnxOp<UnsqueezeOp> {
  static OnnxMeaning read(const OnnxNode& node) {
    UnsqueezeOp op{.axes = read_axes(node, 13, 1)};
    if (node.opset() < 13 ? !node.has("axes") : !node.has_input(1)) throw bad_input("axes are missing");
    return OnnxComputed{op};
  }
  static OnnxReaders readers() { return {{"Unsqueeze", read}}; }
  static void write(OnnxNodeWriter& node, const UnsqueezeOp& op) { node.integer_input("axes", op.axes); }
};

template <>
struct OnnxOp<TransposeOp> {
  static OnnxMeaning read(const OnnxNode& node) {
    return read_plain(node, 1, TransposeOp{.permutation = node.integers("perm")});
  }
  static OnnxReaders readers() { return {{"Transpose", read}}; }
  static void write(OnnxNodeWriter& node, const TransposeOp& op) {
    if (!op.permutation.empty()) node.integers("perm", op.permutation);
  }
};

template <>
struct OnnxOp<PadOp> {
  static OnnxMeaning read(const OnnxNode& node) {
    PadOp op{.mode = read_pad_mode(node)};
    if (node.opset() < 11) {
      node.check_inputs(1, 1);
      if (!node.has("pads")) throw bad_input("attribute 'pads' is missing");
      op.pads = node.integers("pads");
      op.value = node.real("value", 0);
      return OnnxComputed{op};
    }
    node.check_inputs(2, node.opset() < 18 ? 3 : 4);
    op.pads = node.constant_integers(1, "pads");
    op.value = node.constant_real(2, "constant_value", 0);
    if (!node.has_input(3)) return OnnxComputed{op};

    // Pads for some axes only: the others get 0.
    std::vector<int64_t> axes = node.constant_integers(3, "axes");
    const int64_t rank = node.rank(0);
    if (op.pads.size() != 2 * axes.size())
      throw bad_input("expected {} pads (2 for each axis), got {}", 2 * axes.size(), op.pads.size());
    std::vector<int64_t> pads(static_cast<size_t>(2 * rank));
    std::vector<bool> given(static_cast<size_t>(rank));
    for (size_t i = 0; i < axes.size(); ++i) {
      const size_t axis = static_cast<size_t>(normalized_axis(axes[i], rank));
      if (given[axis]) throw bad_input("axis {} appears twice in axes", axes[i]);
      given[axis] = true;
      pads[axis] = op.pads[i];
      pads[static_cast<size_t>(rank) + axis] = op.pads[axes.size() + i];
    }
    op.pads = std::move(pads);
    return OnnxComputed{op};
  }
  static OnnxReaders readers() { return {{"Pad", read}}; }
  static void write(OnnxNodeWriter& node, const PadOp& op) {
    constexpr const char* kModes[] = {"constant", "reflect", "edge", "wrap"};
    if (op.mode == PadMode::wrap) node.need_opset(21);
    node.text("mode", kModes[static_cast<int>(op.mode)]);
    node.integer_input("pads", op.pads);
    if (op.mode == PadMode::constant) node.real_input("value", op.value);
  }
};

template <>
struct OnnxOp<SliceOp> {
  static OnnxReaders readers() { return {{"Slice", read_slice}, {"Split", read_split}}; }
  static void write(OnnxNodeWriter& node, const SliceOp& op) {
    std::vector<int64_t> axes = op.axes;
    if (axes.empty()) {
      axes.resize(op.starts.size());
      std::iota(axes.begin(), axes.end(), 0);
    }
    node.integer_input("starts", op.starts);
    node.integer_input("ends", op.ends);
    node.integer_input("axes", axes);
    if (!op.steps.empty()) node.integer_input("steps", op.steps);
  }
};

template <>
struct OnnxOp<ExpandOp> {
  static OnnxMeaning read(const OnnxNode& node) {
    node.check_inputs(2, 2);
    std::vector<OnnxSize> sizes = node.sizes(1, "shape");
    const auto& shapes = node.input(0).shapes;
    for (size_t back = 1; shapes && back <= std::min(sizes.size(), (*shapes)[0].size()); ++back) {
      OnnxSize& size = sizes[sizes.size() - back];
      const OnnxSize own = node.size_along(0, -static_cast<int64_t>(back));
      if (!size.fixed() && own.by_trial == size.by_trial) size = {{-1, -1}};
    }
    OnnxRecipe recipe(node.input_count());
    recipe.give(add_expansion(recipe, 0, sizes));
    return recipe;
  }
  static OnnxReaders readers() { return {{"Expand", read}}; }
  static void write(OnnxNodeWriter& node, const ExpandOp& op) {
    Shape shape = op.shape;
    std::ranges::replace(shape, int64_t{-1}, int64_t{1});  // 1 keeps the input's size, too
    if (node.operands_left() == 1) return node.integer_input("shape", shape);
    node.operand();
    node.operand_as(written_sizes(node, op, shape));
  }
};

template <>
struct OnnxOp<TileOp> {
  /// Repeats that depend on the batch size become an expansion: a new axis for the repeats is inserted before the axis,
  /// and the two are merged.
  static OnnxMeaning read(const OnnxNode& node) {
    node.check_inputs(2, 2);
    const std::vector<OnnxSize> repeats = node.sizes(1, "repeats");
    OnnxRecipe recipe(node.input_count());
    TileOp tile;
    for (const OnnxSize& each : repeats) tile.repeats.push_back(each.fixed() ? each.value() : 1);
    const auto axis = std::ranges::find_if_not(repeats, &OnnxSize::fixed) - repeats.begin();
    if (axis == std::ssize(repeats)) return OnnxComputed{tile};
    if (!std::all_of(repeats.begin() + axis + 1, repeats.end(), [](const OnnxSize& each) { return each.fixed(); })) {
      throw open_size("more than one of the repeats depends on the batch size");
    }
    std::vector<OnnxSize> tiled, wanted(repeats.size() + 1, {{1, 1}});
    for (size_t i = 0; i < repeats.size(); ++i) {
      const OnnxSize size = node.size_along(0, static_cast<int64_t>(i)), times = repeats[i];
      tiled.push_back({{size.by_trial[0] * times.by_trial[0], size.by_trial[1] * times.by_trial[1]}});
    }
    wanted[static_cast<size_t>(axis)] = repeats[static_cast<size_t>(axis)];
    OnnxRecipe::Value x = recipe.add(tile, {0});
    x = recipe.add(UnsqueezeOp{{axis}}, {x});
    x = add_expansion(recipe, x, wanted);
    recipe.give(recipe.add(reshape_to(tiled, OnnxValue{}), {x}));
    return recipe;
  }
  static OnnxReaders readers() { return {{"Tile", read}}; }
  static void write(OnnxNodeWriter& node, const TileOp& op) { node.integer_input("repeats", op.repeats); }
};

template <>
struct OnnxOp<DepthToSpaceOp> {
  static OnnxMeaning read(const OnnxNode& node) {
    DepthToSpaceOp op{.block = node.integer("blocksize")};
    const std::string mode = node.opset() < 11 ? "DCR" : node.text("mode", "DCR");
    if (mode != "DCR" && mode != "CRD") throw bad_input("mode must be DCR or CRD, got '{}'", mode);
    op.columns_rows_depth = mode == "CRD";
    return read_plain(node, 1, op);
  }
  static OnnxReaders readers() { return {{"DepthToSpace", read}}; }
  static void write(OnnxNodeWriter& node, const DepthToSpaceOp& op) {
    node.integer("blocksize", op.block);
    node.text("mode", op.columns_rows_depth ? "CRD" : "DCR");
  }
};

template <>
struct OnnxOp<SpaceToDepthOp> {
  static OnnxMeaning read(const OnnxNode& node) {
    return read_plain(node, 1, SpaceToDepthOp{.block = node.integer("blocksize")});
  }
  static OnnxReaders readers() { return {{"SpaceToDepth", read}}; }
  static void write(OnnxNodeWriter& node, const SpaceToDepthOp& op) { node.integer("blocksize", op.block); }
};

template <>
struct OnnxOp<TriluOp> {
  static OnnxMeaning read(const OnnxNode& node) {
    node.check_inputs(1, 2);
    const std::vector<int64_t> k = node.constant_integers(1, "k");
    return OnnxComputed{TriluOp{.upper = node.flag("upper", true), .k = k.empty() ? 0 : k[0]}};
  }
  static OnnxReaders readers() { return {{"Trilu", read}}; }
  static void write(OnnxNodeWriter& node, const TriluOp& op) {
    node.need_opset(21);
    node.integer("upper", op.upper);
    node.single_integer_input("k", op.k);
  }
};

template <>
std::vector<OnnxOpEntry> OnnxOpEntry::rows<RearrangeOps>() {
  return rows_of<OnnxOpEntry>(RearrangeOps());
}

}  // namespace convlab
