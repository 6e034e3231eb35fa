// From the spool into the database, whatever lies in the spool.

#include "convlab/classroom/intake.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "convlab/base/file.h"
#include "convlab/classroom/answers.h"
#include "tests/classroom/class_fixture.h"
#include "tests/errors.h"
#include "tests/source_tree.h"

namespace convlab::classroom {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Property;
using testing::SizeIs;

namespace fs = std::filesystem;

std::vector<std::string> misfits(SomeClass& some) {
  std::vector<std::string> all;
  for (const Misfit& each : some.store->misfits()) all.push_back(each.name + ": " + each.reason);
  return all;
}

TEST(Spool, NumbersAreDifferentAndFilesWhole) {
  SomeClass some;
  std::vector<std::thread> students;
  for (int i = 0; i < 4; ++i) {
    students.emplace_back([&] {
      for (int k = 0; k < 10; ++k) write_entry(some.folder->spool(), SomeClass::entry("anna"), 1);
    });
  }
  for (std::thread& each : students) each.join();
  const auto none = [](int64_t) { return false; };
  const std::vector<Arrival> arrivals = read_spool(some.folder->spool(), 1, none);
  ASSERT_THAT(arrivals, SizeIs(40));
  for (size_t i = 0; i < arrivals.size(); ++i) {
    EXPECT_EQ(arrivals[i].number, static_cast<int64_t>(i) + 1);
    EXPECT_EQ(arrivals[i].entry, SomeClass::entry("anna")) << arrivals[i].misfit;
  }
}

TEST(Spool, KeepsEveryByteOfASource) {
  SomeClass some;
  std::string source;
  for (int byte = 0; byte < 256; ++byte) source += static_cast<char>(byte);
  const int64_t number = write_entry(some.folder->spool(), SomeClass::entry("anna", source), 1);
  some.take_in();
  EXPECT_EQ(text_of(some.folder->file(number, "new-forward.cuh")), source);
}

TEST(Intake, GivesASubmissionToItsStudent) {
  SomeClass some;
  EXPECT_EQ(some.submit("anna"), 1);
  EXPECT_EQ(some.submit("b\u00f6rje =1+1"), 2);
  const std::vector<Submission> all = some.store->submissions({});
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].student.name, "anna");
  EXPECT_EQ(all[0].stage, judge::Stage::queued);
  const std::vector<Submission> published = published_submissions(*some.folder, all[0].student.secret);
  ASSERT_THAT(published, SizeIs(1));
  EXPECT_EQ(published[0].number, 1);
  const QueueState queue = published_queue(*some.folder);
  EXPECT_EQ(queue.next_number, 3);
  EXPECT_THAT(queue.waiting, SizeIs(2));
  EXPECT_EQ(some.integrity(), "ok");
}

TEST(Intake, TakesEachOnceHoweverManyLook) {
  SomeClass some;
  for (int i = 0; i < 20; ++i) some.write("anna");
  std::vector<std::thread> owners;
  for (int i = 0; i < 3; ++i) {
    owners.emplace_back([&] {
      Store store(some.folder->database());
      take_in(*some.folder, some.settings, store);
    });
  }
  for (std::thread& each : owners) each.join();
  EXPECT_THAT(some.store->submissions({}), SizeIs(20));
  EXPECT_THAT(misfits(some), testing::IsEmpty());
  EXPECT_EQ(some.integrity(), "ok");
}

