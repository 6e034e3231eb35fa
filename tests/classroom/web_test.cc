// Tests the class's web page without a network: the reply to each request.

#include <gmock/gmock.h>

#include <atomic>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <thread>

#include "convlab/base/file.h"
#include "convlab/base/json.h"
#include "convlab/classroom/class_answers.h"
#include "convlab/classroom/standings.h"
#include "convlab/classroom/web/access_tokens.h"
#include "convlab/classroom/web/class_site.h"
#include "convlab/classroom/web/submission_page.h"
#include "tests/classroom/class_fixture.h"
#include "tests/support/source_tree.h"
#include "tests/support/thrown_errors.h"

namespace convlab::classroom {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

namespace fs = std::filesystem;
using Fields = std::map<std::string, std::string>;

/// Keeps cookies and the form token of the last page, as a browser does.
class Browser {
 public:
  explicit Browser(const Site& site) : site_(site) {}

  Reply get(const std::string& path) { return ask({.method = "GET", .path = path}); }

  /// Sends the last page's form token, which protects against cross-site request forgery.
  Reply post(const std::string& path, Fields fields, const std::string& file_name = "", const std::string& file = "") {
    fields.emplace("form", form_);
    return ask({.method = "POST", .path = path, .fields = std::move(fields), .file_name = file_name, .file = file});
  }

  Reply enter(const std::string& token) {
    get("/enter");
    const Reply reply = post("/enter", {{"token", token}});
    if (reply.status == 303) get("/own");
    return reply;
  }

  Reply hand_in(const std::string& file_name = "new-forward.cuh", const std::string& file = "// nothing") {
    return post("/submit", {{"assignment", "fa19"}}, file_name, file);
  }

  Reply ask(Visit visit) {
    for (const auto& [name, value] : cookies_) visit.cookies += name + "=" + value + "; ";
    Reply reply = site_.reply(visit);
    for (auto [each, end] = reply.headers.equal_range("Set-Cookie"); each != end; ++each) {
      const std::string& text = each->second;
      EXPECT_THAT(text, AllOf(HasSubstr("; HttpOnly"), HasSubstr("; SameSite=Strict")));
      const size_t equals = text.find('=');
      cookies_[text.substr(0, equals)] = text.substr(equals + 1, text.find(';') - equals - 1);
    }
    static const std::regex kForm("name=\"form\" value=\"([0-9a-f]*)\"");
    std::smatch match;
    if (std::regex_search(reply.body, match, kForm)) form_ = match[1];
    return reply;
  }

  std::map<std::string, std::string>& cookies() { return cookies_; }

 private:
  const Site& site_;
  std::map<std::string, std::string> cookies_;
  std::string form_;
};

/// Makes intake fail for the lifetime of the object.
class BrokenIntake {
 public:
  explicit BrokenIntake(const SomeClass& some) : files_(some.root() / "files"), away_(some.root() / "away") {
    fs::rename(files_, away_);
    write_file(files_, "in the way");
  }
  ~BrokenIntake() {
    fs::remove(files_);
    fs::rename(away_, files_);
  }
  BrokenIntake(const BrokenIntake&) = delete;
  BrokenIntake& operator=(const BrokenIntake&) = delete;

 private:
  fs::path files_, away_;
};

class ClassPage : public testing::Test {
 protected:
  explicit ClassPage(Settings settings = {}) : some_(std::move(settings)) {}

  std::string token_of(const std::string& student) { return make_token(*some_.store, student); }

  /// Returns a browser that is logged in.
  Browser browser_of(const std::string& student) {
    Browser browser(site_);
    EXPECT_EQ(browser.enter(token_of(student)).status, 303);
    return browser;
  }

  void judge_next(const judge::Judgement& judgement) {
    some_.store->beat("w", "");
    const std::optional<Lease> lease = some_.store->take("w", "", 10);
    ASSERT_TRUE(lease);
    EXPECT_TRUE(some_.store->finish(*lease, judgement));
    publish(*some_.folder, some_.settings, *some_.store, {lease->submission.student.id});
    publish_rankings(*some_.folder, some_.settings, *some_.store);
  }

