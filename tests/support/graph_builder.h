#pragma once

#include <string>
#include <utility>
#include <vector>

#include "convlab/base/rng.h"
#include "convlab/model/graph.h"

namespace convlab {

/// Builds graphs for tests. Values get numbered names; constants are random.
class GraphBuilder {
 public:
  explicit GraphBuilder(Shape input_shape, uint64_t seed = 1) : rng_(seed) {
    graph_.name = "test";
    graph_.inputs[0].shape = std::move(input_shape);
    graph_.inputs[0].value = graph_.outputs[0].value = graph_.add_value("x");
  }

  ValueId input() const { return graph_.inputs[0].value; }

  ValueId constant(const Shape& shape, float low = -1, float high = 1) {
    const ValueId value = graph_.add_value("c" + std::to_string(graph_.value_names.size()));
    Tensor tensor(ElementType::f32, shape);
    for (float& each : tensor.values<float>()) each = rng_.uniform(low, high);
    graph_.constants[value] = std::move(tensor);
    return value;
  }

  /// Adds a node and makes its output the graph's output. An empty name becomes "n0", "n1", ...
  ValueId add(Op op, std::vector<ValueId> inputs, std::string name = "") {
    if (name.empty()) name = "n" + std::to_string(graph_.nodes.size());
    const ValueId output = graph_.add_value(name + ".y");
    graph_.nodes.push_back({std::move(name), std::move(op), std::move(inputs), output});
    return graph_.outputs[0].value = output;
  }

  ValueId conv(ValueId x, int64_t k, int64_t c, int64_t side, bool bias = false, std::string name = "") {
    std::vector<ValueId> inputs{x, constant({k, c, side, side})};
    if (bias) inputs.push_back(constant({k}));
    return add(ConvOp{}, std::move(inputs), std::move(name));
  }

  ValueId batch_norm(ValueId x, int64_t c, std::string name = "") {
    return add(BatchNormOp{}, {x, constant({c}), constant({c}), constant({c}), constant({c}, 0.5f, 2)},
               std::move(name));
  }

  ValueId activation(ValueId x, ActivationKind kind, std::string name = "") {
    return add(ActivationOp{{kind, 0.1f, 0.8f}}, {x}, std::move(name));
  }

  ValueId max_pool(ValueId x, int64_t side = 2, std::string name = "") {
    return add(PoolOp{{.kernel_h = side, .kernel_w = side, .stride_h = side, .stride_w = side}}, {x}, std::move(name));
  }

  Rng& rng() { return rng_; }
  Graph& graph() { return graph_; }
  Graph take() { return std::move(graph_); }

 private:
  Graph graph_;
  Rng rng_;
};

/// Graph has no copy constructor, so tests that run one graph in several ways copy it with this function.
inline Graph copy_of(const Graph& graph) { return graph.clone(); }

}  // namespace convlab
