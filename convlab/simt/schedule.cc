// Orders the blocks, warps and lanes of a launch.

#include "convlab/simt/schedule.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace convlab::simt::internal {
namespace {

/// Mixes all bits of a number: the finalizer of SplitMix64.
uint64_t mixed(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

constexpr uint64_t kStep = 0x9e3779b97f4a7c15u;  // of SplitMix64

}  // namespace

BlockOrder::BlockOrder(Schedule schedule, int64_t blocks) : schedule_(schedule), blocks_(blocks) {
  half_bits_ = (std::bit_width(static_cast<uint64_t>(blocks) - 1) + 1) / 2;
}

int64_t BlockOrder::block_at(int64_t turn) const {
  if (schedule_.order == Schedule::Order::in_order) return turn;
  if (schedule_.order == Schedule::Order::reverse) return blocks_ - 1 - turn;
  // A Feistel network permutes the numbers of 2 * half_bits_ bits. Numbers beyond the last block are permuted again.
  const uint64_t half = (uint64_t{1} << half_bits_) - 1;
  auto number = static_cast<uint64_t>(turn);
  do {
    constexpr int kRounds = 4;
    uint64_t left = number >> half_bits_, right = number & half;
    for (int round = 0; round < kRounds; ++round) {
      left ^= mixed(right + kStep * (schedule_.seed * kRounds + static_cast<uint64_t>(round) + 1)) & half;
      std::swap(left, right);
    }
    number = left << half_bits_ | right;
  } while (number >= static_cast<uint64_t>(blocks_));
  return static_cast<int64_t>(number);
}

void ThreadOrder::begin_block(Schedule schedule, int64_t turn, int warps) {
  schedule_ = schedule;
  state_ = mixed(schedule.seed * kStep + static_cast<uint64_t>(turn) + 1);
  warps_.resize(static_cast<size_t>(warps));
  std::iota(warps_.begin(), warps_.end(), 0);
  if (schedule.order == Schedule::Order::reverse) std::ranges::reverse(warps_);
}

const std::vector<int>& ThreadOrder::next_warps() {
  if (schedule_.order == Schedule::Order::random) {
    for (size_t left = warps_.size(); left > 1; --left) std::swap(warps_[left - 1], warps_[random() % left]);
  }
  return warps_;
}

int ThreadOrder::lane_out_of_order(LaneMask ready) {
  if (schedule_.order == Schedule::Order::reverse) return std::bit_width(ready) - 1;
  for (auto skipped = random() % static_cast<uint64_t>(std::popcount(ready)); skipped > 0; --skipped)
    ready &= ready - 1;
  return std::countr_zero(ready);
}

uint64_t ThreadOrder::random() { return mixed(state_ += kStep); }

}  // namespace convlab::simt::internal
