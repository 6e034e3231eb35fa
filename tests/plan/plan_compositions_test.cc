// Tests fusion of operator chains into one function: Swish, GELU, normalization and others. Results must not change,
// and chains that cannot be fused must stay.

#include "convlab/rewrite/compositions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "convlab/device/cpu.h"
#include "convlab/engine/engine.h"
#include "convlab/rewrite/simplify.h"
#include "tests/support/graph_builder.h"

namespace convlab {
namespace {

ValueId scalar(GraphBuilder& builder, float value) {
  const ValueId id = builder.constant({1});
  builder.graph().constants[id].values<float>()[0] = value;
  return id;
}

Tensor random_input(const Shape& shape) {
  Rng rng(7);
  Tensor x(ElementType::f32, shape);
  for (float& value : x.values<float>()) value = rng.uniform(-4, 4);
  return x;
}

/// Returns how many nodes remain after simplification for this shape. Also expects the results of layer-by-layer plans.
size_t nodes_left(GraphBuilder& builder, const Shape& shape) {
  const std::unique_ptr<Device> device = open_cpu({.threads = 2});
  std::vector<Tensor> x;
  x.push_back(random_input(shape));
  std::vector<Tensor> results[2];
  for (const PlanMode mode : {PlanMode::layers, PlanMode::fused}) {
    Engine engine(builder.graph().clone(), shape, *device, {.plan = {.mode = mode}, .at_once = true});
    results[mode == PlanMode::fused ? 1 : 0] = engine.run(x);
  }
  for (size_t i = 0; i < results[0].size(); ++i) {
    const auto want = results[0][i].values<float>(), got = results[1][i].values<float>();
    for (size_t k = 0; k < want.size(); ++k)
      EXPECT_NEAR(got[k], want[k], 2e-6 * (1 + std::abs(want[k]))) << i << ", " << k;
  }
  return simplified(builder.graph().clone(), shape, /*into_weights=*/true).nodes.size();
}

TEST(Compositions, SwishAndHardSwish) {
  GraphBuilder swish({-1, 3, 4});
  const ValueId x = swish.activation(swish.input(), ActivationKind::relu);
  swish.add(MulOp{}, {x, swish.activation(x, ActivationKind::sigmoid)});
  EXPECT_EQ(nodes_left(swish, {2, 3, 4}), 2u);
  GraphBuilder hard({-1, 3, 4});
  hard.add(MulOp{}, {hard.add(UnaryOp{UnaryKind::hard_sigmoid, 1.0f / 6, 0.5f}, {hard.input()}), hard.input()});
  EXPECT_EQ(nodes_left(hard, {2, 3, 4}), 1u);
  GraphBuilder other({-1, 3, 4});
  other.add(MulOp{}, {other.add(UnaryOp{UnaryKind::hard_sigmoid, 0.2f, 0.5f}, {other.input()}), other.input()});
  EXPECT_EQ(nodes_left(other, {2, 3, 4}), 2u) << "another slope is another function";
}

TEST(Compositions, GeluInEveryOrder) {
  const auto gate = [](GraphBuilder& builder, ValueId x, bool divides) {
    const float root = std::sqrt(2.0f);
    const ValueId scaled = divides ? builder.add(BinaryOp{BinaryKind::divide}, {x, scalar(builder, root)})
                                   : builder.add(MulOp{}, {scalar(builder, 1 / root), x});
    return builder.add(AddOp{}, {builder.add(UnaryOp{UnaryKind::erf}, {scaled}), scalar(builder, 1)});
  };
  for (const bool divides : {false, true}) {
    for (int order = 0; order < 3; ++order) {
      GraphBuilder builder({-1, 8});
      const ValueId x = builder.input(), half = scalar(builder, 0.5f), g = gate(builder, x, divides);
      if (order == 0) builder.add(MulOp{}, {builder.add(MulOp{}, {x, g}), half});
      if (order == 1) builder.add(MulOp{}, {builder.add(MulOp{}, {half, x}), g});
      if (order == 2) builder.add(MulOp{}, {x, builder.add(MulOp{}, {g, half})});
      EXPECT_EQ(nodes_left(builder, {3, 8}), 1u) << divides << ", " << order;
    }
  }
}

/// Adds (x - mean) / sqrt(mean((x - mean)^2) + epsilon) over these axes; without the mean unless `center`.
void add_normalization(GraphBuilder& builder, const std::vector<int64_t>& axes, bool center, bool power,
                       bool reciprocal) {
  const ReduceOp mean{.kind = ReduceKind::mean, .axes = axes};
  ValueId d = builder.input();
  if (center) d = builder.add(BinaryOp{BinaryKind::subtract}, {d, builder.add(mean, {d})});
  const ValueId square =
      power ? builder.add(BinaryOp{BinaryKind::power}, {d, scalar(builder, 2)}) : builder.add(MulOp{}, {d, d});
  const ValueId sum = builder.add(AddOp{}, {builder.add(mean, {square}), scalar(builder, 1e-5f)});
  const ValueId root = builder.add(UnaryOp{UnaryKind::sqrt}, {sum});
  if (reciprocal) {
    builder.add(MulOp{}, {d, builder.add(UnaryOp{UnaryKind::reciprocal}, {root})});
  } else {
    builder.add(BinaryOp{BinaryKind::divide}, {d, root});
  }
}

TEST(Compositions, NormalizationOfLastDimensions) {
  for (int which = 0; which < 8; ++which) {
    const bool center = (which & 1) != 0, power = (which & 2) != 0, reciprocal = (which & 4) != 0;
    GraphBuilder builder({-1, 5, 6});
    add_normalization(builder, {-1}, center, power, reciprocal);
    EXPECT_EQ(nodes_left(builder, {2, 5, 6}), 1u) << which;
    const Graph graph = simplified(builder.graph().clone(), Shape{2, 5, 6}, true);
    EXPECT_EQ(std::get<NormalizeOp>(graph.nodes[0].op).center, center);
    EXPECT_EQ(std::get<NormalizeOp>(graph.nodes[0].op).axis, 2);
  }
  GraphBuilder first({-1, 5, 6});
  add_normalization(first, {1}, true, true, false);
  EXPECT_EQ(nodes_left(first, {2, 5, 6}), 7u) << "not the last dimension";
}

TEST(Compositions, StayWhereSomebodyElseReadsWithin) {
  GraphBuilder builder({-1, 8});
  const ValueId gate = builder.activation(builder.input(), ActivationKind::sigmoid);
  builder.add(MulOp{}, {builder.input(), gate});
  builder.graph().outputs.push_back({.value = gate});
  EXPECT_EQ(nodes_left(builder, {3, 8}), 2u);
}

}  // namespace
}  // namespace convlab
