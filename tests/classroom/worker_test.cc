// Tests workers that are killed at arbitrary times, and judges that fail.

#include "convlab/classroom/class_worker.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "convlab/base/clock.h"
#include "convlab/base/file.h"
#include "convlab/base/json.h"
#include "convlab/base/rng.h"
#include "convlab/classroom/job.h"
#include "tests/classroom/class_fixture.h"
#include "tests/support/source_tree.h"
#include "tests/support/thrown_errors.h"

namespace convlab::classroom {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

/// A shell script that replaces the judge. $1 is the job's folder, $answer the file of a passing judgment.
class FakeJudge {
 public:
  FakeJudge(const SomeClass& some, const std::string& script) : some_(some), script_(some.root() / "fake_judge.sh") {
    const judge::Judgement passed{.verdict = judge::Verdict::passed,
                                  .stages = {{judge::Stage::compiling, 0.5, "hello"}}};
    write_file(some.root() / "passed.json", json_text(judge::to_json(passed), -1));
    write_file(script_, "cd \"$1\"\nanswer=../../passed.json\n" + script);
  }

  WorkOptions options() const {
    return {.until_empty = true,
            .start =
                [this](const Lease& lease) {
                  return run_here({"sh", script_.string(), (some_.root() / "jobs" / job_name(lease)).string()});
                },
            .tell = [](const std::string&) {}};
  }

 private:
  const SomeClass& some_;
  std::filesystem::path script_;
};

constexpr const char* kPass = "echo compiling > stage.tmp; mv stage.tmp stage.txt\ncp $answer j; mv j judgement.json\n";

TEST(Worker, HasEverythingJudged) {
  SomeClass some;
  for (const char* student : {"anna", "bert", "anna"}) some.write(student);
  const FakeJudge judge(some, kPass);
  work(*some.folder, judge.options());
  const std::vector<Submission> all = some.store->submissions({});
  ASSERT_THAT(all, SizeIs(3));
  for (const Submission& each : all) {
    EXPECT_EQ(each.stage, judge::Stage::done);
    ASSERT_TRUE(each.judgement);
    EXPECT_EQ(each.judgement->verdict, judge::Verdict::passed);
  }
  EXPECT_TRUE(std::filesystem::is_empty(some.folder->jobs()));
  EXPECT_EQ(some.store->queue(10).durations.begin()->second, 0.5);
  EXPECT_THAT(text_of(some.folder->rankings()), HasSubstr("\"submission\":1"));
  EXPECT_EQ(some.integrity(), "ok");
}

TEST(Worker, CountsWhatJobsTakeBesideTheirStages) {
  SomeClass some;
  some.write("anna");
  const FakeJudge judge(some, "sleep 0.7\n" + std::string(kPass));  // its stage reports 0.5 s
  work(*some.folder, judge.options());
  EXPECT_GE(some.store->queue(10).durations.begin()->second, 0.7);
}

TEST(Worker, TellsTheJudgeWhatToJudge) {
  SomeClass some;
  some.write("anna");
  const FakeJudge judge(some, std::string("cp job.json ../../seen.json\n") + kPass);
  work(*some.folder, judge.options());
  const auto job = parse_json(text_of(some.root() / "seen.json"), "job.json");
  EXPECT_EQ(job.at("device"), "simt");
  EXPECT_EQ(text_of(job.at("file").get<std::string>()), "// nothing");
  EXPECT_EQ(judge::assignment_from(job.at("assignment"), "job.json").layers.size(), 2u);
}

TEST(Worker, GivesAJudgeThatFailsThreeChances) {
  SomeClass some;
  some.write("anna");
  const FakeJudge judge(some, "echo x >> ../../tries\necho 'it burns' >&2\nexit 5\n");
  work(*some.folder, judge.options());
  const auto judgement = some.store->submissions({}).at(0).judgement;
  ASSERT_TRUE(judgement);
  EXPECT_EQ(judgement->verdict, judge::Verdict::refused);
  EXPECT_THAT(judgement->reason, AllOf(HasSubstr("the judge failed 3 times"), Not(HasSubstr("it burns"))));
  EXPECT_THAT(some.store->submissions({}).at(0).complaint, AllOf(HasSubstr("status 5: "), HasSubstr("it burns")))
      << "for the class's owner";
  EXPECT_TRUE(some.store->judge_again(1));
  work(*some.folder, FakeJudge(some, kPass).options());
  EXPECT_EQ(some.store->submissions({}).at(0).judgement->verdict, judge::Verdict::passed);
  EXPECT_EQ(some.store->submissions({}).at(0).complaint, "");
  EXPECT_EQ(text_of(some.root() / "tries"), "x\nx\nx\n");
}

// A client that sees the stage "done" must find a verdict.
TEST(Worker, IsDoneWhenTheVerdictIsStored) {
  SomeClass some;
  some.write("anna");
  const FakeJudge judge(some, "echo done > stage.tmp; mv stage.tmp stage.txt; sleep 0.3\n" + std::string(kPass));
  std::jthread worker([&] { work(*some.folder, judge.options()); });
  Store store(some.folder->database());
  for (;;) {
    const std::vector<Submission> all = store.submissions({});
    if (!all.empty() && all[0].stage == judge::Stage::done) {
      EXPECT_TRUE(all[0].judgement);
      break;
    }
    ::usleep(5000);
  }
}

TEST(Worker, TakesInWhileAJobRuns) {
  SomeClass some;
  some.write("anna");
  // The judge of the first submission ends after the second one has its number.
  const FakeJudge judge(some,
                        "for i in $(seq 100); do [ -e ../../files/2 ] && break; sleep 0.05; done\n"
                        "[ -e ../../files/2 ] || exit 5\n" +
                            std::string(kPass));
  std::jthread worker([&] { work(*some.folder, judge.options()); });
  while (std::filesystem::is_empty(some.folder->jobs())) ::usleep(5000);
  some.write("bert");
  worker.join();
  for (const Submission& each : some.store->submissions({})) {
    ASSERT_TRUE(each.judgement);
    EXPECT_EQ(each.judgement->verdict, judge::Verdict::passed) << each.complaint;
  }
}

TEST(Worker, StopsWhereNothingCanBeJudgedAndKeepsTheJob) {
  SomeClass some;
  some.write("anna");
  const FakeJudge judge(some, "echo 'there are no jails here' >&2\nexit 3\n");
  EXPECT_THAT(error_message(ErrorKind::unavailable, [&] { work(*some.folder, judge.options()); }),
              HasSubstr("there are no jails here"));
  EXPECT_EQ(some.store->unfinished(""), 1);
  EXPECT_FALSE(some.store->submissions({}).at(0).judgement);
}

TEST(Worker, StopsAtABrokenSecretAndKeepsTheJob) {
  SomeClass some;
  some.write("anna");
  const std::filesystem::path secret = some.folder->secret("fa19");
  const std::string whole = text_of(secret);
  write_file(secret, std::string_view(R"({"shapes": ["bogus"]})"));
  const FakeJudge judge(some, kPass);
  EXPECT_THAT(error_message(ErrorKind::unavailable, [&] { work(*some.folder, judge.options()); }),
              AllOf(HasSubstr("bogus"), HasSubstr("fix class.toml or secret/fa19.json")));
  EXPECT_FALSE(some.store->submissions({}).at(0).judgement);
  write_file(secret, whole);
  work(*some.folder, judge.options());
  EXPECT_EQ(some.store->submissions({}).at(0).judgement->verdict, judge::Verdict::passed);
}

TEST(Worker, TakesHalfAnAnswerForAFailure) {
  SomeClass some;
  some.write("anna");
  const FakeJudge judge(some,
                        "echo x >> ../../tries\n[ $(wc -l < ../../tries) -gt 1 ] || { head -c 20 $answer > j; mv j "
                        "judgement.json; exit 0; }\n" +
                            std::string(kPass));
  work(*some.folder, judge.options());
  EXPECT_EQ(some.store->submissions({}).at(0).judgement->verdict, judge::Verdict::passed);
}

/// Forks a process that works until it is killed.
pid_t start_worker(const SomeClass& some, const FakeJudge& judge) {
  const pid_t worker = ::fork();
  if (worker != 0) return worker;
  int status = 1;
  try {
    work(*some.folder, judge.options());
    status = 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "a worker ended: %s\n", error.what());
  }
  ::_exit(status);
}