  SomeClass some_;
  std::vector<std::string> log_lines_;
  const Site site_{*some_.folder, [this](const std::string& line) { log_lines_.push_back(line); }};
};

class ClassPageWithNames : public ClassPage {
 protected:
  ClassPageWithNames() : ClassPage(Settings{.aliases = false}) {}
};

judge::Judgement passed() { return {.verdict = judge::Verdict::passed, .ratio = judge::Ratio{0.5, 0.49, 0.51, 20}}; }

TEST_F(ClassPage, ShowsEachLayersTimeBesideTheReferenceAndTheBound) {
  Browser anna = browser_of("anna");
  anna.hand_in();
  judge::Judgement judgement = passed();
  judgement.times = {{"n2_c1h70w70_k12r5s5", 0.002, 0.004, 0.00082}, {"<b>&\"'", 0.001, 0.001, 0.00123}};
  judge_next(judgement);
  const std::string body = anna.get("/submission/1").body;
  EXPECT_THAT(body, AllOf(HasSubstr("n2_c1h70w70_k12r5s5"), HasSubstr("4.000 ms"), HasSubstr("2.000 ms"),
                          HasSubstr("820.0 µs"), HasSubstr("41 % of the direct-convolution roofline"),
                          HasSubstr("123 % of the direct-convolution roofline"), HasSubstr("<rect class=\"bound\""),
                          HasSubstr("&lt;b&gt;"), Not(HasSubstr("<b>"))));
  EXPECT_THAT(body, HasSubstr("<rect class=\"reference\" x=\"80\" y=\"2\" width=\"200.0\""));
  EXPECT_THAT(body, HasSubstr("<rect class=\"this\" x=\"80\" y=\"22\" width=\"100.0\""));
  EXPECT_THAT(body, HasSubstr("<rect class=\"bound\" x=\"80\" y=\"42\" width=\"41.0\""));
}

TEST_F(ClassPage, TokensAreKeptAsHashesReplacedAndRevoked) {
  const std::string first = token_of("anna");
  EXPECT_EQ(student_of_token(*some_.store, first)->name, "anna");
  const std::vector<uint8_t> bytes = read_file(some_.folder->database());
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()).find(first), std::string::npos);
  const std::string second = token_of("anna");
  EXPECT_FALSE(student_of_token(*some_.store, first));
  EXPECT_TRUE(student_of_token(*some_.store, second));
  EXPECT_THAT(token_holders(*some_.store), SizeIs(1));
  EXPECT_TRUE(revoke_token(*some_.store, "anna"));
  EXPECT_FALSE(student_of_token(*some_.store, second));
  EXPECT_FALSE(revoke_token(*some_.store, "anna"));
  EXPECT_THROW(token_of("../anna"), Error);
}

TEST_F(ClassPage, HandInAndSeeWhatBecomesOfIt) {
  Browser anna = browser_of("anna");
  const Reply sent = anna.hand_in();
  ASSERT_EQ(sent.status, 303) << sent.body;
  EXPECT_EQ(sent.headers.find("Location")->second, "/submission/1");
  const Submission submission = some_.store->submissions({.number = 1}).at(0);
  EXPECT_EQ(submission.student.name, "anna");
  EXPECT_EQ(submission.file, "new-forward.cuh");
  EXPECT_THAT(anna.get("/submission/1").body, AllOf(HasSubstr("http-equiv=\"refresh\""), HasSubstr("position 1")));
  judge_next({.verdict = judge::Verdict::wrong,
              .failed_at = judge::Stage::verifying,
              .reason = "3 elements of y are wrong",
              .what_to_do = "look at the last column",
              .stages = {{judge::Stage::compiling, 2, ""}, {judge::Stage::verifying, 1, "thread 3 did it"}}});
  EXPECT_THAT(anna.get("/submission/1").body,
              AllOf(Not(HasSubstr("http-equiv=\"refresh\"")), HasSubstr("WRONG"), HasSubstr("3 elements of y"),
                    HasSubstr("What to do: look at"), HasSubstr("thread 3 did it"), HasSubstr("class=\"failed\"")));
  anna.hand_in();
  judge_next(passed());
  EXPECT_THAT(anna.get("/submission/2").body, AllOf(HasSubstr("PASSED"), HasSubstr("0.5000x the reference")));
  EXPECT_THAT(anna.get("/own").body, AllOf(HasSubstr("<svg"), HasSubstr("href=\"/submission/1\"")));
  Browser bert = browser_of("bert");
  EXPECT_EQ(bert.get("/submission/2").status, 404) << "it is not his";
  EXPECT_EQ(Browser(site_).get("/submission/2").status, 303);
  EXPECT_EQ(anna.post("/leave", {}).status, 303);
  EXPECT_EQ(anna.get("/own").status, 303);
}

