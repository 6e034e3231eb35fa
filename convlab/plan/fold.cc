#include "convlab/plan/fold.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "convlab/plan/evaluate.h"
#include "convlab/plan/linear.h"
#include "convlab/plan/readers.h"

namespace convlab {
namespace {

/// What a machine can do while a byte comes: GPUs and CPUs of today multiply and add about 5 times (an H200 7, a pair
/// of Xeon cores 5).
constexpr double kMultiplyAddsPerByte = 5;

/// A matrix of more elements is not made, whatever it saves: in double they are half a gigabyte.
constexpr int64_t kMostMatrixCount = int64_t{1} << 26;

struct Cost {
  double multiply_adds = 0, bytes = 0;  ///< of one image

  Cost operator+(const Cost& other) const { return {multiply_adds + other.multiply_adds, bytes + other.bytes}; }
  double total() const { return multiply_adds + kMultiplyAddsPerByte * bytes; }
};

std::string to_text(const Cost& cost) {
  return fmt::format("{:.2f} million multiply-adds and {:.1f} kB an image", cost.multiply_adds * 1e-6,
                     cost.bytes * 1e-3);
}

int64_t image_count(const Shape& shape) { return element_count(shape) / shape[0]; }

/// Steps of a chain that become one, or a single one that stays.
struct Part {
  enum class Form { kept, conv, dense };
  size_t begin = 0, end = 0;  ///< places in the chain
  Form form = Form::kept;
  Cost cost;
};

class Folder {
 public:
  Folder(Graph& graph, const Shape& input_shape, ThreadPool& threads)
      : graph_(graph), shapes_(infer_shapes(graph, input_shape)), threads_(threads) {}

  std::vector<Folding> run() {
    std::vector<bool> seen(graph_.nodes.size());
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (seen[i]) continue;
      std::vector<LinearStep> chain;
      for (std::optional<size_t> at = i; at; at = only_reader(graph_, graph_.nodes[*at].output)) {
        const auto step = linear_step(graph_, graph_.nodes[*at], shapes_);
        if (!step || (!chain.empty() && step->from != chain.back().node->output)) break;
        chain.push_back(*step);
        seen[*at] = true;
      }
      const auto computing = std::count_if(chain.begin(), chain.end(),
                                           [](const LinearStep& step) { return !only_reshapes(step.node->op); });
      if (computing > 1) fold(chain);
    }
    rebuild();
    return std::move(foldings_);
  }

 private:
  /// An operator's cost: its images before and after, and its share of the weights.
  static Cost cost_of(double multiply_adds, const Shape& x, const Shape& y, double weights) {
    const auto images = static_cast<double>(image_count(x) + image_count(y));
    return {multiply_adds, 4 * (images + weights / static_cast<double>(x[0]))};
  }

  static Part kept(const std::vector<LinearStep>& chain, size_t at) {
    const LinearStep& step = chain[at];
    Part part{.begin = at, .end = at + 1};
    if (only_reshapes(step.node->op)) return part;
    double weights = 0;
    for (const Tensor* given : step.given) weights += given != nullptr ? static_cast<double>(given->count()) : 0;
    part.cost = cost_of(multiply_adds(step), step.x, step.y, weights);
    return part;
  }

  static std::optional<Part> as_conv(const std::vector<LinearStep>& chain, size_t begin, size_t end) {
    const auto form = conv_form(
        {chain.begin() + static_cast<std::ptrdiff_t>(begin), chain.begin() + static_cast<std::ptrdiff_t>(end)}, true);
    if (!form || form->filter_count() > kMostMatrixCount) return std::nullopt;
    const Shape &x = chain[begin].x, &y = chain[end - 1].y;
    const auto terms = static_cast<double>(form->c * form->r * form->s);
    return Part{begin, end, Part::Form::conv,
                cost_of(static_cast<double>(image_count(y)) * terms, x, y, static_cast<double>(form->filter_count()))};
  }

  static std::optional<Part> as_dense(const std::vector<LinearStep>& chain, size_t begin, size_t end) {
    const Shape &x = chain[begin].x, &y = chain[end - 1].y;
    for (size_t i = begin; i < end; ++i) {
      // Also the matrices on the way are to stay small.
      if (std::max(image_count(chain[i].x), image_count(chain[i].y)) > kMostMatrixCount / image_count(y)) {
        return std::nullopt;
      }
    }
    const auto count = static_cast<double>(image_count(x) * image_count(y));
    return Part{begin, end, Part::Form::dense, cost_of(count, x, y, count)};
  }

