// Rewrites the quantized parts of a graph to operators on 8-bit quantized values.

#include "convlab/rewrite/rewrite_to_bytes.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "convlab/base/overloaded.h"
#include "convlab/model/shapes.h"
#include "convlab/rewrite/evaluate.h"
#include "convlab/rewrite/readers.h"

namespace convlab {
namespace {

/// The quantization parameters of an array: the real numbers are (quantized value - zero) * scale.
struct Steps {
  float scale = 1;
  int zero = 0;

  bool operator==(const Steps&) const = default;
};

struct Range {
  int low = 0, high = 0;
};

/// A real array, given by the quantized values from which it is computed.
struct Quantized {
  ValueId levels;
  Steps steps;
};

/// An integer constant minus its zero points, as int8, with one scale, or one per output channel.
struct Weights {
  Tensor whole;
  std::vector<float> scales;

  float scale(size_t map) const { return scales[scales.size() == 1 ? 0 : map]; }
};

/// The quantization parameters of a step's result, and its range of quantized values.
struct Result {
  Steps steps;
  int low = 0, high = 0;
};

int level_of(float value, const Steps& steps, Range range) {
  const float level = std::nearbyint(value / steps.scale) + static_cast<float>(steps.zero);
  return static_cast<int>(std::clamp(level, static_cast<float>(range.low), static_cast<float>(range.high)));
}

class Rewriter {
 public:
  Rewriter(Graph& graph, InputShapes inputs)
      : graph_(graph),
        shapes_(infer_shapes(graph, inputs)),
        readers_(graph),
        producers_(graph.value_names.size()),
        gone_(graph.nodes.size()),
        before_(graph.nodes.size()) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) producers_[static_cast<size_t>(graph.nodes[i].output)] = i;
    for (const GraphInput& input : graph.inputs) {
      if (input.type == ElementType::u8) ranges_[input.value] = {0, 255};
    }
  }