TEST_F(ClassPage, BoardsHaveMadeUpNames) {
  const int64_t student = some_.store->student("anna").id;
  some_.submit("anna");
  judge_next(passed());
  const std::string board = Browser(site_).get("/board/fa19").body;
  EXPECT_THAT(board, AllOf(HasSubstr(alias_of(*some_.folder, student)), Not(HasSubstr("anna"))));
  Browser anna = browser_of("anna");
  EXPECT_THAT(anna.get("/board/fa19").body, HasSubstr("<small>(you)</small>"));
  Browser bert = browser_of("bert");
  EXPECT_THAT(bert.get("/board/fa19").body, AllOf(Not(HasSubstr("<small>(you)</small>")), Not(HasSubstr("anna"))));
}

// Student numbers follow the roster, so showing one next to an alias would reveal the student.
TEST_F(ClassPage, WhatAllMayReadNamesNoStudentByNumber) {
  for (const char* student : {"anna", "bert", "clara"}) some_.store->student(student);
  for (const char* student : {"clara", "bert", "clara"}) some_.submit(student);
  const std::string queue = text_of(some_.folder->queue());
  EXPECT_THAT(queue, AllOf(HasSubstr("\"submission\":1,\"student\":1,"), HasSubstr("\"submission\":2,\"student\":2,"),
                           HasSubstr("\"submission\":3,\"student\":1,")))
      << "by their order in the queue";
  judge_next(passed());
  EXPECT_THAT(text_of(some_.folder->rankings()), AllOf(HasSubstr("\"name\""), Not(HasSubstr("student"))));
}

TEST_F(ClassPageWithNames, ShowsThemToStudentsAlone) {
  some_.submit("anna");
  judge_next(passed());
  EXPECT_EQ(Browser(site_).get("/board/fa19").status, 303);
  EXPECT_THAT(Browser(site_).get("/").body, Not(HasSubstr("anna")));
  Browser bert = browser_of("bert");
  EXPECT_THAT(bert.get("/board/fa19").body, HasSubstr("anna"));
  std::string text = settings_text(some_.settings);
  text.replace(text.find("aliases = false"), 15, "aliases = true");
  write_file(some_.folder->settings(), text);
  EXPECT_THAT(bert.get("/board/fa19").body, AllOf(HasSubstr("fp32"), Not(HasSubstr("anna")))) << "at once";
}

TEST_F(ClassPageWithNames, EscapesWhateverSomebodyElseWrote) {
  const std::string hostile = "<img src=x onerror=alert(1)>'\"&";
  const std::string settings = "name = '<script>x<@>\"&'\n";
  std::vector<uint8_t> bytes = read_file(some_.folder->settings());
  std::string text(bytes.begin(), bytes.end());
  text.replace(text.find("name = "), text.find('\n', text.find("name = ")) - text.find("name = ") + 1, settings);
  write_file(some_.folder->settings(), text);
  Browser browser = browser_of(hostile);
  browser.hand_in();
  judge_next({.verdict = judge::Verdict::passed,
              .reason = hostile,
              .what_to_do = hostile,
              .counters = {{.layer = hostile, .kernel = hostile, .launches = 1, .global_sectors = 5}},
              .stages = {{judge::Stage::compiling, 2, "</pre><script>" + hostile}}});
  for (const char* path : {"/", "/board/fa19", "/own", "/submission/1", "/<img src=x>", "/enter"}) {
    const std::string page = browser.get(path).body;
    EXPECT_THAT(page, AllOf(Not(HasSubstr("<img")), Not(HasSubstr("<script")), HasSubstr("&lt;script&gt;x"))) << path;
  }
  EXPECT_THAT(browser.get("/board/fa19").body, HasSubstr("&lt;img src=x onerror=alert(1)&gt;&#39;&quot;&amp;"));
}

