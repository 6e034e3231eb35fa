// Tests the performance model with synthetic counts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "convlab/kernels/step_text.h"
#include "convlab/predict/predicted_step.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::HasSubstr;

constexpr const char* kH200 = "NVIDIA H200, compute capability 9.0, 100 multiprocessors, 140 GiB";

/// A hundred multiprocessors at 1 GHz with 128 multiply-adds per cycle each: 25.6 TFLOP/s.
Ceilings round_ceilings() {
  return {.fp32_flops = 25.6e12,
          .tf32_flops = 100e12,
          .fp16_flops = 200e12,
          .memory_bytes = 4e12,
          .cache_bytes = 8e12,
          .cache_size = 1 << 20};
}
GpuRates rates() { return rates_of(kH200, round_ceilings()); }

LineCounts line(MemorySpace space, AccessType type, const char* array, int64_t requests, int64_t cost) {
  LineCounts line{.where = "a.cu:1", .array = array, .space = space, .type = type, .access_bytes = 4};
  line.counts.requests = requests;
  (space == MemorySpace::global ? line.counts.sectors : line.counts.wavefronts) = cost;
  (space == MemorySpace::global ? line.counts.least_sectors : line.counts.least_wavefronts) = cost;
  return line;
}

/// One kernel function with 1000 blocks of 256 threads per image.
KernelWork work() {
  KernelCounts counts{.kernel = "convolve", .grid = {1000, 1, 2}, .block = {256, 1, 1}, .launches = 1, .warps = 16000};
  return {.kernel = "cuda.made_up",
          .step = parse_step("n1000_c1h33w33_k4r2s2"),
          .images = 1000,
          .counted_images = 2,
          .functions = {counts},
          .arrays = {}};
}

const FunctionTime& only(const KernelTime& time) {
  EXPECT_EQ(time.functions.size(), 1u);
  return time.functions.front();
}

TEST(GpuRates, FollowFromCeilingsAndCapability) {
  EXPECT_EQ(rates().device, "NVIDIA H200");
  EXPECT_EQ(rates().limits.compute_capability, 90);
  EXPECT_EQ(rates().multiprocessors, 100);
  EXPECT_DOUBLE_EQ(rates().cycles(), 100e9);
  EXPECT_DOUBLE_EQ(rates().instructions(), 400e9);
  EXPECT_DOUBLE_EQ(rates().wavefronts(), 100e9);
}

TEST(GpuRates, OfNoGpuOrWithoutCeilingsAreAnError) {
  EXPECT_THAT(bad_input_message([] { rates_of("Intel Xeon, 2 threads", round_ceilings()); }),
              HasSubstr("is not a GPU"));
  EXPECT_THAT(bad_input_message([] { rates_of(kH200, Ceilings{}); }),
              HasSubstr("no arithmetic, memory and cache ceilings"));
}

TEST(TimeModel, InstructionsAreIssuedByFourSchedulers) {
  KernelWork made = work();
  made.functions[0].instructions = 4'000'000;  // for two images: 2e9 in total
  const FunctionTime time = only(time_of(made, rates()));
  EXPECT_EQ(time.limit().name, "instruction issue");
  EXPECT_DOUBLE_EQ(time.seconds(), 2e9 / 400e9);
}

TEST(TimeModel, WavefrontsOfSharedMemoryAndRequestsToGlobalShareTheWay) {
  KernelWork made = work();
  made.functions[0].lines = {line(MemorySpace::shared, AccessType::load, "tile", 1000, 32000),
                             line(MemorySpace::global, AccessType::load, "x", 1000, 8000),
                             line(MemorySpace::global, AccessType::load, "w", 1000, 1000)};
  const KernelTime time = time_of(made, rates());
  const Quantities sum = time.quantities();
  EXPECT_DOUBLE_EQ(sum.shared_wavefronts, 500 * 32000.0);
  EXPECT_DOUBLE_EQ(sum.global_wavefronts, 500 * (2000.0 + 1000));  // 8 sectors take two wavefronts, 1 sector takes one
  EXPECT_EQ(only(time).limit().name, "L1 and shared memory");
  EXPECT_DOUBLE_EQ(time.seconds(), 500 * 35000.0 / 100e9);
}

