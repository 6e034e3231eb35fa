// Tests measured ceilings of arithmetic and memory traffic, and the bounds computed from them.

#include "convlab/measure/ceilings.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "convlab/device/device.h"
#include "convlab/device/devices.h"
#include "convlab/kernels/cpu/simd/bf16_tiles.h"

namespace convlab {
namespace {

TEST(Ceilings, BoundIsTheSlowerOfArithmeticAndTraffic) {
  const Ceilings ceilings{.fp32_flops = 100, .memory_bytes = 10, .cache_bytes = 40, .cache_size = 8};
  EXPECT_DOUBLE_EQ(ceilings.bound(200, 10, Math::fp32).seconds, 2);
  EXPECT_EQ(ceilings.bound(200, 10, Math::fp32).limit, Limit::arithmetic);
  EXPECT_DOUBLE_EQ(ceilings.bound(200, 30, Math::fp32).seconds, 3);
  EXPECT_EQ(ceilings.bound(200, 30, Math::fp32).limit, Limit::memory);
  EXPECT_DOUBLE_EQ(ceilings.bound(1, 8, Math::fp32).seconds, 0.2);
  EXPECT_EQ(ceilings.bound(1, 8, Math::fp32).limit, Limit::cache);
}

TEST(Ceilings, EachClassMayUseTheFastestArithmeticThatIsAsAccurate) {
  const Ceilings gpu{.fp32_flops = 60, .tf32_flops = 300, .fp16_flops = 600};
  EXPECT_DOUBLE_EQ(gpu.flops_per_second(Math::fp32), 200) << "three products of halves";
  EXPECT_DOUBLE_EQ(gpu.flops_per_second(Math::tf32), 600);
  EXPECT_DOUBLE_EQ(gpu.flops_per_second(Math::fp16), 600);
  const Ceilings host{.fp32_flops = 60};
  for (const Math math : {Math::fp32, Math::tf32, Math::fp16}) EXPECT_DOUBLE_EQ(host.flops_per_second(math), 60);
  const Ceilings with_amx{.fp32_flops = 60, .bf16_flops = 900};
  EXPECT_DOUBLE_EQ(with_amx.flops_per_second(Math::bf16), 900);
  EXPECT_DOUBLE_EQ(with_amx.flops_per_second(Math::bf16x2), 300) << "three products of bfloat16";
  for (const Math math : {Math::fp32, Math::tf32, Math::fp16}) EXPECT_DOUBLE_EQ(with_amx.flops_per_second(math), 60);
}

TEST(Ceilings, MeasuredRatesAreThoseOfSomeProcessor) {
  const auto device = open_device("cpu", {.threads = 1});
  const Ceilings ceilings = measure_ceilings(*device);
  // The range covers one scalar operation per cycle on a slow CPU up to 32 lanes, two units and 8 GHz. It detects a
  // loop that the compiler removed, or a wrong unit.
  EXPECT_GT(ceilings.fp32_flops, 1e8);
  EXPECT_LT(ceilings.fp32_flops, 1e12);
  EXPECT_EQ(ceilings.bf16_flops > 0, has_unit(Bf16Unit::avx512_bf16));
  // A bf16 instruction computes twice as many products as an fp32 one, and Intel CPUs issue it a quarter as often. The
  // upper bound is AMX's 2048 operations per cycle.
  if (ceilings.bf16_flops > 0) {
    EXPECT_GT(ceilings.bf16_flops, ceilings.fp32_flops / 4);
    EXPECT_LT(ceilings.bf16_flops, 2e13);
  }
  for (const double bytes : {ceilings.memory_bytes, ceilings.cache_bytes}) {
    EXPECT_GT(bytes, 1e8);
    EXPECT_LT(bytes, 1e13);
  }
  EXPECT_GT(ceilings.cache_size, 0);
}

TEST(Ceilings, OfAHostDoNotDependOnItsLoad) {
  const auto device = open_device("cpu", {});
  const double idle = measure_ceilings(*device).fp32_flops;
  std::atomic<bool> done = false;
  std::vector<std::jthread> others;  // three threads for each of the device's: it gets a quarter of the machine
  for (int i = 0; i < 3 * device->caps().threads; ++i) {
    others.emplace_back([&] {
      while (!done) continue;
    });
  }
  const double loaded = measure_ceilings(*device).fp32_flops;
  done = true;
  EXPECT_GT(loaded, idle / 2);
}

}  // namespace
}  // namespace convlab