// A submission's own process writes counters and logs, so pages must stay short whatever it writes.
TEST_F(ClassPage, PagesAreShortWhateverAJudgementHolds) {
  Browser anna = browser_of("anna");
  judge::Judgement judgement{.verdict = judge::Verdict::passed, .reason = std::string(1 << 20, '\'')};
  judgement.counters.resize(
      60'000,
      {.layer = std::string(1000, '"'), .kernel = std::string(1000, '<'), .global_sectors = 9'000'000'000'000'000'000});
  judgement.times.resize(1000, {.layer = std::string(1000, '"'), .seconds = 1, .reference_s = 1, .bound_s = 1});
  judgement.stages.resize(20, {judge::Stage::verifying, 1, std::string(1 << 18, '"')});
  constexpr size_t kMostPage = 1 << 20, kMostKept = 2 << 20;
  EXPECT_LT(submission_page({}, {.judgement = judgement}, {}, true).size(), kMostPage);
  anna.hand_in();
  judge_next(judgement);
  for (const char* path : {"/submission/1", "/own", "/board/fa19"}) EXPECT_LT(anna.get(path).body.size(), kMostPage);
  EXPECT_THAT(anna.get("/board/fa19").body, AllOf(HasSubstr("MB of global memory traffic"), Not(HasSubstr("-1"))));
  const Submission kept = some_.store->submissions({}).at(0);
  EXPECT_LT(json_text(judge::to_json(*kept.judgement), -1).size(), kMostKept);
  EXPECT_LT(fs::file_size(some_.folder->answer(kept.student.secret)), kMostKept);
}

TEST_F(ClassPage, WhatACompilerSaysStandsInAFixedWidth) {
  Browser anna = browser_of("anna");
  anna.hand_in();
  judge_next(
      {.verdict = judge::Verdict::not_compiled, .failed_at = judge::Stage::compiling, .reason = "a.cu:1:2: x\n ^"});
  EXPECT_THAT(anna.get("/submission/1").body, HasSubstr("<pre class=\"code\">a.cu:1:2: x\n ^</pre>"));
}

TEST_F(ClassPage, TellsWhetherAnybodyJudges) {
  Browser anna = browser_of("anna");
  anna.hand_in();
  EXPECT_THAT(anna.get("/submission/1").body, HasSubstr("no worker is running"));
  some_.store->beat("w", "simt");
  EXPECT_THAT(anna.get("/submission/1").body, Not(HasSubstr("no worker is running")));
}

TEST_F(ClassPage, KeepsTheVerdictThatCountsWhileItIsJudgedAgain) {
  Browser anna = browser_of("anna");
  anna.hand_in();
  judge_next(passed());
  some_.store->judge_again(1);
  EXPECT_THAT(anna.get("/submission/1").body, AllOf(HasSubstr("PASSED"), HasSubstr("being judged again")));
  EXPECT_THAT(anna.get("/own").body, HasSubstr("PASSED"));
}

