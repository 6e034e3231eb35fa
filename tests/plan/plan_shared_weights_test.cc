// Tests that engines of one model share weights: prepared weights and equal constants are in memory once.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <vector>

#include "convlab/device/cpu.h"
#include "convlab/device/devices.h"
#include "convlab/device/simt.h"
#include "convlab/engine/device_constants.h"
#include "convlab/engine/engine.h"
#include "convlab/engine/shared_weights.h"
#include "convlab/plan/planner.h"
#include "tests/kernels/op_checks.h"
#include "tests/support/graph_builder.h"

namespace convlab {
namespace {

/// Two convolutions, a batch normalization that is folded into the second, and a dense layer.
Graph network() {
  GraphBuilder builder({-1, 3, 8, 8});
  const ValueId x = builder.conv(builder.input(), 4, 3, 3, true);
  const ValueId y = builder.batch_norm(builder.conv(x, 5, 4, 3, true), 5);
  builder.add(GemmOp{}, {builder.add(FlattenOp{}, {y}), builder.constant({80, 10}), builder.constant({10})});
  return builder.take();
}

std::shared_ptr<const Plan> plan_of(const Graph& graph, const Shape& input, const PlanOptions& options = {}) {
  return std::make_shared<const Plan>(make_plan(graph, input, open_cpu({.threads = 2})->caps(), options));
}

class SharedWeightsTest : public testing::Test {
 protected:
  /// Whether this call prepares the plan's weights, rather than reusing them. Keeps the result in use.
  bool prepares(const std::shared_ptr<const Plan>& plan, const std::string& device = "cpu") {
    bool prepared = false;
    used_.push_back(weights_.prepared(device, plan, [&] {
      prepared = true;
      return PreparedWeights{};
    }));
    return prepared;
  }

  SharedWeights weights_;
  std::vector<std::shared_ptr<const PreparedWeights>> used_;
};

TEST_F(SharedWeightsTest, ArePreparedOnceForAllNumbersOfImages) {
  const Graph graph = network();
  EXPECT_TRUE(prepares(plan_of(graph, {1, 3, 8, 8})));
  EXPECT_FALSE(prepares(plan_of(graph, {1, 3, 8, 8})));
  EXPECT_FALSE(prepares(plan_of(graph, {2, 3, 8, 8})));
  used_.clear();
  EXPECT_TRUE(prepares(plan_of(graph, {1, 3, 8, 8}))) << "after the last plan that used it";
}

TEST_F(SharedWeightsTest, ArePreparedAgainForWhatTheyMayDependOn) {
  const Graph graph = network();
  EXPECT_TRUE(prepares(plan_of(graph, {1, 3, 8, 8})));
  EXPECT_TRUE(prepares(plan_of(graph, {1, 3, 8, 8}), "cuda:1"));
  EXPECT_TRUE(prepares(plan_of(graph, {1, 3, 8, 8}, {.math = Math::bf16x2})));
  EXPECT_TRUE(prepares(plan_of(graph, {1, 3, 8, 8}, {.mode = PlanMode::layers})));
  EXPECT_TRUE(prepares(plan_of(graph, {1, 3, 8, 8}, {.kernel = "cpu.im2col_gemm"})));
  EXPECT_TRUE(prepares(plan_of(graph, {1, 3, 8, 8}, {.input = ElementType::u8})));
  GraphBuilder open({-1, 3, -1, -1});
  open.conv(open.input(), 4, 3, 3);
  EXPECT_TRUE(prepares(plan_of(open.graph(), {1, 3, 9, 9})));
  EXPECT_TRUE(prepares(plan_of(open.graph(), {1, 3, 9, 12})));
}

TEST_F(SharedWeightsTest, ConstantsAreInMemoryOnceWhereTheyAreEqual) {
  Graph one = network(), equal = network(), other = network();
  other.constants.begin()->second.values<float>()[0] += 1;
  for (Graph* const graph : {&one, &equal, &other}) weights_.unify(*graph);
  const auto address = [](const Graph& graph, int place) {
    return std::next(graph.constants.begin(), place)->second.raw();
  };
  for (int i = 0; i < std::ssize(one.constants); ++i) {
    EXPECT_EQ(address(one, i), address(equal, i)) << i;
    EXPECT_EQ(address(one, i) == address(other, i), i != 0) << i;
  }
}

TEST_F(SharedWeightsTest, ConstantsThatNobodyHasReadAreNotMade) {
  Graph graph = network();
  Tensor& first = graph.constants.begin()->second;
  first = Tensor::deferred(ElementType::f32, first.shape(), []() -> Tensor { throw bad_input("it is made"); });
  EXPECT_NO_THROW(weights_.unify(graph));
}

// Sessions on several threads open engines and run them concurrently. Small batches after large ones use other kernels.
TEST(SharedWeightsOfEngines, GiveTheSameBits) {
  Graph graph = network();
  const auto device = open_cpu({.threads = 1});
  Engine alone(graph.clone(), Shape{20, 3, 8, 8}, *device, {});
  const Tensor x = random({20, 3, 8, 8}, 3), few = random({3, 3, 8, 8}, 3), wanted = alone.run(x),
               wanted_few = alone.run(few);
  graph.share_elements();
  const EngineOptions options{.weights = std::make_shared<SharedWeights>()};
  const auto is = [](const Tensor& y, const Tensor& expected) {
    return y.shape() == expected.shape() && std::memcmp(y.raw(), expected.raw(), y.bytes()) == 0;
  };
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        const auto own = open_cpu({.threads = 1});
        Engine engine(graph.clone(), x.shape(), *own, options);
        for (int pass = 0; pass < 3; ++pass) right += is(engine.run(x), wanted) && is(engine.run(few), wanted_few);
      });
    }
  }
  EXPECT_EQ(right, 4 * 3);
}

