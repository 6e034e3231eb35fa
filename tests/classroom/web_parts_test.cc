// Tests what the class's web page is made of: hashes, plots, the length of a request, and access to the database.

#include <gmock/gmock.h>

#include "convlab/classroom/bounds.h"
#include "convlab/classroom/sha256.h"
#include "convlab/classroom/web/access_tokens.h"
#include "convlab/classroom/web/connections.h"
#include "convlab/classroom/web/history_plot.h"
#include "tests/classroom/class_fixture.h"
#include "tests/support/thrown_errors.h"

namespace convlab::classroom {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

TEST(Sha256, IsThatOfTheStandardsExample) {
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Bounds, TakeFoldersOutOfReasons) {
  EXPECT_EQ(without_folders("'/srv/my-class/jobs/1-3/judgement.json': 1/2 // x, (/tmp/a.cu:3) /usr/bin/ a /b"),
            "'judgement.json': 1/2 // x, (a.cu:3) /usr/bin/ a b");
}

TEST(Store, ForReadingTakesNoLock) {
  SomeClass some;
  some.submit("anna");
  Transaction writing(some.store->database());
  Store reading(some.folder->database(), Access::read_only);
  EXPECT_THAT(reading.submissions({}), SizeIs(1));
  EXPECT_THROW(reading.student("bert"), Error);
}

TEST(Store, OfTheFirstVersionGetsWhatItLacks) {
  SomeClass some;
  some.store->database().script(
      "DROP TABLE deleted; DROP TABLE tokens; DROP INDEX submissions_by_receipt; ALTER TABLE submissions DROP COLUMN "
      "receipt;"
      "ALTER TABLE jobs DROP COLUMN complaint; PRAGMA user_version = 1");
  EXPECT_THAT(bad_input_message([&] { Store(some.folder->database(), Access::read_only); }),
              HasSubstr("database version is 1"));
  Store store(some.folder->database());
  EXPECT_TRUE(student_of_token(store, make_token(store, "anna")));
  some.take_in();
  EXPECT_EQ(some.submit("anna"), 1);
}

TEST(Connections, KnowHowLongARequestIs) {
  EXPECT_EQ(request_bytes("GET / HTTP/1.1\r\nHost: x\r\n"), 0);
  const std::string get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  EXPECT_EQ(request_bytes(get), get.size());
  const std::string post = "POST / HTTP/1.1\r\ncontent-length: 12\r\n\r\n";
  EXPECT_EQ(request_bytes(post), post.size() + 12);
  for (const char* length : {"-1", "x", "", "99999999999999999999", "1200000"}) {
    const std::string bad = "POST / HTTP/1.1\r\nContent-Length: " + std::string(length) + "\r\n\r\n";
    EXPECT_EQ(request_bytes(bad), bad.size()) << length;
  }
  EXPECT_EQ(request_bytes(std::string(70'000, 'x')), 70'000) << "headers without an end";
}

TEST(HistoryPlot, MarksWhatPassedAndWhatDidNot) {
  const std::string svg = history_plot(
      {{.number = 3, .verdict = "WRONG"}, {.number = 4, .verdict = "PASSED", .value = 0.5, .low = 0.4, .high = 0.6}},
      {"Time", 1});
  EXPECT_THAT(svg, AllOf(HasSubstr("submission 3: WRONG"), HasSubstr("submission 4: PASSED, 0.5"),
                         HasSubstr("class=\"reference\""), HasSubstr("submission 3</text>")));
  EXPECT_EQ(history_plot({{.number = 3, .verdict = "WRONG"}}, {"Sectors", std::nullopt}), "") << "there is no figure";
  const std::vector<HistoryPoint> many(500, {.verdict = "PASSED", .value = 1, .low = 1, .high = 1});
  EXPECT_LT(history_plot(many, {"Time", 1}).size(), 20'000u);
}

}  // namespace
}  // namespace convlab::classroom
