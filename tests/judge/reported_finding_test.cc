#include "convlab/judge/reported_finding.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>

namespace convlab::judge {
namespace {

using testing::Contains;
using testing::Not;
using testing::SizeIs;
using Json = nlohmann::ordered_json;

Json answer_with(const Finding& finding) { return {{"findings", Json::array({to_json(finding)})}}; }

TEST(ReportedFinding, HasPlacesInTheSubmissionOnly) {
  const Finding race{.kind = "race on shared memory",
                     .text = "data race",
                     .labels = {{.place = {"/jail/conv.cu", 31, 5}, .text = "thread (0,0,0) writes"},
                                {.place = {"/etc/passwd", 1, 1}, .text = "thread (1,0,0) reads"}},
                     .notes = {"in 2 shapes"}};
  const std::optional<Finding> shown = reported_finding(answer_with(race), "/class/work/conv.cu");
  ASSERT_TRUE(shown.has_value());
  EXPECT_EQ(place_of(*shown), (SourcePlace{"/class/work/conv.cu", 31, 0}));
  EXPECT_EQ(shown->labels.at(1).place, SourcePlace{});
  EXPECT_THAT(shown->notes, Contains("reported by the submission's process"));
}

TEST(ReportedFinding, ACompilersErrorHasPlacesInTheSubmissionOnly) {
  Finding error{.kind = "compiler",
                .text = "expected ';'",
                .labels = {{.place = {"/etc/passwd", 1, 1}}, {.place = {"/class/work/conv.cu", 3, 7}}}};
  restrict_to("/class/work/conv.cu", error);
  EXPECT_EQ(error.labels.at(0).place, SourcePlace{});
  EXPECT_EQ(error.labels.at(1).place, (SourcePlace{"/class/work/conv.cu", 3, 7}));
}

TEST(ReportedFinding, HasShortPrintableTexts) {
  const std::string forged = "PASSED\x1b[2J\n" + std::string(10'000, 'x');
  const Finding finding{.kind = forged,
                        .text = forged,
                        .labels = std::vector<Label>(1000, {.place = {"conv.cu", -3, -7}, .text = forged}),
                        .notes = std::vector<std::string>(1000, forged),
                        .help = forged};
  const std::optional<Finding> shown = reported_finding(answer_with(finding), "conv.cu");
  ASSERT_TRUE(shown.has_value());
  EXPECT_THAT(shown->labels, SizeIs(testing::Le(4)));
  EXPECT_THAT(shown->notes, SizeIs(testing::Le(5)));
  EXPECT_EQ(place_of(*shown).line, 0);
  EXPECT_LT(in_one_line(*shown).size() + shown->help.size(), 5000u);
  EXPECT_THAT(message_of(*shown), Not(Contains('\x1b')));
  EXPECT_THAT(message_of(*shown), Not(Contains('\n')));
}

TEST(ReportedFinding, IsNoneIfTheAnswerIsMalformed) {
  for (const char* text : {R"({})", R"({"findings": 3})", R"({"findings": []})", R"({"findings": [7]})",
                           R"({"findings": [{"kind": "race"}]})", R"({"fault": "race", "text": "..."})"}) {
    EXPECT_FALSE(reported_finding(Json::parse(text), "conv.cu").has_value()) << text;
  }
}

}  // namespace
}  // namespace convlab::judge
