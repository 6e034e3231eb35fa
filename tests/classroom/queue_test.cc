// Tests the queue's pure functions: which job runs next, and when.

#include "convlab/classroom/queue.h"

#include <gmock/gmock.h>

#include "convlab/base/rng.h"

namespace convlab::classroom {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

const auto any = [](const QueuedJob&) { return true; };

QueuedJob job(int64_t number, int64_t student, const std::string& device = "cuda") {
  return {.job = number,
          .submission = number,
          .student = student,
          .arrived_s = static_cast<double>(number),
          .assignment = "fa19",
          .device = device};
}

std::vector<int64_t> places(const std::vector<Turn>& turns) {
  std::vector<int64_t> all;
  for (const Turn& each : turns) all.push_back(each.place);
  return all;
}

TEST(Queue, TheStudentWithTheFewestJobsComesFirstThenTheOldest) {
  const std::vector<QueuedJob> waiting{job(1, 7), job(2, 7), job(3, 8), job(4, 9)};
  EXPECT_EQ(next_job(waiting, {}, any), 2u);
  EXPECT_EQ(next_job(waiting, {{job(0, 8), 5}}, any), 3u) << "8 has one that runs";
  EXPECT_EQ(next_job({job(2, 7), job(1, 7)}, {}, any), 1u);
  EXPECT_EQ(next_job(waiting, {}, [](const QueuedJob& each) { return each.student == 7; }), 0u);
  EXPECT_EQ(next_job({}, {}, any), std::nullopt);
}

TEST(Queue, OneContestantDoesNotBlockAll) {
  std::vector<QueuedJob> waiting;
  for (int64_t number = 1; number <= 20; ++number) waiting.push_back(job(number, 7));
  waiting.push_back(job(21, 8));
  EXPECT_EQ(turns(waiting, {}, {}, {}).back().place, 1);
  EXPECT_EQ(turns(waiting, {}, {}, {}).front().place, 2);
}

TEST(Queue, TurnsComeOneAfterAnotherOnADevice) {
  const Durations durations{{{"fa19", "cuda"}, 10}};
  const std::vector<QueuedJob> waiting{job(1, 1), job(2, 1), job(3, 2)};
  const std::vector<Turn> alone = turns(waiting, {{job(0, 3), 4}}, durations, {});
  EXPECT_THAT(places(alone), ElementsAre(2, 3, 1));
  EXPECT_EQ(alone[2].due_s, 14);
  EXPECT_EQ(alone[0].due_s, 24);
  EXPECT_EQ(alone[1].due_s, 34);
  const std::vector<Turn> two = turns(waiting, {{job(0, 3), 4}}, durations, {{"cuda", 2}});
  EXPECT_EQ(two[2].due_s, 10);
  EXPECT_EQ(two[0].due_s, 14);
}

TEST(Queue, DevicesDoNotWaitForEachOther) {
  const std::vector<Turn> both = turns({job(1, 1, "cuda"), job(2, 1, "simt")}, {}, {{{"fa19", "simt"}, 3}}, {});
  EXPECT_THAT(places(both), ElementsAre(1, 1));
  EXPECT_EQ(both[0].due_s, std::nullopt) << "nobody knows how long it takes";
  EXPECT_EQ(both[1].due_s, 3);
}

TEST(Queue, WhatStagesUsuallyTakeWeighsThoseThatComeSoFar) {
  const UsualStages usual({{{"compiling", 10}, {"verifying", 4}},
                           {{"compiling", 12}, {"verifying", 6}},
                           {{"compiling", 11}, {"verifying", 400}},
                           {{"compiling", 1}}});
  EXPECT_THAT(usual.job_s(), DoubleNear(8.5 + 28.0 / 3 * 0.75, 1e-9)) << "400 counts as 18";
  EXPECT_THAT(usual.left_s("compiling", 0.5), DoubleNear(8 + 28.0 / 3 * 0.75, 1e-9));
  EXPECT_THAT(usual.left_s("verifying", 2), DoubleNear(28.0 / 3 - 2, 1e-9));
  EXPECT_EQ(usual.left_s("verifying", 100), 0);
  EXPECT_FALSE(UsualStages({}).known());
}

// Fifty jobs of twelve students. A fifth of them do not compile, and each stage takes 0.7 to 1.3 times its usual time.
TEST(Queue, DueTimesOfFiftyJobsAreRightWithinAQuarter) {
  Rng random(1);
  const auto stages_of_a_job = [&] {
    std::vector<StageTime> stages{{"compiling", 20.0 * random.uniform(0.7F, 1.3F)}};
    if (random.integer(1, 5) == 1) return stages;
    stages.push_back({"verifying", 40.0 * random.uniform(0.7F, 1.3F)});
    stages.push_back({"timing", 60.0 * random.uniform(0.7F, 1.3F)});
    return stages;
  };
  std::vector<std::vector<StageTime>> history;
  for (int i = 0; i < 50; ++i) history.push_back(stages_of_a_job());
  std::vector<QueuedJob> waiting;
  for (int64_t number = 1; number <= 50; ++number) waiting.push_back(job(number, random.integer(1, 12)));
  const std::vector<Turn> promised = turns(waiting, {}, {{{"fa19", "cuda"}, UsualStages(history).job_s()}}, {});

  double now_s = 0;
  std::map<int64_t, double> ended;
  std::vector<QueuedJob> left = waiting;
  while (!left.empty()) {
    const size_t next = next_job(left, {}, any).value();
    for (const StageTime& each : stages_of_a_job()) now_s += each.seconds;
    ended[left[next].job] = now_s;
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(next));
  }
  int far = 0;
  for (size_t i = 0; i < waiting.size(); ++i) {
    const double really = ended.at(waiting[i].job);
    ASSERT_TRUE(promised[i].due_s.has_value());
    // The first few depend too much on single jobs.
    if (promised[i].place > 10) {
      EXPECT_THAT(*promised[i].due_s / really, DoubleNear(1, 0.25)) << promised[i].place;
    }
    far += std::abs(*promised[i].due_s / really - 1) <= 0.25 ? 0 : 1;
  }
  EXPECT_LE(far, 5);
}

}  // namespace
}  // namespace convlab::classroom
