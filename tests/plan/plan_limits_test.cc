// Tests that graphs of any size are planned in bounded memory, stack and time, or refused.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <ctime>
#include <functional>

#include "convlab/model/graph_limits.h"
#include "tests/plan/cpu_plan.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Plans a graph on a stack of 256 KiB with nchw8c layouts. Returns the CPU time in seconds.
double planned_on_small_stack(GraphBuilder& builder) {
  double seconds = 0;
  std::function<void()> plan = [&] {
    plan_of(builder, {}, 16);
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    seconds = static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
  };
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, size_t{256} << 10);
  pthread_t thread;
  const auto call = [](void* function) -> void* {
    (*static_cast<std::function<void()>*>(function))();
    return nullptr;
  };
  EXPECT_EQ(pthread_create(&thread, &attributes, call, &plan), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  return seconds;
}

TEST(PlanLimits, GraphsOfManyNodesTakeLittleStackAndTime) {
  constexpr double kMostSeconds = 40;  // planning takes 0.1 to 2 s, ten times that with sanitizers
  const auto many = static_cast<int64_t>(kMostNodes);
  GraphBuilder flattens({-1, 1, 8, 8});
  ValueId x = flattens.conv(flattens.input(), 2, 1, 3);
  for (int64_t i = 0; i < many; ++i) x = flattens.add(FlattenOp{}, {x});
  flattens.add(GemmOp{}, {x, flattens.constant({72, 4})});
  EXPECT_LT(planned_on_small_stack(flattens), kMostSeconds);

  GraphBuilder relus({-1, 4});
  x = relus.input();
  for (int64_t i = 0; i < many; ++i) x = relus.activation(x, ActivationKind::relu);
  EXPECT_LT(planned_on_small_stack(relus), kMostSeconds);

  GraphBuilder fan({-1, 4});  // all values of the first half stay alive until they are added
  std::vector<ValueId> values;
  for (int64_t i = 0; i < many / 2; ++i) values.push_back(fan.activation(fan.input(), ActivationKind::relu));
  x = values[0];
  for (const ValueId value : values) x = fan.add(AddOp{}, {x, value});
  EXPECT_LT(planned_on_small_stack(fan), kMostSeconds);

  GraphBuilder scales({-1, 1, 8, 8});  // all of them are folded into the weights
  x = scales.conv(scales.input(), 2, 1, 3);
  for (int64_t i = 0; i < many; ++i) x = scales.add(MulOp{}, {x, scales.constant({1})});
  EXPECT_LT(planned_on_small_stack(scales), kMostSeconds);
}

TEST(PlanLimits, OperatorsOfConstantsAreBoundedInMemoryAndWork) {
  GraphBuilder work({-1, 1});
  const ValueId matrix = work.constant({2048, 2048});
  work.add(AddOp{}, {work.input(), work.add(MatMulOp{}, {matrix, matrix}, "product")});
  EXPECT_THAT(bad_input_message([&] { plan_of(work); }), AllOf(HasSubstr("product"), HasSubstr("8589934592")));

  GraphBuilder memory({-1, 1});  // 256 KiB, copied a thousand times
  ValueId x = memory.add(MulOp{}, {memory.constant({1 << 16}), memory.constant({1})});
  for (int i = 0; i < 1000; ++i) x = memory.add(ReshapeOp{{1 << 16}}, {x}, "copy" + std::to_string(i));
  memory.add(AddOp{}, {memory.input(), x});
  EXPECT_THAT(bad_input_message([&] { plan_of(memory); }), HasSubstr("copy"));
}

TEST(PlanLimits, WeightsThatManyNodesShareAreNotCopiedForEach) {
  GraphBuilder builder({-1, 256, 1, 1});
  const ValueId weights = builder.constant({256, 256, 1, 1});  // 256 KiB
  ValueId x = builder.input();
  for (int i = 0; i < 1000; ++i) {
    x = builder.add(MulOp{}, {builder.add(ConvOp{}, {x, weights}), builder.constant({1})});
  }
  int64_t bytes = 0;
  const Graph graph = simplified(copy_of(builder.graph()), Shape{1, 256, 1, 1}, true);
  for (const auto& [value, tensor] : graph.constants) bytes += static_cast<int64_t>(tensor.bytes());
  EXPECT_LT(bytes, 20 << 20);
  EXPECT_LT(graph.nodes.size(), 2000) << "some of them are";
}

TEST(PlanLimits, ConstantsThatGrowWithoutBoundAreRefused) {
  GraphBuilder builder({-1, 1});
  ValueId x = builder.constant({1 << 20, 1});
  x = builder.add(AddOp{}, {x, builder.constant({1, 1 << 20})}, "huge");
  builder.add(AddOp{}, {builder.input(), x});
  EXPECT_THAT(bad_input_message([&] { plan_of(builder); }), HasSubstr("huge"));
}

}  // namespace
}  // namespace convlab
