// Executes PTX's barriers and the operations of warps.

#include <algorithm>
#include <bit>
#include <utility>

#include "convlab/simt/ptx/ptx_run.h"
#include "convlab/simt/warp.h"
#include "convlab/simt/worker.h"

namespace convlab::simt::ptx {
namespace {

constexpr uint32_t kWarpLanes = 32;

uint32_t lane_number() { return static_cast<uint32_t>(value_of(Special::laneid)); }

/// Barriers are those of the whole block, whatever their number. `threads`: the group that may say how many wait.
void check_whole_block(const Run& run, const Instruction& i, size_t threads) {
  if (i.group_count <= threads) return;
  const cuda::uint3 extent = cuda::blockDim;
  const uint32_t all = extent.x * extent.y * extent.z;
  const auto waiting = run.get<uint32_t>(i.operand(threads));
  if (waiting == (all + kWarpLanes - 1) / kWarpLanes * kWarpLanes) return;
  fail(run, "barriers of a part of the block are not supported: " + i.text);
}

uint64_t in_warp(const Run& run, WarpOperation operation, uint32_t mask, uint64_t value, int lane = 0) {
  return warp_operation(operation, mask, value, lane, kWarpLanes, run.where);
}

/// The lane that a shuffle reads, and whether it is in the range of the segment: as in the definition of shfl.sync.
std::pair<uint32_t, bool> source_lane(const Instruction& i, uint32_t lane, uint32_t b, uint32_t c) {
  const uint32_t clamp = c & 0x1fu, segment = c >> 8 & 0x1fu, own = b & 0x1fu;
  const uint32_t most = (lane & segment) | (clamp & ~segment), least = lane & segment;
  if (i.has("up"_word)) {
    const int from = static_cast<int>(lane) - static_cast<int>(own);
    return {static_cast<uint32_t>(from), from >= static_cast<int>(most)};
  }
  const uint32_t from = i.has("down"_word) ? lane + own : i.has("bfly"_word) ? lane ^ own : least | (own & ~segment);
  return {from, from <= most};
}

}  // namespace

void block_barrier(Run& run, const Instruction& i) {
  check_whole_block(run, i, 1);
  simt::block_barrier(BarrierOperation::sync, 0, run.where);
}

/// d, number, {threads,} predicate
void block_barrier_of_predicates(Run& run, const Instruction& i) {
  const size_t last = i.group_count - 1;
  if (last == 3) check_whole_block(run, i, 2);
  const BarrierOperation operation = i.has("popc"_word)  ? BarrierOperation::count
                                     : i.has("and"_word) ? BarrierOperation::all
                                                         : BarrierOperation::any;
  const int result = simt::block_barrier(operation, run.is_true(i.operand(last)), run.where);
  run.put(i.operand(0), static_cast<uint32_t>(result));
}

void warp_barrier(Run& run, const Instruction& i) {
  in_warp(run, WarpOperation::sync, run.get<uint32_t>(i.operand(0)), 0);
}

/// d|p, a, lane, segment and range, mask
void shuffle(Run& run, const Instruction& i) {
  const uint32_t lane = lane_number();
  const auto [from, in_range] = source_lane(i, lane, run.get<uint32_t>(i.operand(2)), run.get<uint32_t>(i.operand(3)));
  const uint64_t value = in_warp(run, WarpOperation::shuffle, run.get<uint32_t>(i.operand(4)),
                                 run.get<uint32_t>(i.operand(1)), static_cast<int>(in_range ? from : lane));
  run.put(i.operand(0), static_cast<uint32_t>(value));
  if (i.groups[0].count == 2) run.put(i.operand(0, 1), static_cast<uint8_t>(in_range));
}

void vote(Run& run, const Instruction& i) {
  const bool own = run.is_true(i.operand(1));
  const auto mask = run.get<uint32_t>(i.operand(2));
  if (i.has("all"_word)) return run.put(i.operand(0), in_warp(run, WarpOperation::vote_all, mask, own));
  if (i.has("any"_word)) return run.put(i.operand(0), in_warp(run, WarpOperation::vote_any, mask, own));
  const auto lanes = static_cast<uint32_t>(in_warp(run, WarpOperation::ballot, mask, own));
  run.put(i.operand(0), i.has("ballot"_word) ? lanes : static_cast<uint32_t>(lanes == 0 || lanes == mask));
}

void match(Run& run, const Instruction& i) {
  const uint64_t value = i.type() == Type::b64 ? run.get<uint64_t>(i.operand(1)) : run.get<uint32_t>(i.operand(1));
  const bool all = i.row->name == "match.all.sync";
  const auto lanes = static_cast<uint32_t>(
      in_warp(run, all ? WarpOperation::match_all : WarpOperation::match_any, run.get<uint32_t>(i.operand(2)), value));
  run.put(i.operand(0), lanes);
  if (i.groups[0].count == 2) run.put(i.operand(0, 1), static_cast<uint8_t>(lanes != 0));
}

void active_mask(Run& run, const Instruction& i) {
  run.put(i.operand(0), static_cast<uint32_t>(in_warp(run, WarpOperation::active_mask, 0, 0)));
}

void reduce(Run& run, const Instruction& i) {
  const bool has_sign = i.type() == Type::s32;
  const WarpOperation operation = i.has("add"_word)   ? WarpOperation::add
                                  : i.has("and"_word) ? WarpOperation::bit_and
                                  : i.has("or"_word)  ? WarpOperation::bit_or
                                  : i.has("xor"_word) ? WarpOperation::bit_xor
                                  : i.has("min"_word)
                                      ? (has_sign ? WarpOperation::smallest : WarpOperation::unsigned_smallest)
                                      : (has_sign ? WarpOperation::largest : WarpOperation::unsigned_largest);
  const auto result =
      static_cast<uint32_t>(in_warp(run, operation, run.get<uint32_t>(i.operand(2)), run.get<uint32_t>(i.operand(1))));
  has_sign ? run.put(i.operand(0), static_cast<int32_t>(result)) : run.put(i.operand(0), result);
}

void elect(Run& run, const Instruction& i) {
  const auto mask = run.get<uint32_t>(i.operand(1));
  in_warp(run, WarpOperation::sync, mask, 0);
  const auto leader = static_cast<uint32_t>(std::countr_zero(mask));
  run.put(i.operand(0), leader);
  if (i.groups[0].count == 2) run.put(i.operand(0, 1), static_cast<uint8_t>(leader == lane_number()));
}

}  // namespace convlab::simt::ptx