// A GPU's memory holds the constants that launches read, and the others only while kernels pack them.
TEST(ConstantsOfADevice, AreThereForPackingOnlyWhereLaunchesDoNotReadThem) {
  if (!simt_present()) GTEST_SKIP() << how_to_get_simt();
  const auto device = open_device("simt", {.threads = 1});
  const auto stream = device->make_stream();
  GraphBuilder builder({-1, 64, 8, 8});
  builder.conv(builder.conv(builder.input(), 64, 64, 3), 64, 64, 3);
  Graph& graph = builder.graph();
  const Plan plan = make_plan(graph, Shape{2, 64, 8, 8}, device->caps(), {.math = Math::fp16});
  DeviceConstants constants(graph, *device, *stream);
  const auto address_of_weights = [&](const PlanStep& step) {
    return constants.address(static_cast<ValueId>(step.inputs[PlanStep::kWeights].at));
  };
  size_t packs = 0;
  SharedWeights weights;
  constants.place(plan, weights, nullptr);
  for (int pass = 0; pass < 2; ++pass) {
    for (const PlanStep& step : plan.steps) {
      if (!step.kernel->packs_weights) continue;
      ++packs;
      EXPECT_THROW(address_of_weights(step), std::out_of_range) << step.name;
      const DeviceConstants::Packing all(constants, plan);
      EXPECT_NE(address_of_weights(step), nullptr) << step.name;
    }
  }
  EXPECT_GT(packs, 0u);
}

// A dense layer's launches read its weights and its bias.
TEST(ConstantsOfADevice, AreInItsMemoryOnceForAllGraphsThatHaveThem) {
  if (!simt_present()) GTEST_SKIP() << how_to_get_simt();
  const auto device = open_device("simt", {.threads = 1});
  const auto stream = device->make_stream();
  GraphBuilder builder({-1, 32});
  const ValueId w = builder.constant({32, 10});
  builder.add(GemmOp{}, {builder.input(), w, builder.constant({10})});
  Graph one = builder.take(), equal = one.clone(), other = one.clone(), unknown = one.clone();
  other.constants.at(w).values<float>()[0] += 1;
  SharedWeights weights;
  for (Graph* const graph : {&one, &equal}) weights.unify(*graph);
  const Plan plan = make_plan(one, Shape{2, 32}, device->caps(), {});
  const auto address = [&](DeviceConstants& constants) {
    constants.place(plan, weights, nullptr);
    return constants.address(w);
  };
  DeviceConstants of_one(one, *device, *stream), of_equal(equal, *device, *stream), of_other(other, *device, *stream),
      of_unknown(unknown, *device, *stream);
  const void* const first = address(of_one);
  EXPECT_EQ(address(of_equal), first);
  EXPECT_NE(address(of_unknown), first);
  weights.unify(other);
  EXPECT_NE(address(of_other), first);
}

}  // namespace
}  // namespace convlab
