// convlab class: what a teacher and students type, with verdicts that the test gives.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include "convlab/base/json.h"
#include "convlab/classroom/answers.h"
#include "convlab/classroom/settings.h"
#include "convlab/classroom/store.h"
#include "tests/program.h"
#include "tests/source_tree.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using Json = nlohmann::ordered_json;

/// Runs the program as another user, as root may.
ProgramRun run_as(uid_t user, const std::filesystem::path& home, std::vector<std::string> arguments) {
  int status = 0;
  const std::filesystem::path out = home / "out", err = home / "err";
  const pid_t child = ::fork();
  if (child == 0) {
    arguments.insert(arguments.begin(), CONVLAB_BINARY);
    std::vector<char*> argv;
    for (std::string& each : arguments) argv.push_back(each.data());
    argv.push_back(nullptr);
    ::setenv("HOME", home.c_str(), 1);
    ::unsetenv("XDG_CONFIG_HOME");
    if (::setgid(user) != 0 || ::setuid(user) != 0) ::_exit(126);
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDOUT_FILENO);
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDERR_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ::waitpid(child, &status, 0);
  return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1, .output = text_of(out), .complaint = text_of(err)};
}

class ClassCommands : public testing::Test {
 protected:
  ProgramRun call(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "class");
    return run_program(arguments);
  }

  Json json_of(std::vector<std::string> arguments, int status = 0) const {
    arguments.insert(arguments.end(), {"--json", "-"});
    const ProgramRun run = call(std::move(arguments));
    EXPECT_EQ(run.status, status) << run.complaint;
    return parse_json(run.output, "standard output");
  }

  void make_class(std::vector<std::string> more = {"--assignment", "fa19"}) const {
    more.insert(more.begin(), {"new", dir()});
    const ProgramRun run = call(more);
    ASSERT_EQ(run.status, 0) << run.complaint;
  }

  int64_t submit(const std::string& student) const {
    return json_of({"submit", dir(), kernel(), "--as", student}).at("submissions")[0].at("number").get<int64_t>();
  }

  /// In the place of a worker.
  void judge_next(const judge::Judgement& judgement) const {
    const classroom::Folder folder(dir());
    classroom::Store store(folder.database());
    store.beat("test", "");
    const auto lease = store.take("test", "", 10);
    ASSERT_TRUE(lease);
    ASSERT_TRUE(store.finish(*lease, judgement));
    classroom::publish(folder, classroom::read_settings(folder), store, {lease->submission.student.id});
    classroom::publish_rankings(folder, classroom::read_settings(folder), store);
  }

  static judge::Judgement passed(double ratio) {
    return {.verdict = judge::Verdict::passed,
            .ratio = judge::Ratio{ratio, ratio - 0.01, ratio + 0.01, 20},
            .stages = {{judge::Stage::compiling, 2, ""}, {judge::Stage::timing, 4, ""}}};
  }
  static judge::Judgement wrong() {
    return {.verdict = judge::Verdict::wrong,
            .failed_at = judge::Stage::verifying,
            .reason = "3 elements of y are wrong",
            .what_to_do = "look at the last column",
            .stages = {{judge::Stage::compiling, 2, ""}, {judge::Stage::verifying, 1, "thread 3 did it"}}};
  }

  std::string dir() const { return (folder_.path() / "class").string(); }
  std::string kernel() const { return dir() + "/public/fa19/new-forward.cuh"; }

  const TemporaryFolder folder_;
};

