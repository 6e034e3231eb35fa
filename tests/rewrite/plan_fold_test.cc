// Tests folding of linear operators: results agree with the separate operators, and folding is applied only if it pays
// off.

#include "convlab/rewrite/fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "convlab/device/cpu.h"
#include "convlab/engine/engine.h"
#include "tests/support/graph_builder.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr Pool kMean2x2{.kind = PoolKind::average, .kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2};

/// A chain under construction: its newest value, and a bound on the number of roundings on the way to an output.
struct Chain {
  GraphBuilder builder;
  ValueId value;
  int64_t c, h, w;
  double terms = 0;

  void add(Op op, std::vector<ValueId> constants, double terms_of_op) {
    constants.insert(constants.begin(), value);
    value = builder.add(std::move(op), std::move(constants));
    terms += terms_of_op + 2;
  }
};

/// Adds a random linear operator on an image. Returns false if it does not fit.
bool add_image_operator(Chain& chain) {
  GraphBuilder& builder = chain.builder;
  Rng& rng = builder.rng();
  const int64_t c = chain.c, h = chain.h, w = chain.w;
  const auto chance = [&] { return rng.integer(0, 1) == 0; };
  switch (rng.integer(0, 9)) {
    case 0:
    case 1:
    case 2: {  // a convolution with random attributes
      const int64_t groups = c % 2 == 0 && chance() ? 2 : 1, k = groups * rng.integer(1, 3);
      const int64_t r = rng.integer(1, 3), s = rng.integer(1, 3);
      ConvOp op{.stride_h = rng.integer(1, 2),
                .stride_w = rng.integer(1, 2),
                .dilation_h = rng.integer(1, 2),
                .groups = groups};
      if (chance()) op.pad_top = 1, op.pad_left = rng.integer(0, 1), op.pad_right = rng.integer(0, 1);
      const Shape x{1, c, h, w}, filter{k, c / groups, r, s};
      if ((r - 1) * op.dilation_h + 1 > h || s > w) return false;
      std::vector<ValueId> constants{builder.constant(filter)};
      if (chance()) constants.push_back(builder.constant({k}));
      chain.add(op, std::move(constants), static_cast<double>(c / groups * r * s));
      chain.c = k;
      chain.h = (h + op.pad_top - (r - 1) * op.dilation_h - 1) / op.stride_h + 1;
      chain.w = (w + op.pad_left + op.pad_right - s) / op.stride_w + 1;
      return true;
    }
    case 3: {
      if (h < 2 || w < 2) return false;
      Pool pool = kMean2x2;
      pool.count_include_pad = chance();
      if (chance()) pool.pad_top = pool.pad_left = 1;
      pool.ceil_mode = chance();
      chain.add(PoolOp{pool}, {}, 4);
      chain.h = pool.output_h(h), chain.w = pool.output_w(w);
      return true;
    }
    case 4:
      chain.add(BatchNormOp{},
                {builder.constant({c}), builder.constant({c}), builder.constant({c}), builder.constant({c}, 0.5f, 2)},
                4);
      return true;
    case 5:
      chain.add(MulOp{}, {builder.constant(chance() ? Shape{c, 1, 1} : Shape{h, w})}, 1);
      return true;
    case 6:
      chain.add(AddOp{}, {builder.constant(chance() ? Shape{1, c, 1, 1} : Shape{1, c, h, w})}, 1);
      return true;
    case 7:
      if (w < 2) return false;
      chain.add(PadOp{PadMode::constant, {0, 0, 1, -1, 0, 0, 0, 2}, chance() ? 0.0f : 0.5f}, {}, 0);
      chain.h += 1, chain.w += 1;
      return true;
    case 8:
      chain.add(TransposeOp{{0, 1, 3, 2}}, {}, 0);
      std::swap(chain.h, chain.w);
      return true;
    default:
      chain.add(ReshapeOp{{0, h, c, w}}, {}, 0);
      std::swap(chain.c, chain.h);
      return true;
  }
}

