// Tests convlab class as teachers and students use it, with verdicts set by the test.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <stop_token>
#include <thread>

#include "convlab/base/json.h"
#include "convlab/classroom/class_answers.h"
#include "convlab/classroom/class_settings.h"
#include "convlab/classroom/intake.h"
#include "convlab/classroom/store.h"
#include "tests/support/paths.h"
#include "tests/support/program_run.h"
#include "tests/support/source_tree.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using Json = nlohmann::ordered_json;

/// Runs the program as another user. Requires root.
ProgramRun run_as(uid_t user, const std::filesystem::path& home, std::vector<std::string> arguments) {
  int status = 0;
  const std::filesystem::path out = home / "out", err = home / "err";
  const pid_t child = ::fork();
  if (child == 0) {
    arguments.insert(arguments.begin(), convlab_program());
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

/// Runs intake in the background for the lifetime of the object, as a worker does.
class OwnerTakesIn {
 public:
  explicit OwnerTakesIn(const std::string& dir)
      : thread_([dir](const std::stop_token& stop) {
          const classroom::Folder folder(dir);
          classroom::Store store(folder.database());
          while (!stop.stop_requested()) {
            classroom::take_in(folder, classroom::read_settings(folder), store);
            ::usleep(20'000);
          }
        }) {}

 private:
  std::jthread thread_;
};

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

  /// Stores a judgment in place of a worker.
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

  /// Starts `class submit --wait` in another process, which ends with the verdict.
  pid_t submit_and_wait(const std::string& student) const {
    const pid_t child = ::fork();
    if (child == 0) {
      ::execl(convlab_program().c_str(), "convlab", "class", "submit", dir().c_str(), kernel().c_str(), "--as",
              student.c_str(), "--wait", "--json", (folder_.path() / "result.json").c_str(), nullptr);
      ::_exit(127);
    }
    return child;
  }
  static int status_of(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WEXITSTATUS(status);
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
  EXPECT_THAT(call({"new", other, "--assignment", "fa20"}).complaint,
              HasSubstr("unknown assignment 'fa20'; fa20 used the network of sp25; available: "));
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

TEST_F(ClassCommands, DeadlinesNeedNoSecondsAndAreToldInBothZones) {
  ::setenv("TZ", "CST6CDT,M3.2.0,M11.1.0", 1);  // Chicago's rules, in case no time zone database is installed
  const ProgramRun made = call({"new", dir(), "--assignment", "fa19", "--deadline", "2027-05-01 23:59"});
  ::unsetenv("TZ");
  EXPECT_EQ(made.status, 0) << made.complaint;
  EXPECT_THAT(made.output, HasSubstr("Deadline: 2027-05-01T23:59:00-05:00 (2027-05-02T04:59:00Z)"));
  EXPECT_THAT(text_of(dir() + "/class.toml"), HasSubstr("deadline = 2027-05-01T23:59:00-05:00\n"));
  const std::string other = (folder_.path() / "other").string();
  ::setenv("TZ", "UTC0", 1);
  EXPECT_THAT(call({"new", other, "--assignment", "fa19", "--deadline", "2027-05-01T23:59+02:00"}).output,
              HasSubstr("Deadline: 2027-05-01T21:59:00+00:00\n"));
  ::unsetenv("TZ");
  EXPECT_THAT(call({"new", other, "--assignment", "fa19", "--deadline", "tomorrow"}).complaint,
              HasSubstr("--deadline: expected '2026-12-01 23:59'"));
}

TEST_F(ClassCommands, SubmitAnswersWithNumberAndPlace) {
  make_class();
  const Json first = json_of({"submit", dir(), kernel(), "--as", "anna"});
  EXPECT_EQ(first.at("submissions")[0].at("number"), 1);
  EXPECT_EQ(first.at("submissions")[0].at("place"), 1);
  EXPECT_EQ(first.at("submissions")[0].at("stage"), "queued");
  EXPECT_TRUE(first.at("submissions")[0].at("verdict").is_null());
  const ProgramRun second = call({"submit", dir(), kernel(), "--as", "bert"});
  EXPECT_THAT(second.output, StartsWith("Submission 2: queued, position 2 in the simt queue"));
  EXPECT_THAT(second.complaint, HasSubstr("no worker is running"));
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
  EXPECT_THAT(call({"submit", dir(), text}).complaint, HasSubstr("kernel file names must end in"));
  const std::string empty = (folder_.path() / "empty.cu").string();
  write_file(empty, "");
  EXPECT_THAT(call({"submit", dir(), empty}).complaint, HasSubstr("empty.cu: the file is empty"));
  const std::string program = (folder_.path() / "program.cu").string();
  write_file(program, "int main() { return 0; }");
  EXPECT_THAT(call({"submit", dir(), program}).complaint, HasSubstr("not a kernel file: no entry point found"));
  EXPECT_EQ(call({"submit", dir(), kernel(), "--assignment", "sp25"}).status, 2);
  EXPECT_EQ(call({"submit", dir(), kernel(), "--as", "a\nb"}).status, 2);
  EXPECT_EQ(call({"submit", dir(), dir() + "/gone.cu"}).status, 2);
  EXPECT_THAT(json_of({"status", dir()}).at("submissions"), IsEmpty());
}

TEST_F(ClassCommands, LateIsRefusedAtOnce) {
  EXPECT_THAT(call({"new", dir(), "--assignment", "fa19", "--deadline", "2001-01-01T00:00:00Z"}).complaint,
              HasSubstr("this deadline has passed"));
  const Json late = json_of({"submit", dir(), kernel(), "--wait"}, 1);
  EXPECT_EQ(late.at("submissions")[0].at("verdict"), "REFUSED");
  EXPECT_THAT(late.at("submissions")[0].at("reason").get<std::string>(), HasSubstr("late"));
}

TEST_F(ClassCommands, WaitEndsWithTheVerdict) {
  make_class();
  const pid_t child = submit_and_wait("anna");
  const classroom::Folder folder(dir());
  classroom::Store store(folder.database());
  while (store.unfinished("") == 0) ::usleep(20'000);
  judge_next(wrong());
  EXPECT_EQ(status_of(child), 1);
  const Json result = parse_json(text_of(folder_.path() / "result.json"), "result.json");
  EXPECT_EQ(result.at("submissions")[0].at("verdict"), "WRONG");
  const ProgramRun details = call({"status", dir(), "1"});
  EXPECT_EQ(details.status, 0);
  EXPECT_THAT(details.output, AllOf(HasSubstr("WRONG (verifying): 3 elements"), HasSubstr("help: look at"),
                                    HasSubstr("thread 3 did it")));
}

// A judge reports the stage "done" before its verdict is stored. A client that polls in between must keep waiting.
TEST_F(ClassCommands, WaitNeverEndsBeforeTheVerdictIsThere) {
  make_class();
  constexpr int kStudents = 6;
  std::vector<pid_t> waiting;
  for (int i = 0; i < kStudents; ++i) waiting.push_back(submit_and_wait("student " + std::to_string(i)));
  const classroom::Folder folder(dir());
  classroom::Store store(folder.database());
  while (store.unfinished("") < kStudents) ::usleep(20'000);
  store.beat("test", "");
  for (int i = 0; i < kStudents; ++i) {
    const auto lease = store.take("test", "", 10);
    ASSERT_TRUE(lease);
    store.enter(*lease, judge::Stage::done);
    ::usleep(400'000);  // longer than a client's pause
    ASSERT_TRUE(store.finish(*lease, wrong()));
  }
  for (const pid_t each : waiting) EXPECT_EQ(status_of(each), 1);
}

TEST_F(ClassCommands, ANameThatIsNewToTheClassIsTold) {
  make_class();
  EXPECT_THAT(call({"submit", dir(), kernel(), "--as", "Ada Lovelace"}).complaint,
              HasSubstr("'Ada Lovelace' is new to the class"));
  EXPECT_THAT(call({"submit", dir(), kernel(), "--as", "Ada Lovelace"}).complaint, Not(HasSubstr("is new")));
  EXPECT_THAT(call({"submit", dir(), kernel(), "--as", "\u0410da Lovelace"}).complaint,
              HasSubstr("is new to the class; did you mean 'Ada Lovelace'?"))
      << "with a Cyrillic A";
  EXPECT_THAT(call({"submit", dir(), kernel(), "--as", "Bob", "--assignment", "x"}).complaint,
              AllOf(StartsWith("convlab: error: --assignment: unknown"), Not(HasSubstr("is new"))));
  EXPECT_THAT(call({"submit", dir(), kernel(), "--as", "../x"}).complaint, Not(HasSubstr("is new")));
  EXPECT_EQ(call({"submit", dir(), kernel(), "--as", "Ada\u200b Lovelace"}).status, 2);
  EXPECT_EQ(call({"token", dir(), "Ada \u202eLovelace"}).status, 2);
}

TEST_F(ClassCommands, AFileForAnotherCourseIsTold) {
  make_class();
  EXPECT_THAT(call({"submit", dir(), kernel(), "--as", "Ada"}).complaint, Not(HasSubstr("entry points")));
  const std::string other = (source_folder() / "convlab/kernel_file/templates/minidnn.cu").string();
  EXPECT_THAT(call({"submit", dir(), other, "--as", "Ada"}).complaint,
              HasSubstr("note: minidnn.cu has the entry points of minidnn, but the starter file of fa19, "
                        "new-forward.cuh, those of mxnet; is the assignment right?"));
}

TEST_F(ClassCommands, StatusTellsOfWhatWasSetAsideAndForgetsIt) {
  make_class();
  for (int i = 0; i < 5; ++i) write_file(dir() + "/spool/junk" + std::to_string(i), "x");
  const ProgramRun status = call({"status", dir()});
  EXPECT_THAT(status.complaint,
              AllOf(HasSubstr("rejected files, which are not valid submissions: 5"), HasSubstr("--set-aside")));
  EXPECT_THAT(status.complaint, Not(HasSubstr("junk0")));
  EXPECT_THAT(call({"status", dir(), "--set-aside"}).complaint, AllOf(HasSubstr("junk0"), HasSubstr("junk4")));
  EXPECT_EQ(call({"status", dir(), "--forget-set-aside"}).status, 0);
  EXPECT_EQ(call({"status", dir()}).complaint, "");
}

TEST_F(ClassCommands, OneStudentsSubmissionsAndOneByItsReceipt) {
  make_class();
  submit("anna");
  submit("bert");
  const Json berts = json_of({"history", dir(), "--student", "bert"}).at("submissions");
  ASSERT_EQ(berts.size(), 1u);
  EXPECT_EQ(berts[0].at("number"), 2);
  const std::string receipt = berts[0].at("receipt").get<std::string>();
  EXPECT_EQ(json_of({"status", dir(), receipt}).at("submissions")[0].at("number"), 2);
  EXPECT_EQ(call({"status", dir(), std::string(32, '0')}).status, 2);
}

TEST_F(ClassCommands, UnknownStudentsAreErrorsWithTheClosestName) {
  make_class();
  EXPECT_THAT(call({"history", dir(), "--student", "anna"}).complaint, HasSubstr("the class has no students yet"));
  for (const char* student : {"anna", "bert", "clara", "dora", "emil", "fritz"}) submit(student);
  EXPECT_THAT(call({"history", dir(), "--student", "clarra"}).complaint,
              HasSubstr("unknown student 'clarra'; did you mean 'clara'?"));
  EXPECT_THAT(call({"status", dir(), "--student", "mona"}).complaint, Not(HasSubstr("did you mean")));
  EXPECT_THAT(call({"status", dir(), "--student", "somebody"}).complaint,
              HasSubstr("unknown student 'somebody'; the class has anna, bert, clara, dora, emil and 1 more"));
}

TEST_F(ClassCommands, DeletesSubmissionsAndStudents) {
  make_class();
  submit("anna");
  submit("Ada Lovelac");
  const ProgramRun deleted = call({"delete", dir(), "2"});
  EXPECT_THAT(deleted.output, HasSubstr("Deleted submission 2: new-forward.cuh by Ada Lovelac for fa19\n"));
  EXPECT_THAT(deleted.complaint, HasSubstr("Ada Lovelac has no submissions left; to delete the student, too: "
                                           "convlab class delete " +
                                           dir() + " --student 'Ada Lovelac'\n"));
  EXPECT_THAT(call({"history", dir()}).output, Not(HasSubstr("Lovelac")));
  EXPECT_THAT(call({"grade", dir()}).output, HasSubstr("Lovelac"));

  EXPECT_EQ(submit("Ada Lovelac"), 3) << "numbers are not used again";
  const Json json = json_of({"delete", dir(), "--student", "Ada Lovelac"});
  EXPECT_EQ(json.at("submissions")[0].at("number"), 3);
  EXPECT_THAT(call({"grade", dir()}).output, AllOf(HasSubstr("anna"), Not(HasSubstr("Lovelac"))));
}

TEST_F(ClassCommands, JudgesAgainWhatTheOwnerNames) {
  make_class();
  submit("anna");
  judge_next(wrong());
  EXPECT_THAT(call({"grade", dir(), "--again", "1"}).output, HasSubstr("Submissions queued to be judged again: 1"));
  EXPECT_THAT(call({"status", dir()}).output, HasSubstr("WRONG (verifying): 3 elements of y are wrong; judging again"))
      << "what counts is shown";
  judge_next(passed(0.5));
  EXPECT_EQ(json_of({"status", dir(), "1"}).at("submissions")[0].at("verdict"), "PASSED");
  EXPECT_EQ(call({"grade", dir(), "--again", "7"}).status, 2);
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
  EXPECT_THAT(call({"grade", dir(), "--regrade"}).output, HasSubstr("Submissions queued to be judged again: 3"));
  judge::Judgement timed = passed(0.3);
  timed.times = {{"n1_c1h70w70_k12r5s5", 0.003, 0.01, 0.00123}};
  judge_next(timed);
  const Json graded = json_of({"status", dir(), "1"}).at("submissions")[0];
  EXPECT_EQ(graded.at("ratio"), 0.3);
  EXPECT_EQ(graded.at("times")[0].at("bound_s"), 0.00123);
  EXPECT_THAT(
      call({"status", dir(), "1"}).output,
      AllOf(
          HasSubstr("n1_c1h70w70_k12r5s5    3.000 ms   10.00 ms   1.230 ms  41 % of the direct-convolution roofline\n"),
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
                                               {"history", dir(), "--assignment", "x"},
                                               {"delete", dir()},
                                               {"delete", dir(), "99"},
                                               {"delete", dir(), "--student", "x"},
                                               {"work", "/nowhere"},
                                               {"grade", dir(), "--csv", "/nowhere/x.csv"}}) {
    const ProgramRun run = call(each);
    EXPECT_EQ(run.status, 2) << run.output;
    EXPECT_THAT(run.complaint, StartsWith("convlab: error: "));
  }
  write_file(dir() + "/class.toml", "nonsense");
  EXPECT_THAT(call({"status", dir()}).complaint, HasSubstr("class.toml:1"));
}

// Students with their own accounts write to the spool and read their results, the queue and the ranking.
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
  std::smatch match;
  ASSERT_TRUE(std::regex_search(first.output, match,
                                std::regex("^Submission ([0-9a-f]{32}): queued, position 1 in the simt queue")))
      << first.output;
  const std::string receipt = match[1];
  EXPECT_THAT(first.complaint, HasSubstr("'convlab class status " + dir() + " " + receipt + "' shows its number"));
  EXPECT_THAT(as(kAnna, {"status", dir(), receipt}).complaint,
              HasSubstr("received; it gets its number when a worker runs"));
  EXPECT_EQ(call({"status", dir()}).status, 0);  // runs intake as the owner
  EXPECT_THAT(as(kAnna, {"status", dir(), receipt}).output, StartsWith("1: new-forward.cuh by uid 12345"));
  EXPECT_EQ(as(kBert, {"status", dir(), receipt}).status, 2) << "it is not his";
  {
    const OwnerTakesIn owner(dir());
    EXPECT_THAT(as(kBert, {"submit", dir(), kernel()}).output, StartsWith("Submission 2: queued, position"));
  }
  EXPECT_THAT(as(kBert, {"submit", dir(), kernel(), "--as", "anna"}).complaint, HasSubstr("only the class owner"));
  for (const char* command : {"grade", "work", "serve"}) {
    EXPECT_THAT(as(kBert, {command, dir()}).complaint, HasSubstr("only the class owner"));
  }
  EXPECT_THAT(as(kBert, {"token", dir(), "bert"}).complaint, HasSubstr("only the class owner"));
  judge_next(passed(0.5));
  EXPECT_THAT(as(kAnna, {"status", dir(), "1"}).output, HasSubstr("PASSED"));
  EXPECT_EQ(as(kBert, {"status", dir(), "1"}).status, 2) << "it is not his";
  EXPECT_THAT(as(kBert, {"history", dir()}).output, AllOf(HasSubstr("2  uid 12346"), Not(HasSubstr("uid 12345"))));
  EXPECT_THAT(as(kAnna, {"ranking", dir()}).output, HasSubstr("(you)"));
  EXPECT_THAT(as(kBert, {"ranking", dir()}).output, Not(HasSubstr("(you)")));
  EXPECT_THAT(as(kBert, {"submit", dir(), kernel()}).output,
              ContainsRegex("^Submission [0-9a-f]+: queued, position 2"));
  // A student who uses another account's secret finds the reason under the submission's receipt.
  const std::filesystem::path home = folder_.path() / std::to_string(kBert);
  std::filesystem::copy(folder_.path() / std::to_string(kAnna) / ".config", home / ".config",
                        std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
  for (const auto& each : std::filesystem::recursive_directory_iterator(home)) {
    ASSERT_EQ(::chown(each.path().c_str(), kBert, kBert), 0);
  }
  const OwnerTakesIn owner(dir());
  const ProgramRun aside = as(kBert, {"submit", dir(), kernel(), "--wait"});
  EXPECT_EQ(aside.status, 2);
  EXPECT_THAT(aside.complaint, HasSubstr("rejected and not kept: the secret belongs to another student"));
}

}  // namespace
}  // namespace convlab
