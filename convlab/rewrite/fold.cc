// Folds chains of linear operators into fewer convolutions and dense layers.

#include "convlab/rewrite/fold.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "convlab/rewrite/evaluate.h"
#include "convlab/rewrite/linear.h"
#include "convlab/rewrite/linear_parts.h"
#include "convlab/rewrite/readers.h"

namespace convlab {
namespace {

/// A longer chain is handled as several: the time to find the best partition is cubic in the number of steps.
constexpr size_t kMostSteps = 32;

/// Replaces the nodes of chains by fewer.
class Folder {
 public:
  Folder(Graph& graph, InputShapes inputs, ThreadPool& threads)
      : graph_(graph), shapes_(infer_shapes(graph, inputs)), readers_(graph), threads_(threads) {}

  std::vector<Folding> run() {
    std::vector<bool> seen(graph_.nodes.size());
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (seen[i]) continue;
      std::vector<LinearOp> chain;
      for (std::optional<size_t> at = i; at && chain.size() < kMostSteps;
           at = readers_.only(graph_.nodes[*at].output)) {
        const auto step = linear_op(graph_, graph_.nodes[*at], shapes_);
        if (!step || (!chain.empty() && step->from != chain.back().node->output)) break;
        chain.push_back(*step);
        seen[*at] = true;
      }
      const auto computing =
          std::count_if(chain.begin(), chain.end(), [](const LinearOp& step) { return !only_reshapes(step.node->op); });
      if (computing > 1) fold(chain);
    }
    rebuild();
    return std::move(foldings_);
  }

 private:
  void fold(const std::vector<LinearOp>& chain) {
    Folding folding;
    for (const LinearOp& step : chain) folding.nodes += (folding.nodes.empty() ? "" : "+") + step.node->name;
    LinearCost after;
    for (const LinearPart& part : cheapest_parts(chain)) {
      after = after + part.cost;
      if (part.form == LinearPart::Form::kept) continue;
      folding.folded = true;
      const std::vector<LinearOp> steps(chain.begin() + static_cast<std::ptrdiff_t>(part.begin),
                                        chain.begin() + static_cast<std::ptrdiff_t>(part.end));
      if (!folding.text.empty()) folding.text += ", ";
      folding.text += part.form == LinearPart::Form::conv ? replace_by_conv(steps) : replace_by_dense(steps);
    }
    if (folding.folded) {
      folding.text += fmt::format(": {} instead of {}", to_text(after), to_text(cost_of(chain)));
    } else {
      folding.text = why_not_one(chain);
    }
    foldings_.push_back(std::move(folding));
  }

  static std::string name_of_all(const std::vector<LinearOp>& steps) {
    std::string name;
    for (const LinearOp& step : steps) {
      if (!only_reshapes(step.node->op)) name += (name.empty() ? "" : "+") + step.node->name;
    }
    return name;
  }

  ValueId add_constant(std::string name, Shape shape, const std::vector<double>& values) {
    const ValueId value = graph_.add_value(std::move(name));
    Tensor tensor(ElementType::f32, std::move(shape));
    std::transform(values.begin(), values.end(), tensor.values<float>().begin(),
                   [](double each) { return static_cast<float>(each); });
    graph_.constants[value] = std::move(tensor);
    return value;
  }

  /// Replaces the steps by `nodes`.
  void replace(const std::vector<LinearOp>& steps, std::vector<Node> nodes) {
    for (const LinearOp& step : steps) replaced_[index_of(*step.node)] = {};
    replaced_[index_of(*steps.back().node)] = std::move(nodes);
  }
  size_t index_of(const Node& node) const { return static_cast<size_t>(&node - graph_.nodes.data()); }

  std::string replace_by_conv(const std::vector<LinearOp>& steps) {
    const ConvForm form = *conv_form(steps, false);
    const std::string name = name_of_all(steps);
    Node node{
        .name = name,
        .op = ConvOp{.stride_h = form.stride_h,
                     .stride_w = form.stride_w,
                     .pad_top = form.pad_top,
                     .pad_left = form.pad_left,
                     .pad_bottom = form.pad_bottom,
                     .pad_right = form.pad_right},
        .inputs = {steps.front().from, add_constant(name + ".weights", {form.k, form.c, form.r, form.s}, form.weights)},
        .output = steps.back().node->output};
    if (form.biased) node.inputs.push_back(add_constant(name + ".bias", {form.k}, form.bias));
    replace(steps, {node});
    return fmt::format("{} as Conv {}x{}x{}x{}", name, form.k, form.c, form.r, form.s);
  }

  std::string replace_by_dense(const std::vector<LinearOp>& steps) {
    const DenseForm form = dense_form(steps, threads_);
    const std::string name = name_of_all(steps);
    const ValueId weights = add_constant(name + ".weights", {form.inputs, form.outputs}, form.weights);
    const ValueId bias = add_constant(name + ".bias", {form.outputs}, form.bias);
    std::vector<Node> nodes;
    ValueId x = steps.front().from;
    const ValueId output = steps.back().node->output;
    if (steps.front().x.size() != 2) {
      const ValueId flat = graph_.add_value(name + ".flat");
      nodes.push_back({name + ".flatten", FlattenOp{}, {x}, flat});
      x = flat;
    }
    Shape shape = steps.back().y;
    const bool reshapes = shape.size() != 2;
    const ValueId product = reshapes ? graph_.add_value(name + ".product") : output;
    nodes.push_back({name, GemmOp{}, {x, weights, bias}, product});
    if (reshapes) {
      shape[0] = 0;  // keeps the number of images
      nodes.push_back({name + ".reshape", ReshapeOp{shape}, {product}, output});
    }
    replace(steps, std::move(nodes));
    return fmt::format("{} as Gemm {}x{}", name, form.inputs, form.outputs);
  }

  void rebuild() {
    std::vector<Node> nodes;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const auto replaced = replaced_.find(i);
      if (replaced == replaced_.end()) {
        nodes.push_back(std::move(graph_.nodes[i]));
      } else {
        std::ranges::move(replaced->second, std::back_inserter(nodes));
      }
    }
    graph_.nodes = std::move(nodes);
    drop_unread_constants(graph_);
  }

  Graph& graph_;
  std::vector<Shape> shapes_;
  const Readers readers_;
  ThreadPool& threads_;
  std::map<size_t, std::vector<Node>> replaced_;  ///< by node index: the nodes that replace it
  std::vector<Folding> foldings_;
};

}  // namespace

std::vector<Folding> fold_linear(Graph& graph, InputShapes inputs, ThreadPool& threads) {
  return Folder(graph, inputs, threads).run();
}

}  // namespace convlab