TEST_F(ClassCommands, NewRefusesWhatIsThereAndTellsWhatIsWrong) {
  make_class();
  EXPECT_THAT(call({"new", dir(), "--assignment", "fa19"}).complaint, HasSubstr("not empty"));
  const std::string other = (folder_.path() / "other").string();
  const ProgramRun unknown = call({"new", other, "--assignment", "fa91"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.complaint, HasSubstr("did you mean"));
  EXPECT_EQ(call({"new", other, "--assignment", "fa19", "--deadline", "tomorrow"}).status, 2);
  EXPECT_EQ(call({"new", other, "--assignment", "fa19", "--points", "linear", "--full", "0.1", "--zero", "1"}).status,
            2)
      << "simt has no clock";
  EXPECT_FALSE(std::filesystem::exists(other));
  EXPECT_EQ(call({"new", other, "--assignment", "fa19", "sp25", "--device", "cuda", "--points", "linear", "--full",
                  "0.1", "--zero", "1", "--deadline", "2030-01-01T00:00:00Z"})
                .status,
            0);
  EXPECT_EQ(call({"status", folder_.path().string()}).status, 2);
}

TEST_F(ClassCommands, SubmitAnswersWithNumberAndPlace) {
  make_class();
  const Json first = json_of({"submit", dir(), kernel(), "--as", "anna"});
  EXPECT_EQ(first.at("submissions")[0].at("number"), 1);
  EXPECT_EQ(first.at("submissions")[0].at("place"), 1);
  EXPECT_EQ(first.at("submissions")[0].at("stage"), "queued");
  EXPECT_TRUE(first.at("submissions")[0].at("verdict").is_null());
  const ProgramRun second = call({"submit", dir(), kernel(), "--as", "bert"});
  EXPECT_THAT(second.output, StartsWith("Submission 2: queued, place 2 on simt"));
  EXPECT_THAT(second.complaint, HasSubstr("nobody is at work"));
  judge_next(passed(0.5));
  EXPECT_EQ(json_of({"status", dir(), "2"}).at("submissions")[0].at("due_s"), 6);
}

TEST_F(ClassCommands, SubmitRefusesWhatIsNoSubmission) {
  make_class();
  const std::string large = (folder_.path() / "large.cu").string();
  write_file(large, std::string((1 << 20) + 1, ' '));
  EXPECT_THAT(call({"submit", dir(), large}).complaint, HasSubstr("at most 1048576"));
  const std::string text = (folder_.path() / "kernel.txt").string();
  write_file(text, "x");
  EXPECT_THAT(call({"submit", dir(), text}).complaint, HasSubstr("a kernel file ends in"));
  EXPECT_EQ(call({"submit", dir(), kernel(), "--assignment", "sp25"}).status, 2);
  EXPECT_EQ(call({"submit", dir(), kernel(), "--as", "a\nb"}).status, 2);
  EXPECT_EQ(call({"submit", dir(), dir() + "/gone.cu"}).status, 2);
  EXPECT_THAT(json_of({"status", dir()}).at("submissions"), IsEmpty());
}

TEST_F(ClassCommands, LateIsRefusedAtOnce) {
  make_class({"--assignment", "fa19", "--deadline", "2001-01-01T00:00:00Z"});
  const Json late = json_of({"submit", dir(), kernel(), "--wait"}, 1);
  EXPECT_EQ(late.at("submissions")[0].at("verdict"), "REFUSED");
  EXPECT_THAT(late.at("submissions")[0].at("reason").get<std::string>(), HasSubstr("late"));
}

TEST_F(ClassCommands, WaitEndsWithTheVerdict) {
  make_class();
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl(CONVLAB_BINARY, CONVLAB_BINARY, "class", "submit", dir().c_str(), kernel().c_str(), "--as", "anna",
            "--wait", "--json", (folder_.path() / "result.json").c_str(), nullptr);
    ::_exit(127);
  }
  const classroom::Folder folder(dir());
  classroom::Store store(folder.database());
  while (store.unfinished("") == 0) ::usleep(20'000);
  judge_next(wrong());
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  const Json result = parse_json(text_of(folder_.path() / "result.json"), "result.json");
  EXPECT_EQ(result.at("submissions")[0].at("verdict"), "WRONG");
  const ProgramRun details = call({"status", dir(), "1"});
  EXPECT_EQ(details.status, 0);
  EXPECT_THAT(details.output, AllOf(HasSubstr("WRONG at verifying: 3 elements"), HasSubstr("What to do: look at"),
                                    HasSubstr("thread 3 did it")));
}

TEST_F(ClassCommands, RankingAndGrades) {
  make_class({"--assignment", "fa19", "--device", "cuda", "--points", "linear", "--full", "0.25", "--zero", "0.75"});
  for (const char* student : {"=anna", "bert, the first", "clara", "dora"}) submit(student);
  judge_next(passed(0.50));
  judge_next(passed(0.505));
  judge_next(passed(0.25));
  judge_next(wrong());
  const Json ranking = json_of({"ranking", dir()});
  EXPECT_EQ(ranking.at("assignment"), "fa19");
  const Json& entries = ranking.at("entries");
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].at("submission"), 3);
  EXPECT_EQ(entries[0].at("points"), 100);
  EXPECT_EQ(entries[0].at("class"), "fp32");
  EXPECT_EQ(entries[1].at("rank"), 2);
  EXPECT_EQ(entries[2].at("rank"), 2) << "the bounds overlap";
  EXPECT_THAT(ranking.dump(), Not(HasSubstr("clara"))) << "the class has made-up names";
  const std::string csv = (folder_.path() / "grades.csv").string();
  EXPECT_EQ(call({"grade", dir(), "--csv", csv}).status, 0);
  EXPECT_EQ(text_of(csv),
            "name,assignment,submission,verdict,class,ratio,low,high,rank,points\r\n"
            "'=anna,fa19,1,PASSED,fp32,0.5000,0.4900,0.5100,2,50.00\r\n"
            "\"bert, the first\",fa19,2,PASSED,fp32,0.5050,0.4950,0.5150,2,49.00\r\n"
            "clara,fa19,3,PASSED,fp32,0.2500,0.2400,0.2600,1,100.00\r\n"
            "dora,fa19,,WRONG,,,,,,0\r\n");
  EXPECT_THAT(call({"grade", dir(), "--regrade"}).output, HasSubstr("3 submissions wait"));
  judge::Judgement timed = passed(0.3);
  timed.times = {{"n1_c1h70w70_k12r5s5", 0.003, 0.01, 0.00123}};
  judge_next(timed);
  const Json graded = json_of({"status", dir(), "1"}).at("submissions")[0];
  EXPECT_EQ(graded.at("ratio"), 0.3);
  EXPECT_EQ(graded.at("times")[0].at("bound_s"), 0.00123);
  EXPECT_THAT(call({"status", dir(), "1"}).output,
              AllOf(HasSubstr("n1_c1h70w70_k12r5s5   3.000 ms   10.00 ms   1.230 ms  41 % of the bound's speed\n"),
                    HasSubstr("reference      bound\n")));
  const Json history = json_of({"history", dir()});
  EXPECT_EQ(history.at("submissions").size(), 4u);
  EXPECT_EQ(history.at("submissions")[3].at("failed_at"), "verifying");
}

