// Replaces sequences of operators that exporters write for one function by that function.

#include "convlab/rewrite/compositions.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "convlab/model/shapes.h"
#include "convlab/rewrite/readers.h"

namespace convlab {
namespace {

/// Matches one composition after the other, from its last node back to its input.
class Composer {
 public:
  Composer(Graph& graph, InputShapes inputs)
      : graph_(graph),
        shapes_(infer_shapes(graph, inputs)),
        readers_(graph),
        producers_(graph.value_names.size()),
        gone_(graph.nodes.size()) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) producers_[static_cast<size_t>(graph.nodes[i].output)] = i;
  }

  void run() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (gone_[i]) continue;
      for (const auto match : {&Composer::match_swish, &Composer::match_gelu, &Composer::match_normalization}) {
        inside_.clear();
        std::optional<Node> node = (this->*match)(graph_.nodes[i]);
        if (!node || !only_read_inside(i)) continue;
        for (const size_t each : inside_) gone_[each] = true;
        node->name = graph_.nodes[i].name;
        node->output = graph_.nodes[i].output;
        graph_.nodes[i] = std::move(*node);
        break;
      }
    }
    size_t place = 0;
    std::erase_if(graph_.nodes, [&](const Node&) { return gone_[place++]; });
  }

 private:
  /// Returns the node that computes a value if it has this operator, and adds it to inside_. Otherwise returns nullptr.
  template <class Wanted>
  const Node* produced_by(ValueId value) {
    const std::optional<size_t> at = producers_[static_cast<size_t>(value)];
    if (!at || gone_[*at] || !std::holds_alternative<Wanted>(graph_.nodes[*at].op)) return nullptr;
    inside_.push_back(*at);
    return &graph_.nodes[*at];
  }
  const Node* produced_by(ValueId value, BinaryKind kind) {
    const Node* node = produced_by<BinaryOp>(value);
    return node != nullptr && std::get<BinaryOp>(node->op).kind == kind ? node : nullptr;
  }
  const Node* produced_by(ValueId value, UnaryKind kind) {
    const Node* node = produced_by<UnaryOp>(value);
    return node != nullptr && std::get<UnaryOp>(node->op).kind == kind ? node : nullptr;
  }

  /// Returns the number if the value is a constant with one element.
  std::optional<float> number(ValueId value) const {
    const auto found = graph_.constants.find(value);
    if (found == graph_.constants.end() || found->second.count() != 1) return std::nullopt;
    return found->second.values<float>()[0];
  }
  bool is_number(ValueId value, double wanted) const {
    constexpr double kNear = 1e-5;
    const std::optional<float> found = number(value);
    return found && std::abs(*found - wanted) <= kNear * std::abs(wanted);
  }

  /// Returns the operand other than `known` of a node with two operands in either order; nullopt if neither is `known`.
  static std::optional<ValueId> beside(const Node& node, ValueId known) {
    if (node.inputs[0] == known) return node.inputs[1];
    if (node.inputs[1] == known) return node.inputs[0];
    return std::nullopt;
  }
  std::optional<ValueId> beside_number(const Node& node, double wanted) const {
    if (is_number(node.inputs[1], wanted)) return node.inputs[0];
    if (is_number(node.inputs[0], wanted)) return node.inputs[1];
    return std::nullopt;
  }

  /// Whether only the composition, whose last node is `last`, reads its intermediate values.
  bool only_read_inside(size_t last) const {
    return std::ranges::all_of(inside_, [&](size_t at) {
      const ValueId value = graph_.nodes[at].output;
      return !readers_.is_output(value) && std::ranges::all_of(readers_.of(value), [&](size_t reader) {
        return reader == last || std::ranges::find(inside_, reader) != inside_.end();
      });
    });
  }

  // ---- Activations ----

  std::optional<Node> match_swish(const Node& last) {
    if (!std::holds_alternative<MulOp>(last.op)) return std::nullopt;
    for (const size_t gate : {0, 1}) {
      const ValueId x = last.inputs[1 - gate];
      inside_.clear();
      const Node* sigmoid = produced_by<ActivationOp>(last.inputs[gate]);
      if (sigmoid != nullptr && sigmoid->inputs[0] == x &&
          std::get<ActivationOp>(sigmoid->op).activation.kind == ActivationKind::sigmoid) {
        return Node{.op = UnaryOp{UnaryKind::swish, 1}, .inputs = {x}};
      }
      inside_.clear();
      const Node* hard = produced_by(last.inputs[gate], UnaryKind::hard_sigmoid);
      if (hard == nullptr || hard->inputs[0] != x) continue;
      const UnaryOp& op = std::get<UnaryOp>(hard->op);
      constexpr float kSlope = 1.0f / 6, kNear = 1e-6f;
      if (std::abs(op.alpha - kSlope) <= kNear && op.beta == 0.5f)
        return Node{.op = UnaryOp{UnaryKind::hard_swish}, .inputs = {x}};
    }
    return std::nullopt;
  }

  /// Matches x / sqrt(2), or x times 1 / sqrt(2). Returns x.
  std::optional<ValueId> match_over_root(ValueId value) {
    const double root = std::sqrt(2.0);
    const size_t before = inside_.size();
    if (const Node* divide = produced_by(value, BinaryKind::divide)) {
      return is_number(divide->inputs[1], root) ? std::optional(divide->inputs[0]) : std::nullopt;
    }
    inside_.resize(before);
    const Node* multiply = produced_by<MulOp>(value);
    return multiply != nullptr ? beside_number(*multiply, 1 / root) : std::nullopt;
  }

  /// Matches 1 + erf(x / sqrt(2)). Returns x.
  std::optional<ValueId> match_gelu_gate(ValueId value) {
    const Node* sum = produced_by<AddOp>(value);
    const std::optional<ValueId> erf_of = sum != nullptr ? beside_number(*sum, 1) : std::nullopt;
    const Node* erf = erf_of ? produced_by(*erf_of, UnaryKind::erf) : nullptr;
    return erf != nullptr ? match_over_root(erf->inputs[0]) : std::nullopt;
  }

  /// Matches x / 2 * gate, x * gate / 2 or x * (gate / 2), with the factors in any order.
  std::optional<Node> match_gelu(const Node& last) {
    if (!std::holds_alternative<MulOp>(last.op)) return std::nullopt;
    const auto gelu = [](ValueId x) { return Node{.op = UnaryOp{UnaryKind::gelu}, .inputs = {x}}; };
    for (const size_t first : {0, 1}) {
      const ValueId a = last.inputs[first], b = last.inputs[1 - first];
      inside_.clear();
      if (is_number(b, 0.5)) {
        const Node* product = produced_by<MulOp>(a);
        const std::vector<size_t> so_far = inside_;
        for (const size_t gate : {0, 1}) {
          if (product == nullptr) break;
          inside_ = so_far;
          const std::optional<ValueId> x = match_gelu_gate(product->inputs[gate]);
          if (x && product->inputs[1 - gate] == *x) return gelu(*x);
        }
        continue;
      }
      const Node* half = produced_by<MulOp>(a);
      const std::optional<ValueId> halved = half != nullptr ? beside_number(*half, 0.5) : std::nullopt;
      if (!halved) continue;
      const std::vector<size_t> so_far = inside_;
      const std::optional<ValueId> x = match_gelu_gate(b);
      if (x && *x == *halved) return gelu(*x);
      inside_ = so_far;
      const std::optional<ValueId> other = match_gelu_gate(*halved);
      if (other && *other == b) return gelu(b);
    }
    return std::nullopt;
  }

  // ---- Normalization ----

  /// Returns the first axis of a mean over the last dimensions that keeps them as size 1; otherwise nullopt.
  std::optional<int64_t> last_axes(const Node& node) const {
    const auto& reduce = std::get<ReduceOp>(node.op);
    const size_t rank = shapes_[static_cast<size_t>(node.inputs[0])].size();
    if (reduce.kind != ReduceKind::mean || !reduce.keep_dims || rank == 0) return std::nullopt;
    const std::vector<bool> over = reduced_axes(reduce, rank);
    const auto first = std::ranges::find(over, true);
    if (first == over.end() || std::find(first, over.end(), false) != over.end()) return std::nullopt;
    return first - over.begin();
  }

  /// Matches x^2 or x * x. Returns x.
  std::optional<ValueId> match_square(ValueId value) {
    const size_t before = inside_.size();
    if (const Node* power = produced_by(value, BinaryKind::power)) {
      return is_number(power->inputs[1], 2) ? std::optional(power->inputs[0]) : std::nullopt;
    }
    inside_.resize(before);
    const Node* product = produced_by<MulOp>(value);
    return product != nullptr && product->inputs[0] == product->inputs[1] ? std::optional(product->inputs[0])
                                                                          : std::nullopt;
  }

  struct Root {
    ValueId of;  ///< sqrt(mean(of^2) + epsilon)
    int64_t axis;
    float epsilon;
  };
  std::optional<Root> match_root(ValueId value) {
    const Node* root = produced_by(value, UnaryKind::sqrt);
    const Node* sum = root != nullptr ? produced_by<AddOp>(root->inputs[0]) : nullptr;
    if (sum == nullptr) return std::nullopt;
    const size_t constant = number(sum->inputs[0]) ? 0 : 1;
    const std::optional<float> epsilon = number(sum->inputs[constant]);
    const Node* mean = epsilon ? produced_by<ReduceOp>(sum->inputs[1 - constant]) : nullptr;
    const std::optional<int64_t> axis = mean != nullptr ? last_axes(*mean) : std::nullopt;
    const std::optional<ValueId> of = axis ? match_square(mean->inputs[0]) : std::nullopt;
    if (!of) return std::nullopt;
    return Root{*of, *axis, *epsilon};
  }

  /// Matches d / root(d), or d times the reciprocal of root(d); d may be x - mean(x).
  std::optional<Node> match_normalization(const Node& last) {
    const auto* binary = std::get_if<BinaryOp>(&last.op);
    const bool divides = binary != nullptr && binary->kind == BinaryKind::divide;
    if (!divides && !std::holds_alternative<MulOp>(last.op)) return std::nullopt;
    for (const size_t under : {1, 0}) {
      if (divides && under == 0) break;
      inside_.clear();
      ValueId root_at = last.inputs[under];
      const ValueId d = last.inputs[1 - under];
      if (!divides) {
        const Node* inverse = produced_by(root_at, UnaryKind::reciprocal);
        if (inverse == nullptr) continue;
        root_at = inverse->inputs[0];
      }
      const std::optional<Root> root = match_root(root_at);
      if (!root || root->of != d) continue;
      NormalizeOp op{.axis = root->axis, .epsilon = root->epsilon, .center = false};
      const std::vector<size_t> so_far = inside_;
      const Node* difference = produced_by(d, BinaryKind::subtract);
      const Node* mean = difference != nullptr ? produced_by<ReduceOp>(difference->inputs[1]) : nullptr;
      if (mean != nullptr && mean->inputs[0] == difference->inputs[0] && last_axes(*mean) == root->axis) {
        op.center = true;
        return Node{.op = op, .inputs = {difference->inputs[0]}};
      }
      inside_ = so_far;
      return Node{.op = op, .inputs = {d}};
    }
    return std::nullopt;
  }

  Graph& graph_;
  const std::vector<Shape> shapes_;
  const Readers readers_;
  std::vector<std::optional<size_t>> producers_;  ///< by value: the index of the node that computes it
  std::vector<bool> gone_;                        ///< by node: part of a composition
  std::vector<size_t> inside_;                    ///< nodes of the composition that is being matched, except its last
};

}  // namespace

void fuse_compositions(Graph& graph, InputShapes inputs) { Composer(graph, inputs).run(); }

}  // namespace convlab
