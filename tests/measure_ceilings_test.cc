#include "convlab/measure/ceilings.h"

#include <gtest/gtest.h>

#include "convlab/device/thread_pool.h"

namespace convlab {
namespace {

TEST(Ceilings, BoundIsTheSlowerOfArithmeticAndTraffic) {
  const Ceilings ceilings{.flops_per_second = 100, .bytes_per_second = 10};
  EXPECT_DOUBLE_EQ(ceilings.bound_seconds(200, 10), 2);
  EXPECT_DOUBLE_EQ(ceilings.bound_seconds(200, 30), 3);
}

TEST(Ceilings, MeasuredRatesAreThoseOfSomeProcessor) {
  ThreadPool threads(1);
  const Ceilings ceilings = measure_ceilings(threads);
  // From one scalar operation a cycle of a slow processor to 32 lanes, two units, 8 GHz: a loop that the compiler
  // dropped, or a unit mistaken, is outside.
  EXPECT_GT(ceilings.flops_per_second, 1e8);
  EXPECT_LT(ceilings.flops_per_second, 1e12);
  EXPECT_GT(ceilings.bytes_per_second, 1e8);
  EXPECT_LT(ceilings.bytes_per_second, 1e13);
}

}  // namespace
}  // namespace convlab