TEST_F(ClassCommands, AWorkerHasTheFileToBeginWithJudgedRight) {
  make_class();
  submit("anna");
  const ProgramRun work = call({"work", dir(), "--until-empty"});
  constexpr int kNotThere = 3;
  if (work.status == kNotThere) GTEST_SKIP() << work.complaint;
  EXPECT_EQ(work.status, 0) << work.complaint;
  const Json judged = json_of({"status", dir(), "1"}).at("submissions")[0];
  EXPECT_EQ(judged.at("verdict"), "PASSED") << judged.dump();
  EXPECT_FALSE(judged.at("counters").empty());
  const Json entries = json_of({"ranking", dir()}).at("entries");
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].at("rank"), 1);
  EXPECT_TRUE(entries[0].at("ratio").is_null()) << "simt has no clock";
  EXPECT_EQ(entries[0].at("points"), 100);
}

TEST_F(ClassCommands, BadUsageIsNoCrash) {
  make_class();
  for (const std::vector<std::string>& each : {std::vector<std::string>{},
                                               {"fly"},
                                               {"submit"},
                                               {"submit", dir()},
                                               {"status", dir(), "99"},
                                               {"status", dir(), "x"},
                                               {"ranking", dir(), "--assignment", "x"},
                                               {"work", "/nowhere"},
                                               {"grade", dir(), "--csv", "/nowhere/x.csv"}}) {
    const ProgramRun run = call(each);
    EXPECT_EQ(run.status, 2) << run.output;
    EXPECT_THAT(run.complaint, StartsWith("convlab: "));
  }
  write_file(dir() + "/class.toml", "nonsense");
  EXPECT_THAT(call({"status", dir()}).complaint, HasSubstr("class.toml:1"));
}

// A student with an account of his own: he writes into the spool, and reads his answers, the queue and the ranking.
TEST_F(ClassCommands, OtherAccountsNeedNoDatabase) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  constexpr uid_t kAnna = 12345, kBert = 12346;
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
  for (const uid_t each : {kAnna, kBert}) {
    const std::filesystem::path home = folder_.path() / std::to_string(each);
    std::filesystem::create_directory(home);
    ASSERT_EQ(::chown(home.c_str(), each, each), 0);
  }
  const auto as = [&](uid_t user, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "class");
    return run_as(user, folder_.path() / std::to_string(user), std::move(arguments));
  };
  make_class();
  if (as(kAnna, {"--help"}).status != 0) GTEST_SKIP() << "other users cannot reach the program";
  const ProgramRun first = as(kAnna, {"submit", dir(), kernel()});
  EXPECT_EQ(first.status, 0) << first.complaint;
  EXPECT_THAT(first.output, StartsWith("Submission 1: queued, place 1 on simt"));
  EXPECT_THAT(as(kBert, {"submit", dir(), kernel()}).output, StartsWith("Submission 2: queued, place"));
  EXPECT_THAT(as(kBert, {"submit", dir(), kernel(), "--as", "anna"}).complaint, HasSubstr("only the class's owner"));
  for (const char* command : {"grade", "work", "serve"}) {
    EXPECT_THAT(as(kBert, {command, dir()}).complaint, HasSubstr("only the class's owner"));
  }
  EXPECT_THAT(as(kBert, {"token", dir(), "bert"}).complaint, HasSubstr("only the class's owner"));
  EXPECT_EQ(call({"status", dir()}).status, 0);  // the owner takes them in
  judge_next(passed(0.5));
  EXPECT_THAT(as(kAnna, {"status", dir(), "1"}).output, HasSubstr("PASSED"));
  EXPECT_EQ(as(kBert, {"status", dir(), "1"}).status, 2) << "it is not his";
  EXPECT_THAT(as(kBert, {"history", dir()}).output, AllOf(HasSubstr("2  uid 12346"), Not(HasSubstr("uid 12345"))));
  EXPECT_THAT(as(kAnna, {"ranking", dir()}).output, HasSubstr("(you)"));
  EXPECT_THAT(as(kBert, {"ranking", dir()}).output, Not(HasSubstr("(you)")));
  EXPECT_THAT(as(kBert, {"submit", dir(), kernel()}).output, StartsWith("Submission 3: queued, place 2"));
}

}  // namespace
}  // namespace convlab