TEST(Intake, SetsAsideWhatIsNoSubmissionAndGoesOn) {
  SomeClass some;
  const fs::path spool = some.folder->spool();
  write_file(spool / "1.json", "garbage");
  write_file(spool / "2.json", "{\"assignment\": 3}");
  fs::create_symlink("/etc/passwd", spool / "3.json");
  ASSERT_EQ(::mkfifo((spool / "4.json").c_str(), 0600), 0);
  fs::create_directory(spool / "5.json");
  write_file(spool / "5.json/x", "");
  write_file(spool / "6.json", "");
  fs::resize_file(spool / "6.json", 1'000'000'000);  // sparse
  write_file(spool / "7.json", std::string(1 << 20, '['));
  write_file(spool / "99999.json", "{}");
  write_file(spool / "0008.json", "{}");
  write_file(spool / "x\n\x1b[31m", "{}");
  SpoolEntry bad = SomeClass::entry("anna");
  bad.file = "../../class.toml";
  write_entry(spool, bad, 9);
  bad = SomeClass::entry("evil/name");
  write_entry(spool, bad, 10);
  const int64_t good = write_entry(spool, SomeClass::entry("anna"), 11);
  some.take_in();
  EXPECT_THAT(misfits(some),
              AllOf(Contains(HasSubstr("1.json: ")), Contains(HasSubstr("3.json: it is a link, a folder or a pipe")),
                    Contains(HasSubstr("4.json: it is a link")), Contains(HasSubstr("5.json: it is a link")),
                    Contains(HasSubstr("6.json: it has 1000000000 bytes")), Contains(HasSubstr("7.json: ")),
                    Contains(HasSubstr("99999.json: its number was not free")),
                    Contains(HasSubstr("0008.json: its name")), Contains(HasSubstr("x??[31m: its name")),
                    Contains(HasSubstr("9.json: '../../class.toml'")), Contains(HasSubstr("10.json: 'evil/name'"))));
  EXPECT_THAT(some.store->submissions({}), SizeIs(1));
  EXPECT_EQ(some.store->submissions({})[0].number, good);
  const size_t before = misfits(some).size();
  some.take_in();
  EXPECT_THAT(misfits(some), SizeIs(before)) << "each is told once";
  EXPECT_EQ(some.submit("anna"), good + 1);
}

TEST(Intake, LetsNobodyHandInForOthers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a file that is another user's";
  SomeClass some;
  const int64_t number = some.write("anna");
  constexpr uid_t kSomebody = 12345;
  ASSERT_EQ(::chown((some.folder->spool() / (std::to_string(number) + ".json")).c_str(), kSomebody, kSomebody), 0);
  SpoolEntry own = SomeClass::entry("");
  const int64_t honest = write_entry(some.folder->spool(), own, number + 1);
  ASSERT_EQ(::chown((some.folder->spool() / (std::to_string(honest) + ".json")).c_str(), kSomebody, kSomebody), 0);
  const int64_t thief = write_entry(some.folder->spool(), own, number + 2);
  ASSERT_EQ(::chown((some.folder->spool() / (std::to_string(thief) + ".json")).c_str(), kSomebody + 1, kSomebody), 0);
  some.take_in();
  EXPECT_THAT(misfits(some), testing::UnorderedElementsAre(HasSubstr("'as' is for the class's owner"),
                                                           HasSubstr("its secret is another student's")));
  ASSERT_THAT(some.store->submissions({}), SizeIs(1));
  EXPECT_EQ(some.store->submissions({})[0].student.name, "uid 12345");
}

TEST(Intake, RefusesWhatIsLateOrTooOften) {
  Settings settings{.per_hour = 2};
  settings.assignments = {{.name = "fa19", .pack = "fa19", .images = 1},
                          {.name = "past", .pack = "fa17", .deadline_s = 1e9, .images = 1}};
  SomeClass some(settings);
  SpoolEntry late = SomeClass::entry("anna");
  late.assignment = "past";
  const int64_t number = write_entry(some.folder->spool(), late, 1);
  some.take_in();
  const auto judgement = [&](int64_t of) { return some.store->submissions({.number = of}).at(0).judgement; };
  ASSERT_TRUE(judgement(number));
  EXPECT_EQ(judgement(number)->verdict, judge::Verdict::refused);
  EXPECT_THAT(judgement(number)->reason, AllOf(HasSubstr("late"), HasSubstr("2001-09-09T01:46:40Z")));
  EXPECT_FALSE(judgement(some.submit("anna")));
  EXPECT_FALSE(judgement(some.submit("anna")));
  const int64_t third = some.submit("anna");
  EXPECT_THAT(judgement(third)->reason, HasSubstr("too often"));
  EXPECT_FALSE(judgement(some.submit("bert")));
  EXPECT_EQ(some.store->unfinished(""), 3);
}

// What counts is when it arrived.
TEST(Intake, AcceptsWhatArrivedInTimeHoweverLateItIsTakenIn) {
  SomeClass some;
  const int64_t number = some.write("anna");
  ::usleep(1'100'000);
  some.settings.assignments[0].deadline_s =
      read_spool(some.folder->spool(), 1, [](int64_t) { return false; }).at(0).arrived_s + 0.5;
  some.take_in();
  EXPECT_FALSE(some.store->submissions({.number = number}).at(0).judgement);
  EXPECT_TRUE(some.store->submissions({.number = some.submit("anna")}).at(0).judgement) << "this one is late";
}

TEST(Store, ThatIsDamagedOrNewerIsAnError) {
  SomeClass some;
  some.store->database().script("PRAGMA user_version = 99");
  EXPECT_THAT(bad_input_message([&] { Store{some.folder->database()}; }), HasSubstr("a newer convlab made it"));
  const fs::path garbage = some.root() / "garbage.db";
  write_file(garbage, std::string(8192, 'x'));
  EXPECT_THAT(bad_input_message([&] { Store{garbage}; }), AllOf(HasSubstr("garbage.db"), HasSubstr("is damaged")));
}

TEST(Store, OnAFullDiskSaysSoAndLosesNothing) {
  SomeClass some;
  some.submit("anna");
  some.store->database().script("PRAGMA max_page_count = 1");  // SQLite then says what it says of a full disk
  SpoolEntry large = SomeClass::entry("bert");
  const int64_t number = write_entry(some.folder->spool(), large, 2);
  std::string message;
  for (int i = 0; i < 100 && message.empty(); ++i) {
    try {
      some.store->add_misfit(0, {.name = std::string(4000, 'x'), .reason = "filling the disk"});
    } catch (const Error& error) {
      message = error.what();
    }
  }
  EXPECT_THAT(message, HasSubstr("the disk is full"));
  some.store->database().script("PRAGMA max_page_count = 1000000");
  some.take_in();
  EXPECT_THAT(some.store->submissions({.number = number}), SizeIs(1));
  EXPECT_EQ(some.integrity(), "ok");
}

TEST(Leases, OfWorkersThatAreNotHeardOfEndAndTheJobBeginsAgain) {
  SomeClass some;
  some.submit("anna");
  Store& store = *some.store;
  store.beat("one", "");
  const auto first = store.take("one", "", 10);
  ASSERT_TRUE(first);
  EXPECT_FALSE(store.take("one", "", 10)) << "it is taken";
  store.end_leases(10);
  EXPECT_TRUE(store.holds(*first));
  store.end_leases(0);
  EXPECT_FALSE(store.holds(*first));
  store.beat("two", "");
  const auto second = store.take("two", "", 10);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->attempt, 2);
  EXPECT_FALSE(store.finish(*first, {.verdict = judge::Verdict::wrong})) << "it comes too late";
  EXPECT_TRUE(store.finish(*second, {.verdict = judge::Verdict::passed, .stages = {{judge::Stage::compiling, 2, ""}}}));
  EXPECT_FALSE(store.finish(*second, {.verdict = judge::Verdict::wrong})) << "there is one verdict";
  EXPECT_EQ(store.submissions({}).at(0).judgement->verdict, judge::Verdict::passed);
  EXPECT_EQ(some.integrity(), "ok");
}