  /// Rewrites all nodes that fit. Returns whether anything was rewritten.
  bool run() {
    bool any = false;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      note_range(graph_.nodes[i]);
      const bool rewritten =
          std::holds_alternative<QuantizeOp>(graph_.nodes[i].op) ? rewrite_quantized(i) : rewrite_qlinear_conv(i);
      any = any || rewritten;
    }
    std::vector<Node> nodes;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      std::ranges::move(before_[i], std::back_inserter(nodes));
      if (!gone_[i]) nodes.push_back(std::move(graph_.nodes[i]));
    }
    graph_.nodes = std::move(nodes);
    return any;
  }

 private:
  const Shape& shape_of(ValueId value) const { return shapes_[static_cast<size_t>(value)]; }

  const Tensor* constant(ValueId value) const {
    const auto found = graph_.constants.find(value);
    return found == graph_.constants.end() ? nullptr : &found->second;
  }
  std::optional<float> number(ValueId value) const {
    const Tensor* tensor = constant(value);
    if (tensor == nullptr || tensor->count() != 1) return std::nullopt;
    return tensor->values<float>()[0];
  }

  /// Returns the scale and zero point of quantized values known to be 8-bit; nullopt if they are not one valid constant
  /// each.
  std::optional<Steps> steps_of(ValueId levels, ValueId scale, std::optional<ValueId> zero) const {
    const auto range = ranges_.find(levels);
    const std::optional<float> size = number(scale), at = zero ? number(*zero) : 0.0f;
    if (range == ranges_.end() || !size || !at || !(*size > 0) || !std::isfinite(*size)) return std::nullopt;
    const auto low = static_cast<float>(range->second.low), high = static_cast<float>(range->second.high);
    if (!(*at >= low && *at <= high) || *at != std::nearbyint(*at)) return std::nullopt;
    return Steps{*size, static_cast<int>(*at)};
  }
  std::optional<Steps> steps_of(ValueId levels, const Node& node) const {
    return steps_of(levels, node.inputs[1], node.inputs.size() > 2 ? std::optional(node.inputs[2]) : std::nullopt);
  }

  /// Records the range of quantized values that the node computes, if it is known to be 8-bit.
  void note_range(const Node& node) {
    const auto note = [&](int low, int high) {
      if ((low == 0 && high == 255) || (low == -128 && high == 127)) ranges_[node.output] = {low, high};
    };
    const auto* pool = std::get_if<PoolOp>(&node.op);
    if (const auto* op = std::get_if<QuantizeOp>(&node.op)) {
      note(op->low, op->high);
    } else if (const auto* conv = std::get_if<QLinearConvOp>(&node.op)) {
      note(conv->low, conv->high);
    } else if (is_alias(node.op) || (pool != nullptr && pool->pool.kind == PoolKind::max)) {
      const auto found = ranges_.find(node.inputs[0]);
      if (found != ranges_.end()) ranges_[node.output] = found->second;
    }
  }

  const Node* producer(ValueId value) const {
    const std::optional<size_t> at = producers_[static_cast<size_t>(value)];
    return at ? &graph_.nodes[*at] : nullptr;
  }

  std::optional<Quantized> quantized(ValueId value) const {
    const Node* node = producer(value);
    if (node == nullptr || !std::holds_alternative<DequantizeOp>(node->op)) return std::nullopt;
    const std::optional<Steps> steps = steps_of(node->inputs[0], *node);
    return steps ? std::optional(Quantized{node->inputs[0], *steps}) : std::nullopt;
  }

  ValueId add_constant(std::string name, Tensor tensor) {
    const ValueId value = graph_.add_value(std::move(name));
    shapes_.push_back(tensor.shape());
    producers_.emplace_back();
    graph_.constants.emplace(value, std::move(tensor));
    return value;
  }

  /// Subtracts the zero points from an integer constant. There is one zero point, or one for each index along the axis;
  /// the same holds for scales. Returns nullopt if a result does not fit in int8.
  static std::optional<Weights> weights(const Tensor& whole, std::vector<float> scales,
                                        const std::vector<int64_t>& zeros, int64_t axis) {
    const Shape& shape = whole.shape();
    const int64_t along = shape[static_cast<size_t>(axis)];
    const int64_t inner = element_count({shape.begin() + axis + 1, shape.end()});
    for (const size_t count : {scales.size(), zeros.size()}) {
      if (count != 1 && static_cast<int64_t>(count) != along) return std::nullopt;
    }
    const auto is_scale = [](float each) { return each > 0 && std::isfinite(each); };
    if (!std::ranges::all_of(scales, is_scale)) return std::nullopt;
    Tensor less(ElementType::i8, shape);
    const std::span<int8_t> to = less.values<int8_t>();
    const auto fill = [&](const auto& from) {
      for (size_t i = 0; i < from.size(); ++i) {
        const auto place = static_cast<size_t>(static_cast<int64_t>(i) / inner % along);
        const auto value = static_cast<int64_t>(from[i]) - zeros[zeros.size() == 1 ? 0 : place];
        if (value < -128 || value > 127) return false;
        to[i] = static_cast<int8_t>(value);
      }
      return true;
    };
    bool fits = false;
    if (whole.type() == ElementType::i8) {
      fits = fill(whole.values<int8_t>());
    } else {
      const Tensor wide = converted(whole, ElementType::i64);
      fits = fill(wide.values<int64_t>());
    }
    if (!fits) return std::nullopt;
    return Weights{std::move(less), std::move(scales)};
  }

  std::optional<Weights> weights(ValueId value, int64_t axis) const {
    const auto found = graph_.whole_constants.find(value);
    if (found == graph_.whole_constants.end()) return std::nullopt;
    const WholeConstant& constant = *found->second;
    if (constant.scales.size() > 1 && constant.axis != axis) return std::nullopt;
    return weights(constant.whole, constant.scales, constant.zeros, axis);
  }

  /// Returns a bias as integers in units of the accumulator; 0 if there is none. `scales` are the accumulator's by
  /// output channel; `factors` convert one unit to quantized values of the result. Returns nullopt if rounding to an
  /// integer would change the result by more than 1/32 of a quantized value.
  std::optional<std::vector<double>> bias(std::optional<ValueId> value, const std::vector<float>& scales,
                                          const std::vector<float>& factors) const {
    std::vector<double> result(scales.size(), 0);
    if (!value) return result;
    const Tensor* real = constant(*value);
    if (real == nullptr || real->count() != static_cast<int64_t>(scales.size())) return std::nullopt;
    const auto found = graph_.whole_constants.find(*value);
    const WholeConstant* whole = found == graph_.whole_constants.end() ? nullptr : found->second.get();
    const Tensor exact = whole == nullptr ? Tensor() : converted(whole->whole, ElementType::i64);
    for (size_t i = 0; i < result.size(); ++i) {
      const size_t which = whole == nullptr || whole->scales.size() == 1 ? 0 : i;
      constexpr float kNear = 1e-5f;
      if (whole != nullptr && std::abs(whole->scales[which] - scales[i]) <= kNear * scales[i]) {
        result[i] = static_cast<double>(exact.values<int64_t>()[i] - whole->zeros[which]);
        continue;
      }
      constexpr double kMostMoved = 1.0 / 32;
      const double units = static_cast<double>(real->values<float>()[i]) / scales[i];
      result[i] = std::nearbyint(units);
      if (!(std::abs(units - result[i]) * factors[i] <= kMostMoved)) return std::nullopt;
    }
    return result;
  }

  /// Whether all sums fit in 32 bits, also when multiplied by their factors, and kernels support convolutions of this
  /// shape on bytes.
  static bool fits(const ConvProblem& problem, const Weights& weights, const std::vector<double>& bias,
                   const std::vector<float>& factors) {
    const bool depthwise = problem.groups == problem.c && problem.k == problem.c;
    if (problem.groups != 1 && !depthwise && problem.channels_per_group() % 4 != 0) return false;
    const std::span<const int8_t> w = weights.whole.values<int8_t>();
    const size_t terms = w.size() / bias.size();
    for (size_t map = 0; map < bias.size(); ++map) {
      double most = std::abs(bias[map]);
      for (const int each : w.subspan(map * terms, terms)) most += 255 * std::abs(each);
      if (!(most < INT32_MAX && most * factors[map] < INT32_MAX)) return false;
    }
    return true;
  }

  /// Returns a convolution of quantized arrays; nullopt if its sums may be too large or kernels do not support its
  /// shape.
  std::optional<Node> byte_conv(const ConvOp& conv, const Quantized& x, const Shape& x_shape, Weights weights,
                                std::optional<ValueId> bias_value, const Result& y, float alpha,
                                const std::string& name) {
    if (x_shape.size() != 4 || weights.whole.shape().size() != 4) return std::nullopt;
    const ConvProblem problem = conv_problem(conv, x_shape, weights.whole.shape());
    const auto maps = static_cast<size_t>(problem.k);
    std::vector<float> factors(maps), scales(maps), biases(maps);
    for (size_t map = 0; map < maps; ++map) {
      scales[map] = alpha * x.steps.scale * weights.scale(map);
      factors[map] = scales[map] / y.steps.scale;
    }
    const std::optional<std::vector<double>> whole = bias(bias_value, scales, factors);
    if (!whole || !fits(problem, weights, *whole, factors)) return std::nullopt;
    std::ranges::transform(*whole, biases.begin(), [](double each) { return static_cast<float>(each); });
    return Node{
        .name = name,
        .op = ByteConvOp{.conv = conv, .x_zero = x.steps.zero, .zero = y.steps.zero, .low = y.low, .high = y.high},
        .inputs = {x.levels, add_constant(name + ".levels", std::move(weights.whole)),
                   add_constant(name + ".factors", Tensor::of<float>({problem.k}, factors)),
                   add_constant(name + ".bias", Tensor::of<float>({problem.k}, biases))},
    };
  }

  /// Rewrites a QLinearConv with known scales and zero points.
  bool rewrite_qlinear_conv(size_t at) {
    Node& node = graph_.nodes[at];
    const auto* op = std::get_if<QLinearConvOp>(&node.op);
    if (op == nullptr) return false;
    const std::optional<Steps> x = steps_of(node.inputs[0], node.inputs[1], node.inputs[2]);
    const std::optional<Steps> y = steps_of(node.output, node.inputs[6], node.inputs[7]);
    const Tensor *w = constant(node.inputs[3]), *scales = constant(node.inputs[4]), *zeros = constant(node.inputs[5]);
    if (!x || !y || w == nullptr || scales == nullptr || zeros == nullptr) return false;
    const std::span<const float> all = scales->values<float>(), none = zeros->values<float>();
    std::optional<Weights> own =
        weights(*w, {all.begin(), all.end()}, std::vector<int64_t>(none.begin(), none.end()), 0);
    if (!own) return false;
    // Its bias is in units of the accumulator.
    const ConvOp conv = op->conv;
    const Result result{*y, op->low, op->high};
    std::optional<Node> rewritten = byte_conv(conv, {node.inputs[0], *x}, shape_of(node.inputs[0]), std::move(*own),
                                              std::nullopt, result, 1, node.name);
    if (!rewritten) return false;
    if (node.inputs.size() > 8) {
      const Tensor* given = constant(node.inputs[8]);
      if (given == nullptr) return false;
      std::vector<double> biases(given->values<float>().begin(), given->values<float>().end());
      const Weights again{constant(rewritten->inputs[1])->clone(), {1}};
      const std::span<const float> factors = constant(rewritten->inputs[2])->values<float>();
      const ConvProblem problem = conv_problem(conv, shape_of(node.inputs[0]), again.whole.shape());
      if (!fits(problem, again, biases, {factors.begin(), factors.end()})) return false;
      rewritten->inputs[3] = node.inputs[8];
    }
    put(at, std::move(*rewritten));
    return true;
  }

  /// Rewrites a QuantizeLinear and the nodes that compute its input from quantized arrays.
  bool rewrite_quantized(size_t at) {
    const Node& node = graph_.nodes[at];
    const std::optional<Steps> steps = steps_of(node.output, node);
    if (!steps) return false;
    const Range range = ranges_.at(node.output);
    Result result{*steps, range.low, range.high};
    std::vector<size_t> inside;
    std::string activations;
    ValueId value = node.inputs[0];
    for (size_t reader = at;;) {
      const std::optional<size_t> made = producers_[static_cast<size_t>(value)];
      if (!made || readers_.only(value) != reader) return false;
      inside.push_back(reader = *made);
      const Node& inner = graph_.nodes[*made];
      const auto* op = std::get_if<ActivationOp>(&inner.op);
      if (op == nullptr || !narrow(op->activation, range, result)) break;
      activations.insert(0, "+" + inner.name);
      value = inner.inputs[0];
    }
    const Node& inner = graph_.nodes[inside.back()];
    std::optional<Node> rewritten = rewritten_from(inner, result, inner.name + activations, at);
    if (!rewritten) return false;
    for (const size_t each : inside) gone_[each] = true;
    put(at, std::move(*rewritten));
    return true;
  }

  /// Turns an activation that only clamps into a narrower range of quantized values.
  static bool narrow(const Activation& activation, Range range, Result& result) {
    if (activation.kind == ActivationKind::relu) {
      result.low = std::max(result.low, level_of(0, result.steps, range));
    } else if (activation.kind == ActivationKind::clip) {
      result.low = std::max(result.low, level_of(activation.alpha, result.steps, range));
      result.high = std::min(result.high, level_of(activation.beta, result.steps, range));
    } else {
      return false;
    }
    return result.low <= result.high;
  }

  /// Returns the node that computes this result on bytes, if `node` computes it from quantized arrays.
  std::optional<Node> rewritten_from(const Node& node, const Result& y, const std::string& name, size_t at) {
    std::vector<Quantized> x;
    for (const ValueId input : node.inputs) {
      if (const std::optional<Quantized> each = quantized(input)) x.push_back(*each);
    }
    const auto* pool = std::get_if<PoolOp>(&node.op);
    const bool keeps = is_alias(node.op) || (pool != nullptr && pool->pool.kind == PoolKind::max);
    if (keeps && x.size() == 1 && x[0].steps == y.steps && full(y)) return Node{name, node.op, {x[0].levels}};
    if (const auto* conv = std::get_if<ConvOp>(&node.op); conv != nullptr && x.size() == 1) {
      std::optional<Weights> w = weights(node.inputs[1], 0);
      if (!w) return std::nullopt;
      return byte_conv(*conv, x[0], shape_of(node.inputs[0]), std::move(*w), third(node), y, 1, name);
    }
    const bool dense = std::holds_alternative<GemmOp>(node.op) || std::holds_alternative<MatMulOp>(node.op);
    if (dense && x.size() == 1) return rewritten_dense(node, x[0], y, name, at);
    if (x.size() != node.inputs.size()) return std::nullopt;
    if (std::holds_alternative<AddOp>(node.op)) {
      // Larger factors would give numbers far outside the range of quantized values.
      constexpr float kMostFactor = 1 << 20;
      if (x[0].steps.scale / y.steps.scale > kMostFactor || x[1].steps.scale / y.steps.scale > kMostFactor) {
        return std::nullopt;
      }
      if (shape_of(node.inputs[0]) != shape_of(node.inputs[1]) || shape_of(node.inputs[0]).size() != 4)
        return std::nullopt;
      return Node{name,
                  ByteAddOp{.a_factor = x[0].steps.scale / y.steps.scale,
                            .b_factor = x[1].steps.scale / y.steps.scale,
                            .a_zero = x[0].steps.zero,
                            .b_zero = x[1].steps.zero,
                            .zero = y.steps.zero,
                            .low = y.low,
                            .high = y.high},
                  {x[0].levels, x[1].levels}};
    }
    if (std::holds_alternative<GlobalAveragePoolOp>(node.op) && shape_of(node.inputs[0]).size() == 4) {
      return Node{name,
                  ByteMeanOp{.factor = x[0].steps.scale / y.steps.scale,
                             .x_zero = x[0].steps.zero,
                             .zero = y.steps.zero,
                             .low = y.low,
                             .high = y.high},
                  {x[0].levels}};
    }
    const auto* concat = std::get_if<ConcatOp>(&node.op);
    if (concat == nullptr || shape_of(node.output).size() != 4 || normalized_axis(concat->axis, 4) != 1) {
      return std::nullopt;
    }
    Node joined{name, {}, {}};
    ByteConcatOp op{.scale = y.steps.scale, .zero = y.steps.zero, .low = y.low, .high = y.high};
    for (const Quantized& each : x) {
      op.parts.push_back({each.steps.scale, each.steps.zero});
      joined.inputs.push_back(each.levels);
    }
    joined.op = std::move(op);
    return joined;
  }

  static bool full(const Result& y) { return y.high - y.low == 255; }

  static std::optional<ValueId> third(const Node& node) {
    return node.inputs.size() > 2 ? std::optional(node.inputs[2]) : std::nullopt;
  }

  /// Rewrites a dense layer to a convolution of one-pixel images.
  std::optional<Node> rewritten_dense(const Node& node, const Quantized& x, const Result& y, const std::string& name,
                                      size_t at) {
    const auto* gemm = std::get_if<GemmOp>(&node.op);
    const bool transposed = gemm != nullptr && gemm->transpose_b;
    const Shape &images = shape_of(node.inputs[0]), &matrix = shape_of(node.inputs[1]);
    if (images.size() != 2 || matrix.size() != 2) return std::nullopt;
    if (gemm != nullptr && (gemm->transpose_a || gemm->beta != 1 || !(gemm->alpha > 0))) return std::nullopt;
    std::optional<Weights> w = weights(node.inputs[1], transposed ? 0 : 1);
    if (!w) return std::nullopt;
    const int64_t maps = matrix[transposed ? 0 : 1], terms = matrix[transposed ? 1 : 0];
    Tensor filters(ElementType::i8, {maps, terms, 1, 1});
    const std::span<const int8_t> from = w->whole.values<int8_t>();
    for (int64_t map = 0; map < maps; ++map) {
      for (int64_t term = 0; term < terms; ++term) {
        filters.values<int8_t>()[static_cast<size_t>(map * terms + term)] =
            from[static_cast<size_t>(transposed ? map * terms + term : term * maps + map)];
      }
    }
    w->whole = std::move(filters);
    const ValueId pixels = add_value(name + ".pixels", {images[0], terms, 1, 1});
    std::optional<Node> conv = byte_conv(ConvOp{}, {pixels, x.steps}, shape_of(pixels), std::move(*w), third(node), y,
                                         gemm == nullptr ? 1 : gemm->alpha, name);
    if (!conv) return std::nullopt;
    conv->output = add_value(name + ".maps", {images[0], maps, 1, 1});
    before_[at].push_back({name + ".pixels", UnsqueezeOp{{2, 3}}, {x.levels}, pixels});
    const ValueId result = conv->output;
    before_[at].push_back(std::move(*conv));
    return Node{name + ".flat", FlattenOp{}, {result}};
  }

  ValueId add_value(std::string name, Shape shape) {
    const ValueId value = graph_.add_value(std::move(name));
    shapes_.push_back(std::move(shape));
    producers_.emplace_back();
    return value;
  }

  void put(size_t at, Node node) {
    node.output = graph_.nodes[at].output;
    graph_.nodes[at] = std::move(node);
  }

  Graph& graph_;
  std::vector<Shape> shapes_;
  const Readers readers_;
  std::vector<std::optional<size_t>> producers_;  ///< by value: the index of the node that computes it
  std::vector<bool> gone_;                        ///< by node: to be removed
  std::vector<std::vector<Node>> before_;         ///< by node: nodes to be inserted before it
  std::map<ValueId, Range> ranges_;
};

}  // namespace

void rewrite_to_bytes(Graph& graph, InputShapes inputs) {
  if (!Rewriter(graph, inputs).run()) return;
  drop_unused(graph);
  join_additions(graph);
  move_levels_up(graph);
  drop_unread_constants(graph);
}

}  // namespace convlab