/// A chain of random linear operators, which may end with dense layers.
Chain random_chain(uint64_t seed) {
  Chain chain{.builder = GraphBuilder({-1, 2, 8, 7}, seed), .value = 0, .c = 2, .h = 8, .w = 7};
  chain.value = chain.builder.input();
  Rng& rng = chain.builder.rng();
  for (int64_t left = rng.integer(2, 6); left > 0;) left -= add_image_operator(chain);
  if (rng.integer(0, 3) == 0) {
    chain.add(GlobalAveragePoolOp{}, {}, static_cast<double>(chain.h * chain.w));
    chain.h = chain.w = 1;
  }
  if (rng.integer(0, 2) == 0) return chain;
  const int64_t features = chain.c * chain.h * chain.w;
  const auto terms = static_cast<double>(features);
  chain.add(FlattenOp{}, {}, 0);
  switch (rng.integer(0, 2)) {
    case 0:
      chain.add(GemmOp{.alpha = 0.5f, .beta = 2, .transpose_b = true},
                {chain.builder.constant({5, features}), chain.builder.constant({5})}, terms);
      break;
    case 1:
      chain.add(GemmOp{}, {chain.builder.constant({features, 5})}, terms);
      chain.add(GemmOp{}, {chain.builder.constant({5, 3}), chain.builder.constant({1, 1})}, 5);
      break;
    default:
      chain.add(MatMulOp{}, {chain.builder.constant({features, 5})}, terms);
      chain.add(AddOp{}, {chain.builder.constant({5})}, 1);
  }
  return chain;
}

/// The same network with absolute values of its constants: its output on |x| bounds the sum of all terms' absolute
/// values.
Graph absolute(const Graph& graph) {
  Graph result = copy_of(graph);
  for (auto& [value, tensor] : result.constants) {
    for (float& each : tensor.values<float>()) each = std::abs(each);
  }
  for (const Node& node : graph.nodes) {  // in (x - mean) * scale the mean is subtracted
    if (!std::holds_alternative<BatchNormOp>(node.op)) continue;
    for (float& each : result.constants.at(node.inputs[3]).values<float>()) each = -each;
  }
  return result;
}

Tensor random_images(const Shape& shape, float low, uint64_t seed) {
  Rng rng(seed);
  Tensor x(ElementType::f32, shape);
  for (float& value : x.values<float>()) value = rng.uniform(low, 1);
  return x;
}

Tensor run(const Graph& graph, const Tensor& x, PlanMode mode) {
  const auto device = open_cpu({.threads = 2});
  return Engine(copy_of(graph), x.shape(), *device, {.plan = {.mode = mode}}).run(x);
}

TEST(Fold, GivesWhatTheOperatorsGiveOneByOne) {
  int folded = 0, convolutions = 0, matrices = 0, refused = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Chain chain = random_chain(seed);
    const Graph& graph = const_cast<Chain&>(chain).builder.graph();
    const Tensor x = random_images({3, 2, 8, 7}, -1, seed);
    Tensor sizes = x.clone();
    for (float& value : sizes.values<float>()) value = std::abs(value);

    const auto device = open_cpu({.threads = 2});
    Engine engine(copy_of(graph), x.shape(), *device, {.plan = {.mode = PlanMode::folded}});
    const Tensor got = engine.run(x), expected = run(graph, x, PlanMode::layers);
    const Tensor scale = run(absolute(graph), sizes, PlanMode::layers);
    // Both ways round at most once per term on the way to an output, plus once per rounded weight (Higham, "Accuracy
    // and Stability of Numerical Algorithms", section 3.1). A folded sum has at most as many terms as an image has
    // pixels, here fewer than 500.
    const double slack = (2 * chain.terms + 500) * 0x1p-24;
    ASSERT_EQ(got.shape(), expected.shape());
    for (size_t i = 0; i < static_cast<size_t>(got.count()); ++i) {
      const double tolerance = slack * scale.values<float>()[i];
      ASSERT_TRUE(std::abs(got.values<float>()[i] - expected.values<float>()[i]) <= tolerance)
          << i << ": " << got.values<float>()[i] << ", not " << expected.values<float>()[i] << ", " << tolerance;
    }
    for (const Folding& folding : engine.foldings()) {
      ++(folding.folded ? folded : refused);
      convolutions += folding.folded && folding.text.find(" as Conv ") != std::string::npos;
      matrices += folding.folded && folding.text.find(" as Gemm ") != std::string::npos;
    }
  }
  // Each outcome must have occurred.
  EXPECT_GT(folded, 100);
  EXPECT_GT(convolutions, 20);
  EXPECT_GT(matrices, 50);
  EXPECT_GT(refused, 0);
}

/// Returns the names of the steps of the plan folded for this input shape.
std::vector<std::string> steps_of(const Graph& graph, const Shape& input, std::vector<Folding>* foldings = nullptr) {
  const auto device = open_cpu({.threads = 1});
  const Engine engine(copy_of(graph), input, *device, {.plan = {.mode = PlanMode::folded}});
  if (foldings != nullptr) *foldings = engine.foldings();
  std::vector<std::string> names;
  for (const PlanStep& step : engine.plan().steps) names.push_back(step.name + ": " + step.op_name());
  return names;
}

