// Tests intake: moving submissions from the spool to the database, whatever else is in the spool.

#include "convlab/classroom/intake.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "convlab/base/file.h"
#include "convlab/classroom/class_answers.h"
#include "tests/classroom/class_fixture.h"
#include "tests/support/source_tree.h"
#include "tests/support/thrown_errors.h"

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

/// Makes the file another user's, as if that user had sent it. Only root can do that.
void give_to(const fs::path& file, uid_t user) { ASSERT_EQ(::lchown(file.c_str(), user, user), 0); }

/// Waits long enough that later arrivals have a later timestamp on the file system.
void tick() { ::usleep(20'000); }

TEST(Spool, ReceiptsAreDifferentAndFilesWhole) {
  SomeClass some;
  std::vector<std::thread> students;
  for (int i = 0; i < 4; ++i) {
    students.emplace_back([&] {
      for (int k = 0; k < 10; ++k) write_entry(some.folder->spool(), SomeClass::entry("anna"));
    });
  }
  for (std::thread& each : students) each.join();
  const std::vector<Arrival> arrivals = list_spool(some.folder->spool());
  ASSERT_THAT(arrivals, SizeIs(40));
  for (const Arrival& each : arrivals) {
    const std::optional<Arrival> read = read_arrival(each.path);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->entry, SomeClass::entry("anna")) << read->misfit;
    EXPECT_EQ(entry_path(some.folder->spool(), read->receipt), each.path);
  }
}

TEST(Spool, KeepsEveryByteOfASource) {
  SomeClass some;
  std::string source;
  for (int byte = 0; byte < 256; ++byte) source += static_cast<char>(byte);
  const int64_t number = some.take(write_entry(some.folder->spool(), SomeClass::entry("anna", source)));
  EXPECT_EQ(text_of(some.folder->file(number, "new-forward.cuh")), source);
}

// Writing through a memory mapping can leave the file's timestamps unchanged, so the content is checked against the
// name. A rename would set a new arrival time.
TEST(Spool, TextThatIsChangedAfterItsArrivalIsNoSubmission) {
  SomeClass some;
  const fs::path path = entry_path(some.folder->spool(), some.write("anna"));
  std::string text = text_of(path);
  text.replace(text.find("nothing"), 7, "another");
  {
    std::ofstream file(path, std::ios::in | std::ios::binary);
    file << text;
  }
  some.take_in();
  EXPECT_THAT(some.store->submissions({}), testing::IsEmpty());
  EXPECT_THAT(misfits(some), testing::ElementsAre(HasSubstr("content was changed after arrival")));
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

std::string name_like_a_receipt(int number) { return fmt::format("{:032x}.json", number); }

TEST(Intake, SetsAsideWhatIsNoSubmissionAndGoesOn) {
  SomeClass some;
  const fs::path spool = some.folder->spool();
  write_file(spool / name_like_a_receipt(1), "garbage");
  fs::create_symlink("/etc/passwd", spool / name_like_a_receipt(3));
  ASSERT_EQ(::mkfifo((spool / name_like_a_receipt(4)).c_str(), 0600), 0);
  write_file(spool / name_like_a_receipt(6), "");
  fs::resize_file(spool / name_like_a_receipt(6), 1'000'000'000);  // sparse
  write_file(spool / "99999.json", "{}");
  write_file(spool / "x\n\x1b[31m", "{}");
  SpoolEntry bad = SomeClass::entry("anna");
  bad.file = "../../class.toml";
  const std::string receipt = write_entry(spool, bad);
  write_entry(spool, SomeClass::entry("evil/name"));
  EXPECT_EQ(some.submit("anna"), 1);
  EXPECT_THAT(misfits(some),
              testing::UnorderedElementsAre(
                  HasSubstr("01.json: content was changed"), HasSubstr("03.json: not a regular file"),
                  HasSubstr("04.json: not a regular file"), HasSubstr("06.json: file has 1000000000 bytes"),
                  HasSubstr("99999.json: file name"), HasSubstr("x??[31m: file name"),
                  HasSubstr(receipt + ".json: '../../class.toml'"), HasSubstr("'evil/name'")));
  EXPECT_THAT(why_set_aside(*some.folder, receipt).value_or(""), HasSubstr("'../../class.toml'"))
      << "its sender is told";
  EXPECT_TRUE(fs::is_empty(spool)) << "nothing of it is kept";
  const size_t before = misfits(some).size();
  some.take_in();
  EXPECT_THAT(misfits(some), SizeIs(before)) << "each is told once";
  EXPECT_EQ(some.submit("anna"), 2);
  forget_set_aside(*some.folder, *some.store);
  EXPECT_THAT(misfits(some), testing::IsEmpty());
  EXPECT_FALSE(why_set_aside(*some.folder, receipt));
}

// Only root can move or remove another user's non-empty folder, so intake must work with such folders in the spool.
TEST(Intake, FoldersInTheSpoolStopNothing) {
  SomeClass some;
  for (int i = 1; i <= 1100; ++i) {
    const fs::path folder = some.folder->spool() / (i % 2 == 0 ? name_like_a_receipt(i) : std::to_string(i) + ".json");
    fs::create_directory(folder);
    if (i % 3 == 0) std::ofstream(folder / "x") << "";
  }
  EXPECT_EQ(some.submit("anna"), 1);
  EXPECT_EQ(some.submit("bert"), 2);
  EXPECT_THAT(misfits(some), testing::IsEmpty());
  EXPECT_EQ(std::distance(fs::directory_iterator(some.folder->spool()), fs::directory_iterator()), 1100 / 3)
      << "the full ones stay";
}

// Numbers are assigned at intake. Files in the spool named like the next numbers must not occupy them.
TEST(Intake, NobodyTakesAnothersNumber) {
  SomeClass some;
  for (int i = 1; i <= 100; ++i) std::ofstream(some.folder->spool() / (std::to_string(i) + ".json")) << "";
  const std::string receipt = some.write("bert");
  fs::copy_file(entry_path(some.folder->spool(), receipt), some.folder->spool() / "7.json",
                fs::copy_options::overwrite_existing);
  EXPECT_EQ(some.take(receipt), 1);
  EXPECT_THAT(some.store->submissions({}), SizeIs(1));
}

TEST(Intake, WhatAUserFloodsTheSpoolWithLeavesABoundedTrace) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a file that is another user's";
  Settings settings{.per_hour = 2};
  settings.assignments = {{.name = "fa19", .pack = "fa19", .images = 1}};
  SomeClass some(settings);
  const fs::path spool = some.folder->spool();
  constexpr uid_t kSomebody = 12345;
  for (int i = 0; i < 100; ++i) {
    write_file(spool / name_like_a_receipt(i), "x");
    give_to(spool / name_like_a_receipt(i), kSomebody);
  }
  for (int i = 0; i < 60; ++i) give_to(entry_path(spool, write_entry(spool, SomeClass::entry(""))), kSomebody);
  some.take_in();
  EXPECT_THAT(some.store->submissions({}), SizeIs(22)) << "2 that are judged, and 20 that say that they are not";
  EXPECT_EQ(some.store->unfinished(""), 2);
  EXPECT_EQ(std::distance(fs::directory_iterator(some.root() / "files"), fs::directory_iterator()), 2)
      << "of what is refused no file is kept";
  EXPECT_THAT(misfits(some), SizeIs(20));
  EXPECT_TRUE(fs::is_empty(spool));
}

TEST(Intake, OfWhoSendsMoreThanAnHourAllowsTheRestComesLast) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a file that is another user's";
  Settings settings{.per_hour = 3};
  settings.assignments = {{.name = "fa19", .pack = "fa19", .images = 1}};
  SomeClass some(settings);
  SpoolEntry flood = SomeClass::entry("");
  for (int i = 0; i < 10; ++i)
    give_to(entry_path(some.folder->spool(), write_entry(some.folder->spool(), flood)), 12345);
  tick();
  SpoolEntry honest = SomeClass::entry("");
  honest.secret = std::string(32, 'a');
  const std::string receipt = write_entry(some.folder->spool(), honest);
  give_to(entry_path(some.folder->spool(), receipt), 12346);
  EXPECT_EQ(some.take(receipt), 4);
}

TEST(Intake, LetsNobodyHandInForOthers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a file that is another user's";
  SomeClass some;
  const fs::path spool = some.folder->spool();
  constexpr uid_t kSomebody = 12345;
  give_to(entry_path(spool, some.write("anna")), kSomebody);
  SpoolEntry own = SomeClass::entry("");
  give_to(entry_path(spool, write_entry(spool, own)), kSomebody);
  tick();
  const std::string thief = write_entry(spool, own);
  give_to(entry_path(spool, thief), kSomebody + 1);
  some.take_in();
  EXPECT_THAT(misfits(some), testing::UnorderedElementsAre(HasSubstr("'as' is reserved for the class owner"),
                                                           HasSubstr("the secret belongs to another student")));
  EXPECT_THAT(why_set_aside(*some.folder, thief).value_or(""), HasSubstr("the secret belongs to another student"));
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
  const int64_t number = some.take(write_entry(some.folder->spool(), late));
  const auto judgement = [&](int64_t of) { return some.store->submissions({.number = of}).at(0).judgement; };
  ASSERT_TRUE(judgement(number));
  EXPECT_EQ(judgement(number)->verdict, judge::Verdict::refused);
  EXPECT_THAT(judgement(number)->reason, AllOf(HasSubstr("late"), HasSubstr("2001-09-09T01:46:40Z")));
  EXPECT_FALSE(fs::exists(some.folder->file(number, "new-forward.cuh")));
  EXPECT_FALSE(judgement(some.submit("anna")));
  EXPECT_FALSE(judgement(some.submit("anna")));
  const int64_t third = some.submit("anna");
  EXPECT_THAT(judgement(third)->reason, HasSubstr("too many submissions"));
  EXPECT_FALSE(judgement(some.submit("bert")));
  EXPECT_EQ(some.store->unfinished(""), 3);
}

// The time of arrival decides, not the time of intake.
TEST(Intake, AcceptsWhatArrivedInTimeHoweverLateItIsTakenIn) {
  SomeClass some;
  const std::string receipt = some.write("anna");
  ::usleep(300'000);
  some.settings.assignments[0].deadline_s = list_spool(some.folder->spool()).at(0).arrived_s + 0.2;
  EXPECT_FALSE(some.store->submissions({.number = some.take(receipt)}).at(0).judgement);
  EXPECT_TRUE(some.store->submissions({.number = some.submit("anna")}).at(0).judgement) << "this one is late";
}

TEST(Store, ThatIsDamagedOrNewerIsAnError) {
  SomeClass some;
  some.store->database().script("PRAGMA user_version = 99");
  EXPECT_THAT(bad_input_message([&] { Store{some.folder->database()}; }), HasSubstr("created by a newer convlab"));
  const fs::path garbage = some.root() / "garbage.db";
  write_file(garbage, std::string(8192, 'x'));
  EXPECT_THAT(bad_input_message([&] { Store{garbage}; }), AllOf(HasSubstr("garbage.db"), HasSubstr("is damaged")));
}

TEST(Store, OnAFullDiskSaysSoAndLosesNothing) {
  SomeClass some;
  some.submit("anna");
  some.store->database().script("PRAGMA max_page_count = 1");  // SQLite then reports a full disk
  SpoolEntry large = SomeClass::entry("bert");
  const std::string receipt = write_entry(some.folder->spool(), large);
  std::string message;
  for (int i = 0; i < 100 && message.empty(); ++i) {
    try {
      some.store->add_misfit({.name = std::string(4000, 'x'), .reason = "filling the disk"});
    } catch (const Error& error) {
      message = error.what();
    }
  }
  EXPECT_THAT(message, HasSubstr("the disk is full"));
  some.store->database().script("PRAGMA max_page_count = 1000000");
  EXPECT_EQ(some.take(receipt), 2);
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
  EXPECT_TRUE(store.judge_again(number));
  EXPECT_FALSE(store.judge_again(number)) << "one waits";
  EXPECT_EQ(store.unfinished(""), 1);
  EXPECT_EQ(store.submissions({}).at(0).judgement->ratio->median, 0.5) << "until there is another";
  store.finish(*store.take("one", "", 10), {.ratio = judge::Ratio{0.3, 0.2, 0.4, 9}});
  EXPECT_EQ(store.submissions({}).at(0).judgement->ratio->median, 0.3);
  EXPECT_FALSE(store.take("one", "", 10));
}

}  // namespace
}  // namespace convlab::classroom