TEST(Worker, KilledAHundredTimesLosesNothingAndGivesOneVerdictEach) {
  constexpr int kSubmissions = 100, kKills = 100, kWorkers = 3;
  Settings settings;
  settings.lease_s = 0.5;
  settings.per_hour = 1000;
  SomeClass some(settings);
  const FakeJudge judge(some, "echo x >> ../../runs; sleep 0.1\n" + std::string(kPass));
  some.store.reset();  // no database may be open across fork()
  Rng random(7);
  std::vector<pid_t> workers;
  for (int i = 0; i < kWorkers; ++i) workers.push_back(start_worker(some, judge));
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i < kKills; ++i) {
    // Submissions arrive meanwhile.
    if (i < kSubmissions) {
      write_entry(some.folder->spool(), SomeClass::entry("student " + std::to_string(i % 7)));
    }
    ::usleep(static_cast<useconds_t>(random.integer(0, 200'000)));
    pid_t& victim = workers[static_cast<size_t>(random.integer(0, kWorkers - 1))];
    ::kill(victim, SIGKILL);
    ::waitpid(victim, nullptr, 0);
    victim = start_worker(some, judge);
  }
  const auto all_done = [&] {
    Store store(some.folder->database());
    return store.next_number() > kSubmissions && store.unfinished("") == 0;
  };
  while (!all_done() && seconds_since(begin) < 100) ::usleep(100'000);
  for (const pid_t each : workers) {
    ::kill(each, SIGKILL);
    ::waitpid(each, nullptr, 0);
  }
  some.store.emplace(some.folder->database());
  const std::vector<Submission> all = some.store->submissions({});
  ASSERT_THAT(all, SizeIs(kSubmissions));
  for (const Submission& each : all) EXPECT_TRUE(each.judgement && each.stage == judge::Stage::done) << each.number;
  const auto verdicts = some.store->database().query("SELECT count(*), count(DISTINCT job) FROM results");
  verdicts->next();
  EXPECT_EQ(verdicts->integer(0), kSubmissions);
  EXPECT_EQ(verdicts->integer(1), kSubmissions);
  const std::string runs = text_of(some.root() / "runs");
  EXPECT_GT(runs.size() / 2, static_cast<size_t>(kSubmissions)) << "no judge was cut off: the test kills nothing";
  EXPECT_EQ(some.integrity(), "ok");
}

}  // namespace
}  // namespace convlab::classroom
