// Shifts int8 quantized values up by 128, so that kernels on bytes see only uint8.

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "convlab/base/overloaded.h"
#include "convlab/rewrite/evaluate.h"
#include "convlab/rewrite/readers.h"
#include "convlab/rewrite/rewrite_to_bytes.h"

namespace convlab {
namespace {

constexpr int kUp = 128;

class Mover {
 public:
  explicit Mover(Graph& graph) : graph_(graph), moved_(graph.value_names.size()) {}

  void run() {
    std::vector<Node> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (Node& node : nodes) {
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (is_moved(node.inputs[i]) && !follow(node, i)) node.inputs[i] = below(node.inputs[i]);
      }
      if (move_result(node)) moved_[static_cast<size_t>(node.output)] = true;
      graph_.nodes.push_back(std::move(node));
    }
    for (GraphOutput& output : graph_.outputs) {
      if (!is_moved(output.value)) continue;
      if (output.name.empty()) output.name = graph_.name_of(output.value);
      output.value = below(output.value);
    }
  }

 private:
  bool is_moved(ValueId value) const {
    return static_cast<size_t>(value) < moved_.size() && moved_[static_cast<size_t>(value)];
  }

  ValueId number(float value) {
    const ValueId id = graph_.add_value("level");
    graph_.constants.emplace(id, Tensor::of<float>({}, {{value}}));
    return id;
  }

  /// Returns the zero point of QuantizeLinear or DequantizeLinear if it is one known number.
  std::optional<float> zero_of(const Node& node) const {
    if (node.inputs.size() < 3) return 0.0f;
    const auto found = graph_.constants.find(node.inputs[2]);
    if (found == graph_.constants.end() || found->second.count() != 1) return std::nullopt;
    return found->second.values<float>()[0];
  }

  void set_zero(Node& node, float zero) {
    node.inputs.resize(3);
    node.inputs[2] = number(zero);
  }

  /// Makes the node read its shifted input i. Returns false if it cannot.
  bool follow(Node& node, size_t i) {
    const auto up = [](int& zero) {
      zero += kUp;
      return true;
    };
    return std::visit(Overloaded{
                          [&](ByteConvOp& op) { return up(i == 0 ? op.x_zero : op.sum.b_zero); },
                          [&](ByteAddOp& op) { return up(i == 0 ? op.a_zero : op.b_zero); },
                          [&](ByteMeanOp& op) { return up(op.x_zero); },
                          [&](ByteConcatOp& op) { return up(op.parts[i].zero); },
                          [&](const DequantizeOp&) {
                            const std::optional<float> zero = zero_of(node);
                            if (i != 0 || !zero) return false;
                            set_zero(node, *zero + kUp);
                            return true;
                          },
                          [&](const auto&) { return passes_on(node); },
                      },
                      node.op);
  }

  bool passes_on(const Node& node) const {
    const auto* pool = std::get_if<PoolOp>(&node.op);
    return is_alias(node.op) || (pool != nullptr && pool->pool.kind == PoolKind::max);
  }

  /// Shifts the node's result if it is int8. Returns whether the result is shifted.
  bool move_result(Node& node) {
    const auto up = [](auto& op) {
      if (op.low >= 0 && op.zero >= 0) return false;
      op.zero += kUp, op.low += kUp, op.high += kUp;
      return true;
    };
    return std::visit(Overloaded{
                          [&](ByteConvOp& op) {
                            if (!op.adds) return up(op);
                            if (up(op)) op.sum.a_zero += kUp;
                            return up(op.sum);
                          },
                          [&](ByteAddOp& op) { return up(op); },
                          [&](ByteMeanOp& op) { return up(op); },
                          [&](ByteConcatOp& op) { return up(op); },
                          [&](QuantizeOp& op) {
                            const std::optional<float> zero = zero_of(node);
                            if (op.low != -kUp || op.high != kUp - 1 || !zero) return false;
                            op.low += kUp, op.high += kUp;
                            set_zero(node, *zero + kUp);
                            return true;
                          },
                          [&](const auto&) { return passes_on(node) && is_moved(node.inputs[0]); },
                      },
                      node.op);
  }

  /// Returns a shifted value minus 128, for consumers that cannot follow the shift. It is computed once.
  ValueId below(ValueId value) {
    const auto [found, is_new] = below_.try_emplace(value, -1);
    if (!is_new) return found->second;
    const ValueId output = graph_.add_value(graph_.name_of(value));
    graph_.nodes.push_back(
        {.name = graph_.name_of(value) + ".below", .op = AddOp{}, .inputs = {value, number(-kUp)}, .output = output});
    return below_[value] = output;
  }

  Graph& graph_;
  std::vector<bool> moved_;  ///< by value
  std::map<ValueId, ValueId> below_;
};

}  // namespace

void move_levels_up(Graph& graph) { Mover(graph).run(); }

}  // namespace convlab