  /// The cheapest cut of the chain, found from its beginning on: the best of the first j steps is the best of the first
  /// i, and one part for the rest. What stays as it is comes first, and only a lower cost replaces it.
  static std::vector<Part> cheapest(const std::vector<LinearStep>& chain) {
    struct Best {
      Cost cost;
      Part last;
    };
    std::vector<Best> best(chain.size() + 1);
    for (size_t end = 1; end <= chain.size(); ++end) {
      const Part single = kept(chain, end - 1);
      best[end] = {best[end - 1].cost + single.cost, single};
      for (size_t begin = 0; begin + 1 < end; ++begin) {
        for (const std::optional<Part>& part : {as_conv(chain, begin, end), as_dense(chain, begin, end)}) {
          if (!part) continue;
          const Cost cost = best[begin].cost + part->cost;
          if (cost.total() < best[end].cost.total()) best[end] = {cost, *part};
        }
      }
    }
    std::vector<Part> parts;
    for (size_t end = chain.size(); end > 0; end = parts.back().begin) parts.push_back(best[end].last);
    std::ranges::reverse(parts);
    return parts;
  }

  void fold(const std::vector<LinearStep>& chain) {
    const std::vector<Part> parts = cheapest(chain);
    Folding folding;
    Cost before, after;
    for (size_t i = 0; i < chain.size(); ++i) {
      folding.nodes += (i == 0 ? "" : "+") + chain[i].node->name;
      before = before + kept(chain, i).cost;
    }
    for (const Part& part : parts) {
      after = after + part.cost;
      if (part.form == Part::Form::kept) continue;
      folding.folded = true;
      const std::vector<LinearStep> steps(chain.begin() + static_cast<std::ptrdiff_t>(part.begin),
                                          chain.begin() + static_cast<std::ptrdiff_t>(part.end));
      if (!folding.text.empty()) folding.text += ", ";
      folding.text += part.form == Part::Form::conv ? replace_by_conv(steps) : replace_by_dense(steps);
    }
    if (folding.folded) {
      folding.text += fmt::format(": {} instead of {}", to_text(after), to_text(before));
    } else {
      folding.text = why_not(chain, before);
    }
    foldings_.push_back(std::move(folding));
  }

  static std::string why_not(const std::vector<LinearStep>& chain, const Cost& before) {
    const auto conv = as_conv(chain, 0, chain.size()), dense = as_dense(chain, 0, chain.size());
    if (!conv && !dense) return fmt::format("its matrix would have more than {} elements", kMostMatrixCount);
    const bool as_filter = conv && (!dense || conv->cost.total() <= dense->cost.total());
    return fmt::format("as one {} it would take {} instead of {}", as_filter ? "convolution" : "matrix",
                       to_text(as_filter ? conv->cost : dense->cost), to_text(before));
  }

  static std::string name_of_all(const std::vector<LinearStep>& steps) {
    std::string name;
    for (const LinearStep& step : steps) {
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

  /// Puts `nodes` in the place of the steps.
  void replace(const std::vector<LinearStep>& steps, std::vector<Node> nodes) {
    for (const LinearStep& step : steps) replaced_[index_of(*step.node)] = {};
    replaced_[index_of(*steps.back().node)] = std::move(nodes);
  }
  size_t index_of(const Node& node) const { return static_cast<size_t>(&node - graph_.nodes.data()); }

  std::string replace_by_conv(const std::vector<LinearStep>& steps) {
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

  std::string replace_by_dense(const std::vector<LinearStep>& steps) {
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
      shape[0] = 0;  // as many images as there are
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
    std::erase_if(graph_.constants, [&](const auto& constant) {
      return constant.first != graph_.output && std::ranges::none_of(graph_.nodes, [&](const Node& node) {
               return std::ranges::count(node.inputs, constant.first) != 0;
             });
    });
  }

  Graph& graph_;
  std::vector<Shape> shapes_;
  ThreadPool& threads_;
  std::map<size_t, std::vector<Node>> replaced_;  ///< by the node's place: what stands there now
  std::vector<Folding> foldings_;
};

}  // namespace

std::vector<Folding> fold_linear(Graph& graph, const Shape& input_shape, ThreadPool& threads) {
  return Folder(graph, input_shape, threads).run();
}

}  // namespace convlab
