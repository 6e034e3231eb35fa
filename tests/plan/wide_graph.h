#pragma once

// Builds networks with many channels for tests of plans with nchw8c or nhwc layouts.

#include <cmath>
#include <string>
#include <vector>

#include "convlab/base/rng.h"
#include "convlab/plan/plan.h"
#include "tests/support/graph_builder.h"

namespace convlab {

inline constexpr int64_t kHeight = 9, kWidth = 7;

inline ConvOp same(int64_t side, int64_t groups = 1) {
  const int64_t pad = side / 2;
  return {.pad_top = pad, .pad_left = pad, .pad_bottom = pad, .pad_right = pad, .groups = groups};
}

/// A graph with one input of 3 channels; a first convolution makes it 16 channels or more.
class WideGraph : public GraphBuilder {
 public:
  explicit WideGraph(uint64_t seed = 1) : GraphBuilder({-1, 3, kHeight, kWidth}, seed) {}

  ValueId conv(ValueId x, int64_t channels, int64_t maps, int64_t side, int64_t groups = 1) {
    const float size = 1 / std::sqrt(static_cast<float>(channels / groups * side * side));
    const ValueId w = constant({maps, channels / groups, side, side}, -1.7f * size, 1.7f * size);
    return add(same(side, groups), {x, w, constant({maps})});
  }

  /// A residual addition, a gate per channel, a depthwise convolution and a 1x1 convolution.
  void gated() {
    const ValueId first = conv(input(), 3, 16, 3);
    const ValueId left = conv(first, 16, 32, 3);
    const ValueId right = conv(first, 16, 32, 1);
    const ValueId sum = activation(add(AddOp{}, {left, right}), ActivationKind::relu);
    const ValueId gate = activation(conv(add(GlobalAveragePoolOp{}, {sum}), 32, 32, 1), ActivationKind::sigmoid);
    conv(conv(add(MulOp{}, {sum, gate}), 32, 32, 3, 32), 32, 16, 1);
  }

  /// A squeeze-and-excitation gate for x: one factor per channel, from two 1x1 convolutions of the channels' means.
  ValueId squeezed(ValueId x, int64_t channels, int64_t hidden) {
    const ValueId mean = add(GlobalAveragePoolOp{}, {x});
    const ValueId few = add(UnaryOp{UnaryKind::swish, 1}, {conv(mean, channels, hidden, 1)});
    return activation(conv(few, hidden, channels, 1), ActivationKind::sigmoid);
  }

  /// As in DenseNet, each concatenation is a prefix of the next. The last one has 40 channels.
  void concatenations() {
    ValueId joined = conv(input(), 3, 16, 3);
    std::vector<ValueId> parts{joined};
    for (int64_t layer = 0; layer < 3; ++layer) {
      parts.push_back(conv(joined, 16 + 8 * layer, 8, 3));
      joined = add(ConcatOp{.axis = 1}, parts);
    }
    conv(joined, 40, 32, 3);
  }
};

inline Tensor images(int64_t n) {
  Rng rng(9);
  Tensor x(ElementType::f32, {n, 3, kHeight, kWidth});
  for (float& each : x.values<float>()) each = rng.uniform(-1, 1);
  return x;
}

/// The relative L2 error of `got`.
inline double relative_error(const Tensor& wanted, const Tensor& got) {
  double error = 0, size = 0;
  for (size_t at = 0; at < static_cast<size_t>(wanted.count()); ++at) {
    const double value = wanted.values<float>()[at], other = got.values<float>()[at];
    error += (value - other) * (value - other);
    size += value * value;
  }
  return std::sqrt(error / size);
}

/// The operator names of a plan's steps.
inline std::vector<std::string> names_of(const Plan& plan) {
  std::vector<std::string> names;
  for (const PlanStep& step : plan.steps) names.push_back(step.op_name());
  return names;
}

/// A random network of convolutions of all kinds, activations, additions, nested concatenations, pools and gates.
inline Graph random_graph(uint64_t seed) {
  WideGraph graph(seed);
  Rng& rng = graph.rng();
  struct Value {
    ValueId id;
    int64_t channels;
  };
  std::vector<Value> values{{graph.conv(graph.input(), 3, 16, 3), 16}};
  const auto any = [&] { return values[static_cast<size_t>(rng.integer(0, std::ssize(values) - 1))]; };
  const int64_t nodes = rng.integer(4, 14);
  for (int64_t i = 0; i < nodes; ++i) {
    const Value x = rng.integer(0, 2) > 0 ? values.back() : any();
    Value y = x;
    switch (rng.integer(0, 8)) {
      case 0:
      case 1:
        y.channels = 8 * rng.integer(1, 6);
        y.id = graph.conv(x.id, x.channels, y.channels, 2 * rng.integer(0, 1) + 1);
        break;
      case 2:
        y.id = graph.conv(x.id, x.channels, x.channels, 3, x.channels);
        break;
      case 3:
        y.id = graph.activation(x.id, rng.integer(0, 1) > 0 ? ActivationKind::relu : ActivationKind::sigmoid);
        break;
      case 4:
        y.id = graph.add(UnaryOp{UnaryKind::swish, 1}, {x.id});
        break;
      case 5: {
        const Value other = any();
        if (other.channels == x.channels) y.id = graph.add(AddOp{}, {other.id, x.id});
        break;
      }
      case 6: {
        const Value second = any(), third = any();
        y = {graph.add(ConcatOp{.axis = 1}, {x.id, second.id, third.id}),
             x.channels + second.channels + third.channels};
        break;
      }
      case 7: {
        Pool pool{.kernel_h = 3, .kernel_w = 3, .pad_top = 1, .pad_left = 1, .pad_bottom = 1, .pad_right = 1};
        if (rng.integer(0, 1) > 0) pool.kind = PoolKind::average;
        y.id = graph.add(PoolOp{pool}, {x.id});
        break;
      }
      default: {
        const ValueId mean = graph.add(GlobalAveragePoolOp{}, {x.id});
        const ValueId gate = graph.activation(graph.conv(mean, x.channels, x.channels, 1), ActivationKind::sigmoid);
        y.id = graph.add(MulOp{}, {x.id, rng.integer(0, 1) > 0 ? graph.squeezed(x.id, x.channels, 6) : gate});
        break;
      }
    }
    if (y.id != x.id && y.channels <= 96) values.push_back(y);
  }
  graph.conv(values.back().id, values.back().channels, 32, 3);
  if (rng.integer(0, 1) > 0) graph.graph().outputs.push_back({.value = any().id});
  return graph.take();
}

}  // namespace convlab