TEST_F(ClassPage, FormsOfOtherSitesAreRefused) {
  const std::string token = token_of("anna");
  Browser anna(site_);
  ASSERT_EQ(anna.enter(token).status, 303);
  Browser other(site_);
  const std::string foreign = other.get("/enter").body;
  const auto refused = [&](const Fields& fields) {
    Visit visit{.method = "POST", .path = "/submit", .fields = fields, .file_name = "a.cu", .file = "x"};
    const Reply reply = anna.ask(visit);
    EXPECT_THAT(reply.body, HasSubstr("not sent from a page of this class"));
    return reply.status;
  };
  EXPECT_EQ(refused({{"assignment", "fa19"}}), 403);
  EXPECT_EQ(refused({{"assignment", "fa19"}, {"form", ""}}), 403);
  EXPECT_EQ(refused({{"assignment", "fa19"}, {"form", std::string(64, '0')}}), 403);
  EXPECT_EQ(refused({{"assignment", "fa19"}, {"form", form_value(std::string(32, '0'), token)}}), 403);
  for (const char* path : {"/enter", "/leave"}) {
    EXPECT_EQ(anna.ask({.method = "POST", .path = path, .fields = {{"token", token}}}).status, 403);
  }
  // Without cookies the server cannot recognize the visitor, whatever the form contains.
  anna.get("/own");
  anna.cookies().erase(kVisitorCookie);
  EXPECT_EQ(anna.hand_in().status, 403);
  EXPECT_THAT(some_.store->submissions({}), IsEmpty());
  EXPECT_EQ(anna.get("/leave").status, 404) << "only by a form";
}

TEST_F(ClassPage, WrongTokensAreRefused) {
  for (const std::string& each : {std::string(), std::string("x"), std::string(32, '0'), std::string(100000, 'a')}) {
    Browser browser(site_);
    const Reply reply = browser.enter(each);
    EXPECT_EQ(reply.status, 403);
    EXPECT_THAT(reply.body, HasSubstr("token is not valid"));
  }
  Browser anna = browser_of("anna");
  revoke_token(*some_.store, "anna");
  EXPECT_EQ(anna.hand_in().status, 403);
  EXPECT_EQ(anna.get("/own").status, 303);
  EXPECT_THAT(some_.store->submissions({}), IsEmpty());
}

TEST_F(ClassPage, BadUploadsAreRefusedInWords) {
  Browser anna = browser_of("anna");
  for (const char* name : {"", "../../x.cu", "/etc/passwd", "a b.cu", "x.exe", ".cu", "a\nb.cu", "<b>.cu"}) {
    EXPECT_EQ(anna.hand_in(name).status, 400) << name;
  }
  EXPECT_EQ(anna.hand_in("a.cu", "").status, 400);
  EXPECT_EQ(anna.post("/submit", {{"assignment", "../fa19"}}, "a.cu", "x").status, 400);
  const Reply large = anna.hand_in("a.cu", std::string(kMostSourceBytes + 1, ' '));
  EXPECT_EQ(large.status, 413);
  EXPECT_THAT(large.body, HasSubstr("Nothing was submitted"));
  EXPECT_THAT(some_.store->submissions({}), IsEmpty());
  EXPECT_TRUE(fs::is_empty(some_.folder->spool()));
}

class StrictClassPage : public ClassPage {
 protected:
  StrictClassPage() : ClassPage(Settings{.per_hour = 2}) {}
};

TEST_F(StrictClassPage, TooManyUploadsAreNotEvenKept) {
  Browser anna = browser_of("anna");
  EXPECT_EQ(anna.hand_in().status, 303);
  EXPECT_EQ(anna.hand_in().status, 303);
  anna.get("/own");
  EXPECT_EQ(anna.hand_in().status, 429);
  EXPECT_THAT(some_.store->submissions({}), SizeIs(2));
  Browser bert = browser_of("bert");
  EXPECT_EQ(bert.hand_in().status, 303);
}

TEST_F(StrictClassPage, ParallelUploadsAreNotMoreThanAnHourAllows) {
  const std::string token = token_of("anna");
  std::vector<Browser> browsers;
  for (int i = 0; i < 16; ++i) browsers.emplace_back(site_).enter(token);
  std::atomic<int> taken = 0;
  std::vector<std::thread> threads;
  for (Browser& each : browsers) threads.emplace_back([&] { taken += each.hand_in().status == 303 ? 1 : 0; });
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(taken, 2);
  EXPECT_THAT(some_.store->submissions({}), SizeIs(2));
}

TEST_F(StrictClassPage, WhatWaitsInTheSpoolCountsForWhatAnHourAllows) {
  Browser anna = browser_of("anna");
  {
    const BrokenIntake broken(some_);
    EXPECT_EQ(anna.hand_in().status, 202);
    EXPECT_EQ(anna.hand_in().status, 202);
    EXPECT_EQ(anna.hand_in().status, 429);
  }
  some_.take_in();
  EXPECT_EQ(anna.hand_in().status, 429) << "in the database they count as well, and once";
  EXPECT_THAT(some_.store->submissions({}), SizeIs(2));
}