TEST(TimeModel, ArraysMoveOnceHoweverOftenTheyAreRead) {
  KernelWork made = work();
  made.functions[0].lines = {line(MemorySpace::global, AccessType::load, "x", 1, 1000),
                             line(MemorySpace::global, AccessType::load, "w", 1, 1000),
                             line(MemorySpace::global, AccessType::store, "y", 1, 10),
                             line(MemorySpace::global, AccessType::load, "scratch", 1, 7)};
  made.arrays = {{"x", {4000, 2e6}}, {"w", {160, 160}}, {"y", {8000, 4e6}}};
  const Quantities sum = quantities_of(made, made.functions[0], 1 << 20);
  // x: 2 MB read once, instead of 16 MB of sectors. y: its sectors, which are less than its size. scratch has unknown
  // size: its sectors.
  EXPECT_DOUBLE_EQ(sum.memory_bytes, 2e6 + 500 * 10 * 32.0);
  EXPECT_DOUBLE_EQ(sum.cache_bytes, 160 + 500 * 7 * 32.0);
  EXPECT_DOUBLE_EQ(sum.global_sectors, 500 * 2017.0);
}

TEST(TimeModel, ScratchThatIsFilledAgainAndAgainMovesAsOften) {
  KernelWork made = work();
  made.functions[0].lines = {line(MemorySpace::global, AccessType::store, "workspace", 1, 1'000'000)};
  made.arrays = {{"workspace", {20000, 1e6}}};  // for two images, and for a chunk of a hundred
  EXPECT_DOUBLE_EQ(quantities_of(made, made.functions[0], 1 << 20).cache_bytes, 500 * 20000.0);
}

