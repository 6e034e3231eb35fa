// Tests the thread pool: partitioning, nesting, exceptions and concurrent callers.

#include "convlab/device/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "convlab/base/limits.h"

namespace convlab {
namespace {

TEST(ThreadPool, CoversEveryIndexOnceInPiecesOfAtMostAGrain) {
  for (int threads = 1; threads <= 8; ++threads) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (int64_t count : {0, 1, 7, 64, 1000}) {
      for (int64_t grain : {1, 3, 64, 5000}) {
        std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
        std::atomic<bool> wrong = false;
        pool.parallel_for(count, grain, [&](int64_t begin, int64_t end, int thread) {
          if (begin >= end || end - begin > grain || thread < 0 || thread >= threads) wrong = true;
          for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
        });
        EXPECT_FALSE(wrong);
        for (const std::atomic<int>& times : seen) ASSERT_EQ(times, 1) << count << " by " << grain << " on " << threads;
      }
    }
  }
}

TEST(ThreadPool, EachThreadFirstTakesAPartOfItsOwn) {
  ThreadPool pool(3);
  std::vector<std::vector<int64_t>> taken(3);
  std::atomic<int> begun = 0;
  pool.parallel_for(20, 2, [&](int64_t begin, int64_t, int thread) {
    auto& own = taken[static_cast<size_t>(thread)];
    if (own.empty()) ++begun;
    own.push_back(begin);
    while (begun < 3) std::this_thread::yield();  // nobody steals work items before all threads have begun
  });
  const int64_t firsts[] = {0, 8, 14};  // first indices of the ranges of 4, 3 and 3 work items, 2 indices each
  for (size_t thread = 0; thread < 3; ++thread) EXPECT_EQ(taken[thread][0], firsts[thread]);
}

TEST(ThreadPool, AGrainBelowOneIsOne) {
  ThreadPool pool(2);
  std::atomic<int> calls = 0;
  pool.parallel_for(5, 0, [&](int64_t, int64_t, int) { ++calls; });
  EXPECT_EQ(calls, 5);
}

TEST(ThreadPool, NoThreadNumberIsUsedTwiceAtATime) {
  ThreadPool pool(4);
  std::vector<std::atomic<int>> inside(4);
  std::atomic<bool> shared = false;
  for (int round = 0; round < 50; ++round) {
    pool.parallel_for(64, 1, [&](int64_t, int64_t, int thread) {
      if (inside[static_cast<size_t>(thread)]++ != 0) shared = true;
      // A nested loop keeps the thread number it runs on.
      pool.parallel_for(3, 1, [&](int64_t, int64_t, int nested) {
        if (nested != thread) shared = true;
      });
      --inside[static_cast<size_t>(thread)];
    });
  }
  EXPECT_FALSE(shared);
}

TEST(ThreadPool, SeveralThreadsReallyWork) {
  ThreadPool pool(3);
  std::atomic<int> inside = 0;
  // Each of three work items waits for the others, so fewer than three threads would deadlock.
  pool.parallel_for(3, 1, [&](int64_t, int64_t, int) {
    ++inside;
    while (inside < 3) std::this_thread::yield();
  });
  EXPECT_EQ(inside, 3);
}

TEST(ThreadPool, NestedLoopsCoverEverything) {
  ThreadPool pool(4);
  std::atomic<int64_t> sum = 0;
  pool.parallel_for(20, 1, [&](int64_t outer, int64_t, int) {
    pool.parallel_for(10, 2, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) sum += outer * 10 + i;
    });
  });
  EXPECT_EQ(sum, 199 * 200 / 2);
}

TEST(ThreadPool, AnExceptionReachesTheCallerAndThePoolGoesOn) {
  for (int threads : {1, 4}) {
    ThreadPool pool(threads);
    for (int round = 0; round < 20; ++round) {
      EXPECT_THROW(pool.parallel_for(100, 1,
                                     [&](int64_t begin, int64_t, int) {
                                       if (begin == round) throw std::runtime_error("planted");
                                     }),
                   std::runtime_error);
    }
    std::atomic<int64_t> count = 0;
    pool.parallel_for(100, 7, [&](int64_t begin, int64_t end, int) { count += end - begin; });
    EXPECT_EQ(count, 100);
  }
}

