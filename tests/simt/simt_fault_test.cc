// Tests planted faults on simt: each must be reported with kernel, block, thread and array, whatever the number of
// workers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "convlab/simt/fault.h"
#include "convlab/simt/launch.h"
#include "convlab/simt/memory.h"
#include "convlab/simt/progress.h"
#include "convlab/simt/settings.h"
#include "tests/simt_kernels/samples.h"

namespace convlab {
namespace {

using simt::Fault;
using simt::FaultError;
using simt::FaultKind;
using simt::Position;

struct Expected {
  Planted planted;
  const char* kernel;
  FaultKind kind;
  unsigned block, thread;
  std::optional<unsigned> other_thread;
  const char* array;
  std::optional<int64_t> offset;
};

void PrintTo(const Expected& expected, std::ostream* out) { *out << expected.kernel; }

// Returns the faults of a planted kernel whose x and y have 64 floats each.
std::vector<Fault> faults_of(Planted planted) {
  const std::vector<float> x(64, 1.0f);
  const simt::RegisteredRange registered(x.data(), x.size() * sizeof(float), "x", simt::RangeAccess::read_only);
  struct Release {
    void operator()(void* memory) const { simt::release(memory); }
  };
  const std::unique_ptr<void, Release> y(simt::allocate(64 * sizeof(float), "y"));
  try {
    plant(planted, x.data(), static_cast<float*>(y.get()), nullptr);
  } catch (const FaultError& error) {
    return error.faults();
  }
  return {};
}

std::string message_of(const Fault& fault) { return in_one_line(fault.finding); }

std::vector<std::string> messages_of(const std::vector<Fault>& faults) {
  std::vector<std::string> messages;
  for (const Fault& fault : faults) messages.push_back(message_of(fault));
  return messages;
}

class PlantedFault : public testing::TestWithParam<Expected> {
 protected:
  void SetUp() override { simt::set_stuck_after(0.2); }
  void TearDown() override {
    simt::set_workers(0);
    simt::set_stuck_after(30);
  }
};

TEST_P(PlantedFault, IsReported) {
  const Expected& expected = GetParam();
  simt::set_workers(1);
  const std::vector<Fault> faults = faults_of(expected.planted);
  const auto found =
      std::find_if(faults.begin(), faults.end(), [&](const Fault& fault) { return fault.kind == expected.kind; });
  ASSERT_NE(found, faults.end()) << "reported: " << testing::PrintToString(messages_of(faults));
  SCOPED_TRACE(message_of(*found));
  EXPECT_EQ(found->kernel, expected.kernel);
  EXPECT_EQ(found->block, (Position{expected.block, 0, 0}));
  EXPECT_EQ(found->thread, (Position{expected.thread, 0, 0}));
  EXPECT_EQ(found->array, expected.array);
  EXPECT_EQ(found->offset, expected.offset.value_or(found->offset));
  if (expected.other_thread) {
    ASSERT_TRUE(found->other_thread);
    EXPECT_EQ(*found->other_thread, (Position{*expected.other_thread, 0, 0}));
  }
  EXPECT_THAT(where(*found), testing::MatchesRegex("planted_(faults.cu|races.cuh):[0-9]+"));
  EXPECT_EQ(found->finding.kind, name_of(found->kind));
  EXPECT_EQ(found->finding.array, found->array);
  EXPECT_LE(found->finding.text.size(), 100u);
  for (const std::string& part :
       {"kernel " + found->kernel, "block " + to_text(found->block), "thread " + to_text(found->thread)}) {
    EXPECT_THAT(message_of(*found), testing::HasSubstr(part));
  }
}

TEST_P(PlantedFault, IsReportedAlikeByManyWorkers) {
  simt::set_workers(1);
  const auto alone = messages_of(faults_of(GetParam().planted));
  simt::set_workers(4);
  for (int repeat = 0; repeat < 5; ++repeat) EXPECT_EQ(messages_of(faults_of(GetParam().planted)), alone);
}

constexpr auto kNone = std::nullopt;

INSTANTIATE_TEST_SUITE_P(
    Kernels, PlantedFault,
    testing::Values(
        Expected{Planted::global_read_past_end, "global_read_past_end", FaultKind::out_of_bounds_global, 1, 29, kNone,
                 "x", 256},
        Expected{Planted::global_read_before_start, "global_read_before_start", FaultKind::out_of_bounds_global, 0, 0,
                 kNone, "x", -8},
        Expected{Planted::global_write_past_end, "global_write_past_end", FaultKind::out_of_bounds_global, 1, 0, kNone,
                 "y", 256},
        Expected{Planted::global_write_to_read_only, "global_write_to_read_only", FaultKind::out_of_bounds_global, 0, 9,
                 kNone, "x", 16},
        Expected{Planted::global_null, "global_null", FaultKind::out_of_bounds_global, 0, 3, kNone, "", kNone},
        Expected{Planted::global_uninitialized, "global_uninitialized", FaultKind::uninitialized_global, 0, 8, kNone,
                 "y", 32},
        Expected{Planted::global_misaligned, "global_misaligned", FaultKind::misaligned, 0, 1, kNone, "x", 2},
        Expected{Planted::constant_write, "constant_write", FaultKind::out_of_bounds_global, 0, 2, kNone,
                 "constant_table", 8},
        Expected{Planted::static_shared_index, "static_shared_index", FaultKind::out_of_bounds_shared, 0, 31, kNone,
                 "tile", kNone},
        Expected{Planted::static_shared_inner_index, "static_shared_inner_index", FaultKind::out_of_bounds_shared, 0,
                 23, kNone, "square", kNone},
        Expected{Planted::helper_shared_index, "helper_shared_index", FaultKind::out_of_bounds_shared, 0, 31, kNone,
                 "ring", kNone},
        Expected{Planted::static_shared_pointer, "static_shared_pointer", FaultKind::out_of_bounds_global, 0, 7, kNone,
                 "", kNone},
        Expected{Planted::shared_overrun_write, "shared_overrun_write", FaultKind::out_of_bounds_shared, 0, 0, kNone,
                 "line", 256},
        Expected{Planted::shared_overrun_read, "shared_overrun_read", FaultKind::out_of_bounds_shared, 0, 0, kNone,
                 "strip", 128},
        Expected{Planted::dynamic_shared_past_end, "dynamic_shared_past_end", FaultKind::out_of_bounds_shared, 0, 31,
                 kNone, "dynamic shared memory", 128},
        Expected{Planted::local_index, "local_index", FaultKind::out_of_bounds_local, 0, 0, kNone, "own", kNone},
        Expected{Planted::uninitialized_shared, "uninitialized_shared", FaultKind::uninitialized_shared, 0, 31, kNone,
                 "written", 128},
        Expected{Planted::uninitialized_shared_half, "uninitialized_shared_half", FaultKind::uninitialized_shared, 0, 1,
                 kNone, "halves", 2},
        Expected{Planted::never_written_shared, "never_written_shared", FaultKind::uninitialized_shared, 0, 0, kNone,
                 "forgotten", 0},
        Expected{Planted::stale_shared, "stale_shared", FaultKind::uninitialized_shared, 1, 0, kNone, "kept", 0},
        Expected{Planted::race_write_write, "race_write_write", FaultKind::race_shared, 0, 1, 0, "cells", 0},
        Expected{Planted::race_read_write, "race_read_write", FaultKind::race_shared, 0, 1, 0, "tile", 0},
        Expected{Planted::race_write_read, "race_write_read", FaultKind::race_shared, 0, 1, 0, "tile", 4},
        Expected{Planted::race_plain_and_atomic, "race_plain_and_atomic", FaultKind::race_shared, 0, 1, 0, "sum", 0},
        Expected{Planted::race_between_warps, "race_between_warps", FaultKind::race_shared, 0, 32, 31, "tile", 128},
        Expected{Planted::race_in_warp_without_syncwarp, "race_in_warp_without_syncwarp", FaultKind::race_shared, 0, 1,
                 0, "tile", 4},
        Expected{Planted::race_after_shuffle, "race_after_shuffle", FaultKind::race_shared, 0, 31, 0, "tile", 0},
        Expected{Planted::race_neighboring_halves, "race_neighboring_halves", FaultKind::race_shared, 0, 30, 11,
                 "halves", 22},
        Expected{Planted::race_wmma_store, "race_wmma_store", FaultKind::race_shared, 0, 31, kNone, "tile", 124},
        Expected{Planted::copy_not_awaited, "copy_not_awaited", FaultKind::race_shared, 0, 0, 31, "tile", 124},
        Expected{Planted::copy_awaited_after_barrier, "copy_awaited_after_barrier", FaultKind::race_shared, 0, 0, 31,
                 "tile", 124},
        Expected{Planted::copy_of_last_group_not_awaited, "copy_of_last_group_not_awaited", FaultKind::race_shared, 0,
                 0, 0, "tile", 0},
        Expected{Planted::copy_into_what_others_read, "copy_into_what_others_read", FaultKind::race_shared, 0, 16, 15,
                 "tile", 60},
        Expected{Planted::copy_misaligned, "copy_misaligned", FaultKind::misaligned, 0, 1, kNone, "", kNone},
        Expected{Planted::barrier_after_exit, "barrier_after_exit", FaultKind::divergent_barrier, 0, 0, 40, "", kNone},
        Expected{Planted::barrier_in_branches, "barrier_in_branches", FaultKind::divergent_barrier, 0, 0, 1, "", kNone},
        Expected{Planted::barrier_missed_by_half, "barrier_missed_by_half", FaultKind::divergent_barrier, 0, 0, 32, "",
                 kNone},
        Expected{Planted::syncwarp_missed, "syncwarp_missed", FaultKind::divergent_warp, 0, 0, 16, "", kNone},
        Expected{Planted::shuffle_missed_by_half, "shuffle_missed_by_half", FaultKind::divergent_warp, 0, 0, 16, "",
                 kNone},
        Expected{Planted::shuffle_reads_exited_lane, "shuffle_reads_exited_lane", FaultKind::absent_source, 0, 16, 20,
                 "", kNone},
        Expected{Planted::shuffle_reads_outside_mask, "shuffle_reads_outside_mask", FaultKind::absent_source, 0, 8, 16,
                 "", kNone},
        Expected{Planted::shuffle_without_own_lane, "shuffle_without_own_lane", FaultKind::inactive_lane, 0, 16, kNone,
                 "", kNone},
        Expected{Planted::warp_and_block_barrier, "warp_and_block_barrier", FaultKind::divergent_warp, 0, 0, 5, "",
                 kNone},
        Expected{Planted::wmma_in_branch, "wmma_in_branch", FaultKind::divergent_warp, 0, 31, kNone, "", kNone},
        Expected{Planted::stack_overflow, "stack_overflow", FaultKind::stack_overflow, 0, 1, kNone, "", kNone},
        Expected{Planted::trap, "trap", FaultKind::trap, 0, 6, kNone, "", kNone},
        Expected{Planted::divides_by_zero, "divides_by_zero", FaultKind::division, 0, 9, kNone, "", kNone},
        Expected{Planted::calls_nothing, "calls_nothing", FaultKind::processor, 0, 7, kNone, "", kNone},
        Expected{Planted::throws, "throws", FaultKind::exception, 0, 4, kNone, "", kNone},
        Expected{Planted::endless_loop, "endless_loop", FaultKind::stuck, 0, 0, kNone, "", kNone},
        Expected{Planted::waits_by_atomics, "waits_by_atomics", FaultKind::stuck, 0, 0, kNone, "", kNone},
        Expected{Planted::misaligned_vector, "misaligned_vector", FaultKind::misaligned, 0, 5, kNone, "x", 84},
        Expected{Planted::misaligned_vector_store, "misaligned_vector_store", FaultKind::misaligned, 0, 3, kNone, "y",
                 20},
        Expected{Planted::misaligned_shared_vector, "misaligned_shared_vector", FaultKind::misaligned, 0, 0, kNone,
                 "line", 4},
        Expected{Planted::assertion_fails, "assertion_fails", FaultKind::assertion, 0, 7, kNone, "", kNone},
        Expected{Planted::waits_for_a_plain_shared_flag, "waits_for_a_plain_shared_flag", FaultKind::stuck, 0, 0, kNone,
                 "ready", 0},
        Expected{Planted::waits_for_a_plain_flag, "waits_for_a_plain_flag", FaultKind::stuck, 0, 0, kNone, "flag", 12}),
    [](const auto& info) { return info.param.kernel; });

/// A race of two blocks of one launch: the report names the later block first, then the other block's thread and line.
struct BlockRace {
  Planted planted;
  const char* kernel;
  unsigned thread, other_thread;
  int64_t offset;
};

void PrintTo(const BlockRace& race, std::ostream* out) { *out << race.kernel; }

class RaceOfBlocks : public testing::TestWithParam<BlockRace> {
 protected:
  void TearDown() override { simt::set_workers(0); }
};

TEST_P(RaceOfBlocks, IsReportedByOneWorker) {
  const BlockRace& race = GetParam();
  simt::set_workers(1);
  const std::vector<Fault> faults = faults_of(race.planted);
  ASSERT_FALSE(faults.empty());
  const Fault& fault = faults[0];
  SCOPED_TRACE(message_of(fault));
  EXPECT_EQ(fault.kind, FaultKind::race_global);
  EXPECT_EQ(fault.kernel, race.kernel);
  EXPECT_EQ(fault.block, (Position{1, 0, 0}));
  EXPECT_EQ(fault.thread, (Position{race.thread, 0, 0}));
  ASSERT_TRUE(fault.other_block && fault.other_thread);
  EXPECT_EQ(*fault.other_block, (Position{0, 0, 0}));
  EXPECT_EQ(*fault.other_thread, (Position{race.other_thread, 0, 0}));
  EXPECT_EQ(fault.array, "y");
  EXPECT_EQ(fault.offset, race.offset);
  EXPECT_THAT(where(fault), testing::StartsWith("planted_races.cuh:"));
  EXPECT_THAT(message_of(fault),
              testing::ContainsRegex(
                  R"(thread \([0-9,]+\) of block \(0,0,0\) (writes|reads) y\[[0-9]+\]; blocks run in any order )"
                  "at planted_races.cuh:[0-9]+"));
}

TEST_P(RaceOfBlocks, IsReportedByManyWorkers) {
  simt::set_workers(4);
  for (int repeat = 0; repeat < 20; ++repeat) {
    const std::vector<Fault> faults = faults_of(GetParam().planted);
    ASSERT_FALSE(faults.empty());
    EXPECT_EQ(faults[0].kind, FaultKind::race_global) << message_of(faults[0]);
    EXPECT_EQ(faults[0].array, "y");
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, RaceOfBlocks,
                         testing::Values(BlockRace{Planted::forgotten_atomic, "forgotten_atomic", 0, 0, 0},
                                         BlockRace{Planted::blocks_overlap, "blocks_overlap", 0, 31, 124},
                                         BlockRace{Planted::reads_its_neighbor, "reads_its_neighbor", 0, 31, 128},
                                         BlockRace{Planted::plain_beside_atomic, "plain_beside_atomic", 3, 3, 20},
                                         BlockRace{Planted::reads_sum_too_early, "reads_sum_too_early", 0, 1, 0},
                                         BlockRace{Planted::flag_without_fence, "flag_without_fence", 0, 0, 4},
                                         // If a word was accessed in parts, only the thread of the last access is
                                         // known.
                                         BlockRace{Planted::blocks_share_a_byte, "blocks_share_a_byte", 0, 2, 1}),
                         [](const auto& info) { return info.param.kernel; });

// With one worker only: with more, the later block may run early enough.
TEST(Faults, ABlockMayNotWaitForALaterOne) {
  simt::set_workers(1);
  simt::set_stuck_after(0.2);
  const std::vector<Fault> waits = faults_of(Planted::waits_for_another_block);
  const std::vector<Fault> all_loop = faults_of(Planted::endless_loop_with_barriers);
  simt::set_stuck_after(30);
  simt::set_workers(0);
  ASSERT_FALSE(waits.empty());
  EXPECT_THAT(message_of(waits[0]), testing::StartsWith("no progress for 0.2 s: thread (0,0,0) is here"));
  EXPECT_THAT(where(waits[0]), testing::StartsWith("planted_faults.cu:"));
  ASSERT_FALSE(all_loop.empty());
  EXPECT_THAT(message_of(all_loop[0]), testing::StartsWith("no progress for 0.2 s"));
}

TEST(Faults, SayWhatAThreadWaitsFor) {
  simt::set_stuck_after(0.2);
  const std::vector<Fault> plain = faults_of(Planted::waits_for_a_plain_flag);
  const std::vector<Fault> arithmetic = faults_of(Planted::endless_loop);
  simt::set_stuck_after(30);
  ASSERT_FALSE(plain.empty());
  EXPECT_THAT(message_of(plain[0]), testing::HasSubstr("has last read flag[3]"));
  EXPECT_THAT(plain[0].finding.help, testing::ContainsRegex("declare that volatile, .*__threadfence"));
  ASSERT_FALSE(arithmetic.empty());
  EXPECT_THAT(arithmetic[0].finding.help, testing::Not(testing::HasSubstr("volatile")));
}

TEST(Faults, OfAnAssertionSayIt) {
  const std::vector<Fault> faults = faults_of(Planted::assertion_fails);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_THAT(message_of(faults[0]),
              testing::StartsWith("assertion 'x[threadIdx.x] + threadIdx.x != 8.0f' failed: thread (7,0,0) (kernel "
                                  "assertion_fails, block (0,0,0)), at planted_faults.cu:"));
}

TEST(Faults, StuckAfterIsWithinADay) {
  for (const double seconds : {0.0, -1.0, 1e9, std::nan("")}) {
    EXPECT_THROW(simt::set_stuck_after(seconds), Error) << seconds;
  }
}

TEST(Faults, OfANarrowedArrayNameIt) {
  struct Release {
    void operator()(void* memory) const { simt::release(memory); }
  };
  const std::unique_ptr<void, Release> x(simt::allocate(1024, "x with guards")), y(simt::allocate(256, "y"));
  simt::fill_on_device(x.get(), 0, 1024);
  float* const inside = static_cast<float*>(x.get()) + 16;
  simt::narrow(inside, 256, "x", simt::RangeAccess::read_only);
  const auto first = [&](Planted planted) {
    try {
      plant(planted, inside, static_cast<float*>(y.get()), nullptr);
    } catch (const FaultError& error) {
      return message_of(error.faults()[0]);
    }
    return std::string("no fault");
  };
  EXPECT_THAT(first(Planted::global_read_past_end), testing::HasSubstr("reads x[64], past the end (64 elements)"));
  EXPECT_THAT(first(Planted::global_read_before_start), testing::HasSubstr("reads x[-2], before the start"));
  EXPECT_THAT(first(Planted::global_write_to_read_only), testing::HasSubstr("writes x[4], but it is read-only"));
}

TEST(Faults, AreAWrongResultToTheCaller) {
  try {
    const std::vector<float> x(64);
    std::vector<float> y(64);
    const simt::RegisteredRange rx(x.data(), 256, "x"), ry(y.data(), 256, "y");
    plant(Planted::global_write_past_end, x.data(), y.data(), nullptr);
    FAIL() << "nothing reported";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::wrong_result);
    EXPECT_THAT(error.what(), testing::HasSubstr("past the end (64 elements)"));
  }
}

TEST(Faults, LeaveNothingBehind) {
  for (int repeat = 0; repeat < 3; ++repeat) {
    EXPECT_FALSE(faults_of(Planted::stack_overflow).empty());
    EXPECT_FALSE(faults_of(Planted::barrier_missed_by_half).empty());
    const std::vector<float> x(512, 1.0f);
    float sums[2] = {};
    const simt::RegisteredRange rx(x.data(), 2048, "x"), rs(sums, sizeof(sums), "sums");
    sum_by_tree(x.data(), sums, 512, 2, nullptr);
    EXPECT_EQ(sums[0] + sums[1], 512.0f);
  }
}

TEST(Faults, ReleasedMemoryIsOutOfBounds) {
  const std::vector<float> x(512, 1.0f);
  const simt::RegisteredRange rx(x.data(), 2048, "x");
  float* sums = static_cast<float*>(simt::allocate(8, "sums"));
  simt::release(sums);
  EXPECT_THROW(sum_by_tree(x.data(), sums, 512, 2, nullptr), FaultError);
}

}  // namespace
}  // namespace convlab