TEST(Leases, ADeviceWithAClockTakesOneJobAtATime) {
  Settings settings;
  settings.assignments = {{.name = "fa19", .pack = "fa19", .device = "cuda", .images = 1}};
  SomeClass some(settings);
  some.submit("anna");
  some.submit("bert");
  Store& store = *some.store;
  for (const char* worker : {"one", "two", "three"}) store.beat(worker, "cuda:0");
  EXPECT_TRUE(store.take("one", "cuda:0", 10));
  EXPECT_FALSE(store.take("two", "cuda:0", 10));
  EXPECT_FALSE(store.take("two", "simt", 10));
  EXPECT_TRUE(store.take("three", "cuda:1", 10));
}

TEST(Store, GradesASubmissionAgain) {
  SomeClass some;
  Store& store = *some.store;
  const int64_t number = some.submit("anna");
  store.beat("one", "");
  store.finish(*store.take("one", "", 10), {.ratio = judge::Ratio{0.5, 0.4, 0.6, 9}});
  store.grade_again(number);
  store.grade_again(number);
  EXPECT_EQ(store.unfinished(""), 1);
  EXPECT_EQ(store.submissions({}).at(0).judgement->ratio->median, 0.5) << "until there is another";
  store.finish(*store.take("one", "", 10), {.ratio = judge::Ratio{0.3, 0.2, 0.4, 9}});
  EXPECT_EQ(store.submissions({}).at(0).judgement->ratio->median, 0.3);
  EXPECT_FALSE(store.take("one", "", 10));
}

}  // namespace
}  // namespace convlab::classroom