TEST(TimeModel, AtomicsReadAndWriteInTheLastCache) {
  KernelWork made = work();
  made.functions[0].lines = {line(MemorySpace::global, AccessType::atomic, "y", 100'000, 400'000)};
  const FunctionTime time = only(time_of(made, rates()));
  EXPECT_DOUBLE_EQ(time.quantities.atomic_requests, 500 * 100'000.0);
  EXPECT_EQ(time.limit().name, "L2");
  EXPECT_DOUBLE_EQ(time.seconds(), 500 * 400'000.0 * 64 / 8e12);
}

TEST(TimeModel, TensorCoresHaveRatesOfTheirOwn) {
  KernelWork made = work();
  made.functions[0].flops = 3'000'000'000;
  made.functions[0].tf32_flops = 2'000'000'000;
  const FunctionTime time = only(time_of(made, rates()));
  EXPECT_DOUBLE_EQ(time.quantities.flops, 500e9);
  EXPECT_EQ(time.resources[0].name, "fp32 arithmetic");
  EXPECT_DOUBLE_EQ(time.resources[0].seconds(), 500e9 / 25.6e12);
  EXPECT_EQ(time.resources[1].name, "tf32 tensor cores");
  EXPECT_DOUBLE_EQ(time.resources[1].seconds(), 1000e9 / 100e12);
}

TEST(TimeModel, FewWarpsWait) {
  KernelWork made = work();
  made.functions[0].lines = {line(MemorySpace::shared, AccessType::load, "tile", 100'000, 100'000)};
  made.functions[0].dynamic_shared_bytes = 113 * 1024;  // two blocks of eight warps fit
  const FunctionTime time = only(time_of(made, rates()));
  EXPECT_DOUBLE_EQ(time.resident_warps, 16);
  EXPECT_EQ(time.limit().name, "latency");
  EXPECT_DOUBLE_EQ(time.seconds(), 500 * 100'000.0 * kLoadCycles / (100e9 * 16));
}

TEST(TimeModel, ASmallGridKeepsSomeMultiprocessorsIdle) {
  KernelWork made = work();
  made.images = 2;
  made.functions[0].warps = 200;  // 25 blocks of eight warps, on a hundred multiprocessors
  made.functions[0].instructions = 4'000'000;
  const FunctionTime time = only(time_of(made, rates()));
  EXPECT_DOUBLE_EQ(time.resident_warps, 8);
  EXPECT_DOUBLE_EQ(time.seconds(), 4e6 / (400e9 / 4));
}

TEST(TimeModel, FunctionsFollowEachOther) {
  KernelWork made = work();
  made.functions[0].instructions = 4'000'000;
  made.functions.push_back(made.functions[0]);
  made.functions[1].kernel = "second";
  made.functions[1].instructions = 12'000'000;
  const KernelTime time = time_of(made, rates());
  EXPECT_DOUBLE_EQ(time.seconds(), 8e9 / 400e9);
  EXPECT_EQ(time.slowest().function, "second");
}

TEST(TimeModel, FillingTakesWhatItsBytesTake) {
  KernelWork made = work();
  made.functions[0].instructions = 4'000'000;
  made.filled_bytes = 8e6;  // for two images
  const KernelTime time = time_of(made, rates());
  ASSERT_EQ(time.functions.size(), 2u);
  EXPECT_DOUBLE_EQ(time.functions[0].seconds(), 500 * 8e6 / 4e12);
  EXPECT_DOUBLE_EQ(time.seconds(), 500 * 8e6 / 4e12 + 2e9 / 400e9);
}

TEST(TimeModel, AnEmptyLaunchTakesALaunch) {
  EXPECT_EQ(only(time_of(work(), rates())).limit().name, "launch overhead");
  EXPECT_DOUBLE_EQ(time_of(work(), rates()).seconds(), kLaunchSeconds);
}

LadderStep made_up_step() {
  KernelWork before = work(), after = work();
  before.kernel = "cuda.before";
  after.kernel = "cuda.after";
  before.functions[0].instructions = 4'000'000;
  after.functions[0].instructions = 3'000'000;
  return {rates(), predict(rates(), before), predict(rates(), after)};
}

TEST(LadderStep, ClaimsWhatShouldHappenAndWhy) {
  const LadderStep step = made_up_step();
  EXPECT_DOUBLE_EQ(step.ratio(), 0.75);
  // 1000 images x 4 output channels x 32 x 32 x K dimension 4 are 16.384 M multiply-adds, or 512 k warp-wide ones.
  EXPECT_EQ(claim(step),
            "cuda.after should take 0.75 times as long as cuda.before (3.750 ms instead of 5.000 ms); limited by "
            "instruction issue (2.93e+03 warp instructions per multiply-add of a warp), before by instruction issue "
            "(3.91e+03 warp instructions per multiply-add of a warp)");
  const std::string text = to_text(step);
  EXPECT_THAT(text, HasSubstr("1.5 G warp instructions / 400 G per s = 3.750 ms"));
  EXPECT_THAT(text, HasSubstr("counted for 2 images on simt, scaled by 500"));
  EXPECT_THAT(text, HasSubstr("64 warps per multiprocessor, limited by threads (registers unknown)"));
}

TEST(LadderStep, OneKernelOfAnOperatorWithoutProducts) {
  KernelWork one = work();
  one.kernel = "cuda.softmax";
  one.step = parse_step("softmax_r64c1024");
  one.images = one.counted_images = 0;
  one.functions[0].instructions = 4'000'000;
  const LadderStep step{rates(), {}, predict(rates(), one)};
  EXPECT_EQ(claim(step), "cuda.softmax should take 0.0100 ms; limited by instruction issue (4 M warp instructions)");
  const std::string text = to_text(step);
  EXPECT_THAT(text, HasSubstr("softmax_r64c1024: cuda.softmax should take"));
  EXPECT_THAT(text, HasSubstr("NVIDIA H200; counted on simt\n"));
  EXPECT_THAT(text, HasSubstr("4 M  4 M warp instructions / 400 G per s = 0.0100 ms"));
  EXPECT_THAT(compared_text(step, {.device = kH200, .after_ms = 0.02}),
              HasSubstr("cuda.softmax takes 2.00 times as long as predicted from instruction issue."));
}

TEST(LadderStep, SmallChangesAreNone) {
  EXPECT_EQ(change_of(0.94), "faster");
  EXPECT_EQ(change_of(0.96), "the same");
  EXPECT_EQ(change_of(1.04), "the same");
  EXPECT_EQ(change_of(1.06), "slower");
}

TEST(LadderStep, TellsTheLargerMissAndWhereToLook) {
  const std::string text = compared_text(made_up_step(), {.device = kH200, .before_ms = 5.5, .after_ms = 7.5});
  EXPECT_THAT(text, HasSubstr("Measured: slower; predicted: faster (wrong)."));
  EXPECT_THAT(
      text,
      HasSubstr(
          "cuda.after takes 2.00 times as long as predicted from instruction issue. Possible causes: schedulers"));
  EXPECT_THAT(compared_text(made_up_step(), {.device = kH200, .before_ms = 2.5, .after_ms = 3.75}),
              HasSubstr("cuda.before takes 0.50 times as long as predicted from instruction issue. Possibly nvcc"));
}

}  // namespace
}  // namespace convlab