TEST(ThreadPool, AnExceptionOfEveryPieceIsStillOneException) {
  ThreadPool pool(4);
  EXPECT_THROW(pool.parallel_for(100, 1, [](int64_t, int64_t, int) { throw std::runtime_error("planted"); }),
               std::runtime_error);
}

TEST(ThreadPool, LoopsOfSeveralThreadsTakeTurns) {
  ThreadPool pool(3);
  std::atomic<int64_t> count = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        pool.parallel_for(20, 2, [&](int64_t begin, int64_t end, int) { count += end - begin; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(count, 3 * 100 * 20);
}

TEST(ThreadPool, LoopsOfOnePieceTakeTurnsWithOthers) {
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    // Per-thread scratch as kernels use it: one element per thread, with no other synchronization.
    std::vector<int64_t> scratch(static_cast<size_t>(threads));
    std::atomic<bool> shared = false;
    const auto body = [&](int64_t begin, int64_t end, int thread) {
      int64_t& mine = scratch[static_cast<size_t>(thread)];
      mine = begin;
      for (int64_t i = begin; i < end; ++i) {
        pool.parallel_for(1, 1, [&](int64_t, int64_t, int nested) { ++scratch[static_cast<size_t>(nested)]; });
        std::this_thread::yield();
      }
      if (mine != end) shared = true;
    };
    std::thread other([&] {
      for (int round = 0; round < 300; ++round) pool.parallel_for(8, 8, body);
    });
    for (int round = 0; round < 100; ++round) pool.parallel_for(16, 4, body);
    other.join();
    EXPECT_FALSE(shared) << "on " << threads << " two loops ran at a time";
  }
}

TEST(ThreadPool, ALoopOfOnePieceThatThrowsLeavesThePoolToOthers) {
  ThreadPool pool(2);
  EXPECT_THROW(pool.parallel_for(1, 1, [](int64_t, int64_t, int) { throw std::runtime_error("planted"); }),
               std::runtime_error);
  int64_t count = 0;
  std::thread([&] { pool.parallel_for(1, 1, [&](int64_t, int64_t, int) { ++count; }); }).join();
  std::atomic<int64_t> more = 0;
  pool.parallel_for(10, 1, [&](int64_t, int64_t, int) { ++more; });
  EXPECT_EQ(count, 1);
  EXPECT_EQ(more, 10);
}

TEST(ThreadPool, EachThreadHasItsOwnPieceAtOnceWithTheOthers) {
  ThreadPool pool(4);
  for (int round = 0; round < 200; ++round) {
    for (const int count : {1, 3, 4}) {
      std::vector<std::thread::id> by(static_cast<size_t>(count));
      std::atomic<int> inside = 0;
      pool.on_each_thread(count, [&](int thread) {
        by[static_cast<size_t>(thread)] = std::this_thread::get_id();
        // Each call waits for the others, so sequential execution would deadlock.
        ++inside;
        while (inside < count) std::this_thread::yield();
      });
      EXPECT_EQ(by[0], std::this_thread::get_id());
      std::ranges::sort(by);
      EXPECT_EQ(std::ranges::unique(by).size(), 0U);
    }
  }
}

TEST(ThreadPool, OnEachThreadAllWorkIsDoneBeforeAnErrorIsThrown) {
  ThreadPool pool(3);
  std::atomic<int> done = 0;
  EXPECT_THROW(pool.on_each_thread(3,
                                   [&](int thread) {
                                     if (thread == 0) throw std::runtime_error("planted");
                                     std::this_thread::sleep_for(std::chrono::milliseconds(5));
                                     ++done;
                                   }),
               std::runtime_error);
  EXPECT_EQ(done, 2);
}

TEST(ThreadPool, ManyShortLoopsNeitherHangNorLoseWork) {
  ThreadPool pool(4);
  std::atomic<int64_t> count = 0;
  for (int round = 0; round < 5000; ++round) {
    pool.parallel_for(4, 1, [&](int64_t begin, int64_t end, int) { count += end - begin; });
  }
  EXPECT_EQ(count, 20000);
}

TEST(UsableThreads, AreNoMoreThanTheAffinityMaskAllows) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_GE(usable_threads(), 1);
  EXPECT_LE(usable_threads(), CPU_COUNT(&before));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &before) && CPU_COUNT(&one) == 0) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_threads(), 1);
  EXPECT_EQ(ThreadPool().size(), 1);
  EXPECT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

}  // namespace
}  // namespace convlab
