// Finds the nodes that one step may compute.

#include "convlab/plan/fuse.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "convlab/kernels/conv_step.h"
#include "convlab/kernels/cpu/nchw8c/channel_op.h"
#include "convlab/model/shapes.h"
#include "convlab/plan/kept_formats.h"

namespace convlab {
namespace {

using Found = std::optional<Fusion>;

const Node& node_of(const PlanRequest& request, size_t place) { return request.graph.nodes[place]; }

/// Returns the node alone.
Fusion alone(const PlanRequest& request, size_t place) {
  const Node& node = node_of(request, place);
  Fusion fusion{.nodes = {place}, .inputs = node.inputs, .output = node.output, .name = node.name};
  fusion.step = {.op = node.op, .outputs = {{.shape = request.shape_of(node.output)}}};
  for (const ValueId input : node.inputs) {
    fusion.step.inputs.push_back(
        {.shape = request.shape_of(input), .constant = request.graph.constants.contains(input)});
  }
  if (auto* pool = std::get_if<PoolOp>(&fusion.step.op)) *pool = {resolved_pool(*pool, fusion.step.inputs[0].shape)};
  if (is_conv(fusion.step)) {
    ConvStep conv = conv_step(fusion.step);  // with explicit pads
    conv.epilogue.bias = node.inputs.size() > 2;
    conv.adds = false;
    fusion.step = conv;
  }
  return fusion;
}

/// Returns the only node that reads the fusion's output.
std::optional<size_t> next_of(const PlanRequest& request, const Fusion& fusion) {
  return request.readers.only(fusion.output);
}

/// Extends the fusion by a node that reads its output.
void take(const PlanRequest& request, Fusion& fusion, size_t place) {
  fusion.nodes.push_back(place);
  fusion.output = node_of(request, place).output;
  fusion.step.outputs[0].shape = request.shape_of(fusion.output);
}

bool activates(const Fusion& fusion) { return fusion.step.epilogue.activation.kind != ActivationKind::none; }

/// Returns the activation of a node that a step can fuse; kernels of channels know more of them.
std::optional<Activation> activation_of(const Op& op, bool channels) {
  if (const auto* activation = std::get_if<ActivationOp>(&op)) return activation->activation;
  const auto* unary = channels ? std::get_if<UnaryOp>(&op) : nullptr;
  if (unary == nullptr) return std::nullopt;
  if (unary->kind == UnaryKind::hard_swish) return Activation{ActivationKind::hard_swish};
  if (unary->kind == UnaryKind::swish && unary->alpha == 1) return Activation{ActivationKind::swish};
  return std::nullopt;
}

/// Extends the fusion by the activation that follows. Returns whether there is one.
bool take_activation(const PlanRequest& request, Fusion& fusion, bool channels) {
  const std::optional<size_t> next = next_of(request, fusion);
  if (!next) return false;
  const std::optional<Activation> activation = activation_of(node_of(request, *next).op, channels);
  if (!activation) return false;
  fusion.step.epilogue.activation = *activation;
  fusion.activation_name = node_of(request, *next).name;
  take(request, fusion, *next);
  return true;
}

/// Extends the fusion by this node, which pools.
void take_pool(const PlanRequest& request, Fusion& fusion, size_t place, const Pool& pool) {
  fusion.step.epilogue.pool = pool;
  fusion.pool_name = node_of(request, place).name;
  take(request, fusion, place);
}

/// Whether adjacent windows share rows of a feature map. A kernel computes an output channel in bands of rows, for its
/// caches and threads. If it pooled, each band would recompute the rows that it shares with the next one, which costs
/// more than writing the rows and pooling them in a separate step.
bool windows_share_rows(const Pool& pool, int64_t height) {
  return (pool.kernel_h - 1) * pool.dilation_h + 1 > pool.stride_h && pool.output_h(height) > 1;
}

/// For non-decreasing functions, the maximum of the results is the function of the maximum.
bool commutes(const Activation& activation, const Pool& pool) {
  return activation.kind == ActivationKind::none || (pool.kind == PoolKind::max && activation.monotonic());
}

Found conv_pool_activation(const PlanRequest& request, size_t place) {
  if (!std::holds_alternative<ConvOp>(node_of(request, place).op)) return std::nullopt;
  Fusion fusion = alone(request, place);
  if (request.options.mode == PlanMode::layers) return fusion;
  while (const std::optional<size_t> next = next_of(request, fusion)) {
    const auto* pool = std::get_if<PoolOp>(&node_of(request, *next).op);
    if (pool != nullptr && !fusion.step.epilogue.pool) {
      const Pool resolved = resolved_pool(*pool, request.shape_of(fusion.output));
      if (windows_share_rows(resolved, request.shape_of(fusion.output)[2])) break;
      if (!commutes(fusion.step.epilogue.activation, resolved)) break;
      take_pool(request, fusion, *next, resolved);
    } else if (activates(fusion) || !take_activation(request, fusion, false)) {
      break;
    }
  }
  return fusion;
}

Found conv_activation(const PlanRequest& request, size_t place) {
  if (!std::holds_alternative<ConvOp>(node_of(request, place).op)) return std::nullopt;
  Fusion fusion = alone(request, place);
  take_activation(request, fusion, true);
  return fusion;
}

Found conv_activation_pool(const PlanRequest& request, size_t place) {
  Found fusion = conv_activation(request, place);
  const std::optional<size_t> next = fusion ? next_of(request, *fusion) : std::nullopt;
  const auto* pool = next ? std::get_if<PoolOp>(&node_of(request, *next).op) : nullptr;
  if (pool == nullptr) return std::nullopt;
  const Pool resolved = resolved_pool(*pool, request.shape_of(fusion->output));
  if (resolved.kind != PoolKind::max || !commutes(fusion->step.epilogue.activation, resolved)) return std::nullopt;
  take_pool(request, *fusion, *next, resolved);
  return fusion;
}

/// With the addition of another value of the same shape (a residual connection), and the activation after it.
Found conv_addition(const PlanRequest& request, size_t place) {
  if (!std::holds_alternative<ConvOp>(node_of(request, place).op)) return std::nullopt;
  Fusion fusion = alone(request, place);
  const std::optional<size_t> next = next_of(request, fusion);
  if (!next || !std::holds_alternative<AddOp>(node_of(request, *next).op)) return std::nullopt;
  const Node& add = node_of(request, *next);
  const ValueId other = add.inputs[add.inputs[0] == fusion.output ? 1 : 0];
  const Shape& shape = request.shape_of(other);
  if (other == fusion.output || shape != request.shape_of(fusion.output) || !keeps(request, shape)) {
    return std::nullopt;
  }
  fusion.step.inputs.push_back({.shape = shape});
  fusion.inputs.push_back(other);
  fusion.added_name = add.name;
  take(request, fusion, *next);
  take_activation(request, fusion, true);
  return fusion;
}

/// An operator whose kernels may fuse an activation: a dense layer or, in channels, a batch normalization.
template <class FirstOp>
Found op_activation(const PlanRequest& request, size_t place) {
  if (!std::holds_alternative<FirstOp>(node_of(request, place).op)) return std::nullopt;
  if (request.options.mode == PlanMode::layers) return std::nullopt;
  Fusion fusion = alone(request, place);
  if (!take_activation(request, fusion, false)) return std::nullopt;
  return fusion;
}

/// A product with constant weights, the bias after it, and the activation after that, as a dense layer: all dimensions
/// of x but the last become rows.
Found product_bias_activation(const PlanRequest& request, size_t place) {
  if (!std::holds_alternative<MatMulOp>(node_of(request, place).op)) return std::nullopt;
  if (request.options.mode == PlanMode::layers) return std::nullopt;
  Fusion fusion = alone(request, place);
  const Shape x = fusion.step.inputs[0].shape, w = fusion.step.inputs[1].shape;
  const std::optional<size_t> next = next_of(request, fusion);
  if (!fusion.step.inputs[1].constant || x.size() < 2 || w.size() != 2 || !next) return std::nullopt;
  const Node& add = node_of(request, *next);
  if (!std::holds_alternative<AddOp>(add.op)) return std::nullopt;
  const ValueId bias = add.inputs[add.inputs[0] == fusion.output ? 1 : 0];
  const Shape& shape = request.shape_of(bias);
  const bool is_bias = request.graph.constants.contains(bias) && !shape.empty() && shape.back() == w[1] &&
                       element_count(shape) == w[1] && request.shape_of(add.output) == request.shape_of(fusion.output);
  if (!is_bias) return std::nullopt;
  const int64_t rows = element_count(x) / w[0];
  fusion.step.op = GemmOp{};
  fusion.step.inputs[0].shape = {rows, w[0]};
  fusion.step.inputs.push_back({.shape = {w[1]}, .constant = true});
  fusion.inputs.push_back(bias);
  fusion.name += "+" + add.name;
  take(request, fusion, *next);
  take_activation(request, fusion, false);
  fusion.step.outputs[0].shape = {rows, w[1]};
  return fusion;
}

/// Extends squeeze-and-excitation by the next convolution of one-pixel images, with its bias and the activation after
/// it. Returns whether that comes next.
bool take_product(const PlanRequest& request, Fusion& gate, Activation& activation) {
  const std::optional<size_t> place = next_of(request, gate);
  const Found conv = place ? conv_activation(request, *place) : std::nullopt;
  if (!conv) return false;
  const ConvProblem problem = conv_step(conv->step).problem;
  if (problem.groups != 1 || !one_pixel(problem.filter_shape()) || !one_pixel(problem.output_shape())) return false;
  if (problem.pad_top != 0 || problem.pad_left != 0 || !conv->step.epilogue.bias) return false;
  gate.inputs.insert(gate.inputs.end(), conv->inputs.begin() + 1, conv->inputs.end());
  gate.nodes.insert(gate.nodes.end(), conv->nodes.begin(), conv->nodes.end());
  gate.name += "+" + conv->name_with(conv->step.epilogue);
  gate.output = conv->output;
  activation = conv->step.epilogue.activation;
  return true;
}

/// Scales images by gates computed from their means: see SqueezeExciteOp.
Found squeeze_excite(const PlanRequest& request, size_t place) {
  const Node& mean = node_of(request, place);
  if (mean.inputs.empty() || !is_mean_of_maps(mean.op, request.shape_of(mean.inputs[0]))) return std::nullopt;
  const ValueId x = mean.inputs[0];
  SqueezeExciteOp op;
  Fusion gate{.nodes = {place}, .inputs = {x}, .output = mean.output, .name = mean.name};
  if (!take_product(request, gate, op.squeeze) || !take_product(request, gate, op.excite)) return std::nullopt;
  const std::optional<size_t> next = next_of(request, gate);
  if (!next) return std::nullopt;
  const Node& last = node_of(request, *next);
  const bool scales = std::holds_alternative<MulOp>(last.op) &&
                      (last.inputs == std::vector{x, gate.output} || last.inputs == std::vector{gate.output, x});
  if (!scales || request.shape_of(last.output) != request.shape_of(x)) return std::nullopt;
  gate.name += "+" + last.name;
  gate.step = {.op = op, .outputs = {{}}};
  for (const ValueId input : gate.inputs) {
    gate.step.inputs.push_back({.shape = request.shape_of(input), .constant = input != x});
  }
  take(request, gate, *next);
  return gate;
}

Found node_alone(const PlanRequest& request, size_t place) {
  if (std::holds_alternative<ConvOp>(node_of(request, place).op)) return std::nullopt;
  return alone(request, place);
}

struct Row {
  Kept kept;
  std::string_view pattern;
  Found (*found)(const PlanRequest&, size_t place);
};

/// All fusions, in order of preference.
constexpr Row kRows[] = {
    {Kept::bytes, "", node_alone},
    {Kept::channels, "squeeze-and-excitation", squeeze_excite},
    {Kept::channels, "convolution + addition + activation", conv_addition},
    {Kept::channels, "convolution + activation + max pooling", conv_activation_pool},
    {Kept::channels, "convolution + activation", conv_activation},
    {Kept::channels, "batch normalization + activation", op_activation<BatchNormOp>},
    {Kept::channels, "", node_alone},
    {Kept::any, "convolution + pooling + activation", conv_pool_activation},
    {Kept::any, "dense layer + activation", op_activation<GemmOp>},
    {Kept::any, "matrix product + bias + activation", product_bias_activation},
    {Kept::any, "", node_alone},
};

bool is_in(const PlanRequest& request, Kept kept) {
  return kept == Kept::any || (kept == Kept::channels ? request.keeps_channels() : request.bytes);
}

}  // namespace

std::string_view name_of(Kept kept) {
  switch (kept) {
    case Kept::bytes:
      return "bytes";
    case Kept::channels:
      return "channels";
    case Kept::any:
      return "any format";
  }
  return "?";
}

std::string Fusion::name_with(const Epilogue& epilogue) const {
  std::string text = name;
  if (epilogue.pool) text += "+" + pool_name;
  if (!added_name.empty()) text += "+" + added_name;
  if (epilogue.activation.kind != ActivationKind::none) text += "+" + activation_name;
  return text;
}

std::vector<std::vector<Fusion>> fuse(const PlanRequest& request) {
  std::vector<std::vector<Fusion>> fusions(request.graph.nodes.size());
  for (size_t place = 0; place < fusions.size(); ++place) {
    if (is_alias(node_of(request, place).op)) continue;
    for (const Row& row : kRows) {
      if (!is_in(request, row.kept)) continue;
      Found found = row.found(request, place);
      if (!found) continue;
      found->pattern = row.pattern;
      found->kept = row.kept;
      fusions[place].push_back(*std::move(found));
    }
  }
  return fusions;
}

std::string to_text(const std::vector<std::vector<Fusion>>& fusions) {
  std::string text;
  for (const std::vector<Fusion>& ways : fusions) {
    if (ways.empty()) continue;
    std::string line;
    for (const Fusion& way : ways) {
      const bool fuses = way.nodes.size() > 1;
      line += fmt::format("{}{}", line.empty() ? "" : ", or ", fuses ? way.pattern : "alone");
      if (fuses) line += fmt::format(" ({} nodes)", way.nodes.size());
      if (way.kept != Kept::any) line += fmt::format(" in {}", name_of(way.kept));
    }
    text += fmt::format("  {}: {}\n", ways.back().name, line);
  }
  return text;
}

}  // namespace convlab