GraphBuilder convolution_and_dense(int64_t maps, int64_t outputs) {
  GraphBuilder builder({-1, 2, 12, 12});
  ValueId x = builder.conv(builder.input(), maps, 2, 5, true, "conv");
  x = builder.add(FlattenOp{}, {x}, "flatten");
  x = builder.add(GemmOp{}, {x, builder.constant({maps * 64, outputs})}, "fc");
  builder.activation(x, ActivationKind::tanh, "tanh");
  return builder;
}

TEST(Fold, AConvolutionBeforeADenseLayerBecomesItsMatrix) {
  std::vector<Folding> foldings;
  EXPECT_THAT(steps_of(convolution_and_dense(8, 10).graph(), {64, 2, 12, 12}, &foldings),
              ElementsAre("conv+fc+tanh: Gemm+tanh"));
  ASSERT_EQ(foldings.size(), 1u);
  EXPECT_TRUE(foldings[0].folded);
  EXPECT_EQ(foldings[0].nodes, "conv+flatten+fc");
  EXPECT_THAT(foldings[0].text, HasSubstr("as Gemm 288x10"));
}

TEST(Fold, IsRefusedWithTheCostsWhereItDoesNotPay) {
  // One channel of 64 pixels, 1000 outputs: 64,000 multiply-adds after the convolution, 288,000 in a folded matrix.
  std::vector<Folding> foldings;
  EXPECT_THAT(steps_of(convolution_and_dense(1, 1000).graph(), {64, 2, 12, 12}, &foldings),
              ElementsAre("conv: Conv+bias", "fc+tanh: Gemm+tanh"));
  ASSERT_EQ(foldings.size(), 1u);
  EXPECT_FALSE(foldings[0].folded);
  EXPECT_THAT(foldings[0].text,
              AllOf(HasSubstr("one matrix would need 0.29 million"), HasSubstr("instead of 0.07 million")));
}

TEST(Fold, AMatrixThatTakesAMinuteToMakeIsNotMade) {
  GraphBuilder builder({-1, 1, 1024, 1024});
  const Pool wide{.kind = PoolKind::average, .kernel_h = 512, .kernel_w = 512, .stride_h = 1, .stride_w = 1};
  builder.add(GlobalAveragePoolOp{}, {builder.add(PoolOp{wide}, {builder.input()}, "mean")}, "all");
  std::vector<Folding> foldings;
  EXPECT_EQ(steps_of(builder.graph(), {1, 1, 1024, 1024}, &foldings).size(), 2u);
  ASSERT_EQ(foldings.size(), 1u);
  EXPECT_FALSE(foldings[0].folded);
  EXPECT_THAT(foldings[0].text, HasSubstr("multiply-adds to compute"));
}

TEST(Fold, AMeanAfterAConvolutionBecomesAWiderFilterWithItsStride) {
  GraphBuilder builder({-1, 3, 20, 20});
  const ValueId x = builder.conv(builder.input(), 8, 3, 5, true, "conv");
  builder.activation(builder.add(PoolOp{kMean2x2}, {x}, "mean"), ActivationKind::relu, "relu");
  const auto device = open_cpu({.threads = 1});
  const Engine engine(copy_of(builder.graph()), Shape{64, 3, 20, 20}, *device, {.plan = {.mode = PlanMode::folded}});
  ASSERT_EQ(engine.plan().steps.size(), 1u);
  EXPECT_EQ(to_text(conv_step(engine.plan().steps[0].what).problem), "n64_c3h20w20_k8r6s6_st2");
}

TEST(Fold, StopsAtWhatIsNotLinearAndAtValuesReadTwice) {
  GraphBuilder builder({-1, 2, 6, 6});
  const ValueId a = builder.conv(builder.input(), 8, 2, 3, false, "a");
  const ValueId b = builder.conv(builder.activation(a, ActivationKind::relu), 8, 8, 1, false, "b");
  const ValueId c = builder.conv(b, 2, 8, 3, false, "c");
  const ValueId d = builder.conv(b, 2, 8, 3, false, "d");
  builder.add(AddOp{}, {c, d}, "sum");
  std::vector<Folding> foldings;
  EXPECT_EQ(steps_of(builder.graph(), {4, 2, 6, 6}, &foldings).size(), 5u);
  EXPECT_TRUE(foldings.empty());
}

TEST(Fold, ALayersOrFusedPlanFoldsNothing) {
  for (const PlanMode mode : {PlanMode::layers, PlanMode::fused}) {
    const auto device = open_cpu({.threads = 1});
    const Engine engine(copy_of(convolution_and_dense(8, 10).graph()), Shape{64, 2, 12, 12}, *device,
                        {.plan = {.mode = mode}});
    EXPECT_GT(engine.plan().steps.size(), 1u);
    EXPECT_TRUE(engine.foldings().empty());
  }
}

}  // namespace
}  // namespace convlab
