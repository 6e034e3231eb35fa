// Tests the order of basic blocks, and the merging of lane traces into warp events.

#include "convlab/warps/control_flow.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/warps/lockstep.h"

namespace convlab {
namespace {

/// Returns the block of a letter. Its address does not follow the order of letters.
const void* block_of(char letter) {
  static const char kAddresses[256] = {};
  return kAddresses + (letter * 37 % 128) * 2;
}

char letter_of(const void* block) {
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    if (block_of(letter) == block) return letter;
  }
  return '?';
}

/// Returns the control flow of lanes that took these paths, each from the function's entry.
ControlFlow flow_of(const std::vector<std::string>& ways) {
  ControlFlow flow;
  for (const std::string& way : ways) {
    const void* from = nullptr;
    for (const char letter : way) {
      flow.add(from, block_of(letter));
      from = block_of(letter);
    }
  }
  flow.sort();
  return flow;
}

std::string order_of(const ControlFlow& flow, std::string blocks) {
  std::sort(blocks.begin(), blocks.end(),
            [&](char a, char b) { return flow.order_of(block_of(a)) < flow.order_of(block_of(b)); });
  return blocks;
}

TEST(ControlFlow, BranchesComeBeforeTheirMeetingPlace) {
  const ControlFlow flow = flow_of({"acd", "abd"});
  const std::string order = order_of(flow, "abcd");
  EXPECT_EQ(order.front(), 'a');
  EXPECT_EQ(order.back(), 'd');
}

TEST(ControlFlow, WhatFollowsALoopComesAfterAllOfIt) {
  // The first lane leaves the loop immediately, so the loop's end is known before its body.
  const ControlFlow flow = flow_of({"abe", "abcdbcdbe"});
  EXPECT_EQ(order_of(flow, "edcba"), "abcde");
}

TEST(ControlFlow, LoopsWithinLoops) {
  const ControlFlow flow = flow_of({"abcdf", "abccdbcdf", "abcdbccdf"});
  EXPECT_EQ(order_of(flow, "fdcba"), "abcdf");
}

TEST(ControlFlow, AStepBackToALoopsHeadComesBehindTheLoop) {
  const ControlFlow flow = flow_of({"abcbd"});
  EXPECT_GT(flow.order_of(block_of('c'), block_of('b')), flow.order_of(block_of('c')));
  EXPECT_LT(flow.order_of(block_of('c'), block_of('b')), flow.order_of(block_of('b'), block_of('d')));
  EXPECT_EQ(flow.order_of(block_of('a'), block_of('b')), flow.order_of(block_of('b')));
}

TEST(ControlFlow, OnlyNewStepsChangeTheOrder) {
  ControlFlow flow = flow_of({"abc"});
  flow.add(block_of('a'), block_of('b'));
  EXPECT_FALSE(flow.sort());
  flow.add(block_of('a'), block_of('c'));
  EXPECT_TRUE(flow.sort());
}

/// Logs what a warp does: "b:3" for block b by lanes 0 and 1, "<" for a divergence after the preceding event.
class Diary final : public WarpEvents {
 public:
  void block(const void* code, LaneMask lanes) override { text += fmt::format("{}:{:x} ", letter_of(code), lanes); }
  void access(EventKind, const void* code, LaneMask lanes, std::span<const uintptr_t> addresses,
              size_t bytes) override {
    text += fmt::format("[{}:{:x}", letter_of(code), lanes);
    for (const uintptr_t address : addresses) text += fmt::format(" {}", address);
    text += fmt::format("/{}] ", bytes);
  }
  void diverged(const void*) override { text += "< "; }

  std::string text;
};

/// Merges lanes' paths: letters are blocks, '(' a call, ')' a return, a digit a load from that address in block x.
std::string together(const std::vector<std::string>& ways, size_t stop = std::string::npos) {
  Diary diary;
  Lockstep lockstep(diary);
  std::vector<Lockstep::Lane> lanes(ways.size());
  const auto put = [&](LaneTrace& trace, char event) {
    if (event == '(') {
      trace.enter(block_of('y'));
    } else if (event == ')') {
      trace.leave(block_of('z'));
    } else if (event >= '0' && event <= '9') {
      trace.access(EventKind::read, block_of('x'), static_cast<uintptr_t>(event - '0'), 4);
    } else {
      trace.block(block_of(event), lockstep.flow());
    }
  };
  LaneMask unfinished = 0;
  for (size_t lane = 0; lane < ways.size(); ++lane) {
    lanes[lane].begin();
    for (const char event : ways[lane].substr(0, stop)) put(lanes[lane].trace, event);
    if (stop < ways[lane].size()) unfinished |= LaneMask{1} << lane;
  }
  lockstep.advance(lanes, unfinished);
  if (unfinished != 0) {
    diary.text += "| ";
    for (size_t lane = 0; lane < ways.size(); ++lane) {
      if (stop < ways[lane].size()) {
        for (const char event : ways[lane].substr(stop)) put(lanes[lane].trace, event);
      }
    }
    lockstep.advance(lanes, 0);
  }
  diary.text.pop_back();
  return diary.text;
}

TEST(Lockstep, LanesTogetherAreOneRequest) { EXPECT_EQ(together({"a4b", "a8b"}), "a:3 [x:3 4 8/4] b:3"); }

TEST(Lockstep, BranchesAreTakenOneAfterAnotherAndMeet) {
  EXPECT_EQ(together({"ab1d", "ac2d", "ab3d"}), "a:7 < c:2 [x:2 2/4] b:5 [x:5 1 3/4] d:7");
}

TEST(Lockstep, LanesThatLeaveALoopEarlyWait) {
  EXPECT_EQ(together({"ab1b1b1c5", "ab2c6"}), "a:3 b:3 [x:3 1 2/4] < b:1 [x:1 1/4] b:1 [x:1 1/4] c:3 [x:3 5 6/4]");
}

TEST(Lockstep, LanesThatSkipAnIterationStayInStep) {
  // b is the loop's head, only some lanes execute c, and there is no block at the loop's end.
  EXPECT_EQ(together({"abc1bc2d", "abbc3d"}), "a:3 b:3 < c:1 [x:1 1/4] b:3 c:3 [x:3 2 3/4] d:3");
}

TEST(Lockstep, ACalledFunctionIsLeftFirst) { EXPECT_EQ(together({"ab(e1)d", "ad"}), "a:3 < b:1 e:1 [x:1 1/4] d:3"); }

TEST(Lockstep, LanesThatHaveMoreToDoAreWaitedFor) {
  const std::vector<std::string> ways{"ab1b1b1c5", "ab2c6"};
  for (size_t stop = 4; stop < ways[0].size(); ++stop) {
    std::string text = together(ways, stop);
    std::erase(text, '|');
    for (size_t at = text.find("  "); at != std::string::npos; at = text.find("  ")) text.erase(at, 1);
    EXPECT_EQ(text, together(ways)) << stop;
  }
}

}  // namespace
}  // namespace convlab
