// Tests that deleted submissions and students leave nothing behind, and that their numbers are not used again.

#include "convlab/classroom/removal.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "convlab/classroom/class_answers.h"
#include "convlab/classroom/web/access_tokens.h"
#include "tests/classroom/class_fixture.h"
#include "tests/support/thrown_errors.h"

namespace convlab::classroom {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace fs = std::filesystem;

std::vector<Submission> remove(SomeClass& some, const std::vector<int64_t>& numbers) {
  return delete_submissions(*some.folder, some.settings, *some.store, numbers);
}

Lease leased(SomeClass& some) {
  some.store->beat("one", "");
  return some.store->take("one", "", 10).value();
}

TEST(Removal, OfASubmissionLeavesNothing) {
  SomeClass some;
  some.submit("anna");
  const int64_t number = some.submit("bert");
  some.store->finish(leased(some), {.stages = {{judge::Stage::compiling, 1, ""}}});
  some.store->finish(leased(some), {.stages = {{judge::Stage::compiling, 1, ""}}});
  const Submission bert = some.store->submissions({.number = number}).at(0);
  const fs::path file = some.folder->file(number, bert.file);
  ASSERT_TRUE(fs::exists(file));
  EXPECT_THAT(remove(some, {number, number}), SizeIs(1));
  EXPECT_FALSE(fs::exists(file.parent_path()));
  EXPECT_THAT(published_submissions(*some.folder, bert.student.secret), IsEmpty());
  EXPECT_THAT(some.store->submissions({}), SizeIs(1));
  EXPECT_EQ(some.integrity(), "ok");
}

TEST(Removal, LetsStudentsReadWhatRemains) {
  SomeClass some;
  some.submit("anna");
  some.submit("anna");
  const std::string secret = some.store->students().at(0).secret;
  remove(some, {1});
  const std::vector<Submission> published = published_submissions(*some.folder, secret);
  ASSERT_THAT(published, SizeIs(1));
  EXPECT_EQ(published[0].number, 2);
}

TEST(Removal, NumbersOfSubmissionsAndJobsAreNotUsedAgain) {
  SomeClass some;
  some.submit("anna");
  const int64_t job = leased(some).job;
  some.store->leave("one");
  remove(some, {1});
  EXPECT_EQ(published_queue(*some.folder).next_number, 2);
  EXPECT_EQ(some.submit("anna"), 2);
  const Lease next = leased(some);
  EXPECT_GT(next.job, job);
  some.store->finish(next, {});
  EXPECT_TRUE(some.store->judge_again(2));
  EXPECT_GT(leased(some).job, next.job);
}

TEST(Removal, OfAStudentTakesTheTokenAndTheName) {
  SomeClass some;
  some.submit("anna");
  some.submit("bert");
  const std::string token = make_token(*some.store, "bert");
  delete_student(*some.folder, some.settings, *some.store, "bert");
  EXPECT_FALSE(student_of_token(*some.store, token));
  EXPECT_THAT(some.store->students(), SizeIs(1));
  EXPECT_THAT(some.store->submissions({}), SizeIs(1));
  EXPECT_EQ(some.integrity(), "ok");
}

TEST(Removal, ThatIsImpossibleDeletesNothing) {
  SomeClass some;
  some.submit("anna");
  EXPECT_THAT(bad_input_message([&] { remove(some, {1, 9}); }), HasSubstr("submission 9 does not exist"));
  EXPECT_THAT(bad_input_message([&] { delete_student(*some.folder, some.settings, *some.store, "ann"); }),
              HasSubstr("did you mean 'anna'?"));
  const Lease lease = leased(some);
  EXPECT_THAT(bad_input_message([&] { remove(some, {1}); }), HasSubstr("is being judged"));
  EXPECT_THAT(some.store->submissions({}), SizeIs(1));
  EXPECT_TRUE(some.store->finish(lease, {}));
}

}  // namespace
}  // namespace convlab::classroom