TEST_F(ClassPage, PathsLeadNowhereElse) {
  Browser anna = browser_of("anna");
  some_.submit("anna");
  for (const char* path : {"/x",
                           "//",
                           "/board",
                           "/board/",
                           "/board/x",
                           "/board/../secret",
                           "/public/fa19/..",
                           "/public/fa19/.",
                           "/public/fa19/../../secret/fa19.json",
                           "/public/../secret",
                           "/public/../class.toml",
                           "/public/fa19/",
                           "/public//class.toml",
                           "/submission/",
                           "/submission/x",
                           "/submission/-1",
                           "/submission/1x",
                           "/submission/1/",
                           "/submission/99999999999999999999",
                           "/class.db",
                           "/../class.db",
                           "/style.css/",
                           "\xff\xfe",
                           ""}) {
    EXPECT_EQ(anna.get(path).status, 404) << path;
  }
  EXPECT_EQ(anna.get("/public/fa19/shapes.txt").status, 200);
  EXPECT_THAT(anna.get("/public/fa19/shapes.txt").type, StartsWith("text/plain"));
  EXPECT_EQ(anna.ask({.method = "DELETE", .path = "/own"}).status, 405);
  EXPECT_EQ(anna.ask({.method = "POST", .path = "/own"}).status, 405);
}

TEST_F(ClassPage, WhatCannotBeTakenInIsNotLost) {
  Browser anna = browser_of("anna");
  std::string link;
  {
    const BrokenIntake broken(some_);
    const Reply sent = anna.hand_in();
    EXPECT_EQ(sent.status, 202);
    EXPECT_THAT(sent.body, HasSubstr("Submission received"));
    EXPECT_THAT(log_lines_, SizeIs(1));
    std::smatch match;
    ASSERT_TRUE(std::regex_search(sent.body, match, std::regex("href=\"(/submission/[0-9a-f]{32})\"")));
    link = match[1];
    EXPECT_EQ(anna.get(link).status, 200) << "what was accepted is not gone";
  }
  some_.take_in();
  EXPECT_THAT(some_.store->submissions({}), SizeIs(1));
  const Reply now = anna.get(link);
  EXPECT_EQ(now.status, 303);
  EXPECT_EQ(now.headers.find("Location")->second, "/submission/1");
  EXPECT_EQ(browser_of("bert").get(link).status, 404) << "it is not his";
}

TEST_F(ClassPage, WhatIsSetAsideGetsItsReason) {
  Browser anna = browser_of("anna");
  const std::string receipt = some_.write("evil/name");
  some_.take_in();
  EXPECT_THAT(anna.get("/submission/" + receipt).body, HasSubstr("not kept: &#39;evil/name&#39;"));
  EXPECT_EQ(anna.get("/submission/" + std::string(32, '0')).status, 404);
}

TEST_F(ClassPage, WhatIsBrokenGetsAPageThatSaysSo) {
  Browser anna = browser_of("anna");
  fs::rename(some_.folder->spool(), some_.folder->root() / "away");
  const Reply full = anna.hand_in();
  EXPECT_EQ(full.status, 503);
  EXPECT_THAT(full.body, AllOf(HasSubstr("right now"), Not(HasSubstr(some_.folder->root().string()))));
  ASSERT_THAT(log_lines_, SizeIs(1));
  EXPECT_THAT(log_lines_[0], StartsWith("POST /submit: "));
  some_.store.reset();
  write_file(some_.folder->database(), std::string(8192, 'x'));
  EXPECT_EQ(anna.get("/own").status, 503);
  EXPECT_EQ(Browser(site_).get("/board/fa19").status, 200) << "boards need no database";
  write_file(some_.folder->settings(), "nonsense");
  EXPECT_EQ(Browser(site_).get("/").status, 503);
}

}  // namespace
}  // namespace convlab::classroom
