// Tests findings in all output forms: text for people, JSON and gcc style for programs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/json.h"
#include "convlab/diagnostics/compiler_output.h"
#include "convlab/diagnostics/finding.h"
#include "convlab/diagnostics/source_lines.h"
#include "convlab/diagnostics/text_form.h"
#include "convlab/diagnostics/tool_forms.h"
#include "tests/support/temporary_folder.h"

namespace convlab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kSource = R"(__global__ void conv(const float* in, float* out) {
  __shared__ float tile[16][16];
  tile[ty][tx] = in[(row + ty) * W + col + tx];
	acc += tile[ty][tx + 1] * mask[q];  // of tile
}
)";

class Diagnostics : public testing::Test {
 protected:
  Diagnostics() { write_file(folder_.path() / "conv.cu", std::string(kSource)); }

  Finding race() const {
    const std::string file = (folder_.path() / "conv.cu").string();
    return {.kind = "race on shared memory",
            .text = "data race on shared memory 'tile'",
            .kernel = "conv",
            .block = "(0,0,2)",
            .array = "tile",
            .labels = {{.place = {file, 3, 0},
                        .text = "thread (4,0,0) writes tile[0][4]",
                        .thread = "(4,0,0)",
                        .subject = "tile",
                        .writes_it = true},
                       {.place = {file, 4, 0},
                        .text = "thread (3,0,0) reads tile[0][4]; no barrier between",
                        .thread = "(3,0,0)",
                        .subject = "tile"}},
            .notes = {"255 more"},
            .help = "add __syncthreads() between line 3 and line 4"};
  }

  Finding located() {
    Finding finding = race();
    lines_.locate(finding);
    return finding;
  }

  /// Returns the finding as text, without the folder's name.
  std::string text_of(const Finding& finding, const TextStyle& style = {}) {
    std::string text = text_form(finding, lines_, style);
    const std::string folder = folder_.path().string() + "/";
    for (size_t at = text.find(folder); at != std::string::npos; at = text.find(folder)) text.erase(at, folder.size());
    return text;
  }

  TemporaryFolder folder_;
  SourceLines lines_;
};

TEST_F(Diagnostics, TextShowsBothSidesUnderTheirLines) {
  EXPECT_EQ(text_of(race()), R"(conv.cu:3:3: error: data race on shared memory 'tile'
  |
3 |   tile[ty][tx] = in[(row + ty) * W + col + tx];
  |   ^ thread (4,0,0) writes tile[0][4]
4 |     acc += tile[ty][tx + 1] * mask[q];  // of tile
  |            ^ thread (3,0,0) reads tile[0][4]; no barrier between
  = kernel conv, block (0,0,2); 255 more
  = help: add __syncthreads() between line 3 and line 4
)");
}

TEST_F(Diagnostics, TextFitsItsWidth) {
  Finding finding = race();
  finding.labels[1].text += ", and more words than a narrow terminal has room for";
  for (const int width : {40, 60, 80}) {
    const std::string text = text_of(finding, {.width = width});
    std::istringstream lines(text.substr(text.find('\n') + 1));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(std::ssize(line), width) << text;
    EXPECT_EQ(width < 60, text.find("...") != std::string::npos) << text;
  }
}

TEST_F(Diagnostics, ALongLineIsCutAroundItsCarets) {
  const std::string file = (folder_.path() / "conv.cu").string();
  const std::string line = "  first(a)" + std::string(2000, '+') + "bad[i]" + std::string(200, '+') + "last[i];";
  write_file(file, line + "\n");
  const auto column = [&](const std::string& name) { return static_cast<int>(line.find(name)) + 1; };
  const std::string text = text_of({.text = "t",
                                    .labels = {{.place = {file, 1, column("bad")}, .text = "one"},
                                               {.place = {file, 1, column("[i]")}, .text = "two"},
                                               {.place = {file, 1, column("last")}, .text = "three"},
                                               {.place = {file, 1, column("first")}, .text = "four"}}},
                                   {.width = 40});
  EXPECT_EQ(text, R"(conv.cu:1:2011: error: t
  |
1 | ...+++++++++++++++bad[i]+++++++++...
  |                   ^ one
  |                      ^ two
1 | ...+++++++++++++++++++++++++last[i];
  |                             ^ three
1 |   first(a)+++++++++++++++++++++++...
  |   ^ four
)");
}

TEST_F(Diagnostics, ACutLineKeepsItsCharactersWhole) {
  const std::string file = (folder_.path() / "conv.cu").string();
  for (int shift = 0; shift < 4; ++shift) {
    std::string line(static_cast<size_t>(shift), '-');
    for (int i = 0; i < 40; ++i) line += "\u00e9";
    line += "bad[i]";
    for (int i = 0; i < 40; ++i) line += "\u20ac";
    write_file(file, line + "\n");
    SourceLines lines;
    const Finding finding{.text = "t", .labels = {{.place = {file, 1, shift + 81}}}};
    const std::string text = text_form(finding, lines, {.width = 40});
    EXPECT_THAT(text, AllOf(HasSubstr("\u00e9bad[i]\u20ac"), Not(HasSubstr("?"))));
  }
}

TEST_F(Diagnostics, TextHasColorsOnlyIfAsked) {
  EXPECT_THAT(text_of(race()), Not(HasSubstr("\x1b")));
  const std::string colored = text_of(race(), {.color = true});
  EXPECT_THAT(colored, HasSubstr("\x1b[1;31merror:\x1b[0m"));
  EXPECT_EQ(std::regex_replace(colored, std::regex("\x1b\\[[0-9;]*m"), ""), text_of(race()));
}

TEST_F(Diagnostics, TextWithoutSourceStillSaysEverything) {
  Finding finding = race();
  for (Label& label : finding.labels) label.place.file = "gone.cu";
  EXPECT_EQ(text_of(finding), R"(gone.cu:3: error: data race on shared memory 'tile'
  = thread (4,0,0) writes tile[0][4]
  = gone.cu:4: thread (3,0,0) reads tile[0][4]; no barrier between
  = kernel conv, block (0,0,2); 255 more
  = help: add __syncthreads() between line 3 and line 4
)");
  EXPECT_EQ(text_of({.kind = "wrong output", .text = "3 of 24 outputs are wrong"}),
            "error: 3 of 24 outputs are wrong\n");
}

TEST_F(Diagnostics, TextPrintsNoControlCharacters) {
  write_file(folder_.path() / "conv.cu", std::string("x = 1; \x1b[31m\x01 \xff y\r\n"));
  const std::string text = text_of({.text = "t", .labels = {{.place = {(folder_.path() / "conv.cu").string(), 1, 1}}}});
  EXPECT_THAT(text, HasSubstr("1 | x = 1; ?[31m? ? y\n"));
}

TEST_F(Diagnostics, ColumnsPointToTheNameThatMatters) {
  EXPECT_EQ(column_of("a[i] = a[i + 1];", "a", true), 1);
  EXPECT_EQ(column_of("a[i] = a[i + 1];", "a", false), 8);
  EXPECT_EQ(column_of("ab[i] = 1;  // a", "a", false), 0);
  EXPECT_EQ(column_of("", "a", false), 0);
  Finding finding = race();
  finding.labels[0].subject = "other";
  lines_.locate(finding);
  EXPECT_EQ(finding.labels[0].place.column, 3);  // the first non-blank character
  EXPECT_EQ(finding.labels[1].place.column, 9);  // in bytes: a tab counts as one
}

TEST_F(Diagnostics, OneLineSaysWhatAndWhere) {
  EXPECT_EQ(in_one_line(race()),
            "data race on shared memory 'tile': thread (4,0,0) writes tile[0][4]; thread (3,0,0) reads tile[0][4]; no "
            "barrier between at conv.cu:4 (kernel conv, block (0,0,2); 255 more), at conv.cu:3");
}

TEST_F(Diagnostics, OneCauseIsOneFinding) {
  Finding other = race();
  other.labels[0].text = "thread (9,0,0) writes tile[0][9]";
  Finding elsewhere = race();
  elsewhere.labels[1].place.line = 5;
  const std::vector<Finding> all = merged({race(), other, elsewhere, other});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].count, 3);
  EXPECT_EQ(all[1].count, 1);
  EXPECT_THAT(text_of(all[0]), HasSubstr("255 more; found 3 times\n"));
  // Without source lines, findings are merged by text, ignoring numbers in it.
  EXPECT_EQ(
      merged(
          {{.kind = "k", .text = "3 of 9 wrong"}, {.kind = "k", .text = "two"}, {.kind = "k", .text = "4 of 12 wrong"}})
          .size(),
      2u);
}

TEST_F(Diagnostics, CompilersOutputIsRead) {
  const std::vector<Finding> findings = findings_in(
      "In file included from a.cu:1:\na.cu: In function 'void f()':\na.cu:3:5: error: expected ';' before 'int'\n"
      "    3 | int\na.cu:2:9: note: declared here\nb c.h:7: fatal error: no.h: No such file or directory\n"
      "k.cu(12): error: identifier \"x\" is undefined\n\nk.cu(13): warning #177-D: variable \"y\" was declared\n");
  ASSERT_EQ(findings.size(), 4u);
  EXPECT_EQ(findings[0].text, "expected ';' before 'int'");
  EXPECT_EQ(place_of(findings[0]), (SourcePlace{"a.cu", 3, 5}));
  ASSERT_EQ(findings[0].labels.size(), 2u);
  EXPECT_EQ(findings[0].labels[1].text, "declared here");
  EXPECT_EQ(place_of(findings[1]), (SourcePlace{"b c.h", 7, 0}));
  EXPECT_EQ(place_of(findings[2]), (SourcePlace{"k.cu", 12, 0}));
  EXPECT_EQ(findings[3].severity, Severity::warning);
  EXPECT_TRUE(findings_in("").empty());
}

TEST_F(Diagnostics, JsonKeepsAll) {
  Finding finding = located();
  finding.severity = Severity::warning;
  finding.count = 7;
  const Finding again = finding_of(to_json(finding));
  EXPECT_EQ(to_json(again), to_json(finding));
  EXPECT_EQ(again.labels[1].place, finding.labels[1].place);
  EXPECT_THROW(finding_of(nlohmann::ordered_json::object()), Error);
  nlohmann::ordered_json wrong = to_json(finding);
  wrong["labels"][0]["line"] = "three";
  EXPECT_THROW(finding_of(wrong), Error);
}

TEST_F(Diagnostics, PlacesAreParsed) {
  EXPECT_EQ(parse_place("a b/conv.cu:31"), (SourcePlace{"a b/conv.cu", 31, 0}));
  EXPECT_EQ(parse_place("conv.cu:31:5"), (SourcePlace{"conv.cu", 31, 5}));
  for (const char* text : {"kernel+0x1f", "", ":31", "conv.cu:", "conv.cu:0", "conv.cu:-3", "conv.cu:3x"}) {
    EXPECT_EQ(parse_place(text), (SourcePlace{text, 0, 0}));
  }
}

// The patterns that editors ship: VS Code's problem matcher "$gcc", and Vim's default errorformat "%f:%l:%c:%m" as
// described in its documentation.
TEST_F(Diagnostics, EditorsFindTheLine) {
  const std::string line = gcc_form(located()), text = text_form(race(), lines_, {});
  const std::regex code(R"(^(.*?):(\d+):(\d*):?\s+(?:fatal\s+)?(warning|error):\s+(.*)$)");
  const std::regex vim(R"(^([^:]+):(\d+):(\d+):(.*)$)");
  for (const std::string& each : {line, text.substr(0, text.find('\n'))}) {
    std::smatch match;
    for (const std::regex& pattern : {code, vim}) {
      ASSERT_TRUE(std::regex_match(each, match, pattern)) << each;
      EXPECT_EQ(match[1], (folder_.path() / "conv.cu").string());
      EXPECT_EQ(match[2], "3");
      EXPECT_EQ(match[3], "3");
    }
  }
  EXPECT_THAT(line, testing::EndsWith(" at line 4 [race-on-shared-memory]"));
  EXPECT_THAT(line, Not(HasSubstr("\n")));
  EXPECT_THAT(gcc_form({.kind = "wrong output", .text = "all wrong"}), StartsWith("convlab: error: all wrong"));
}

TEST_F(Diagnostics, GithubShowsAnnotations) {
  Finding finding = located();
  for (Label& label : finding.labels) label.place.file = "a,b:c.cu";
  finding.help = "50 % more";
  EXPECT_EQ(github_form(finding),
            "::error file=a%2Cb%3Ac.cu,line=3,col=3,title=race on shared memory::data race on shared memory 'tile': "
            "thread (4,0,0) writes tile[0][4]; thread (3,0,0) reads tile[0][4]; no barrier between at line 4%0Ahelp: "
            "50 %25 more");
  finding.severity = Severity::note;
  EXPECT_THAT(github_form(finding), StartsWith("::notice "));
}

TEST_F(Diagnostics, SarifHasRulesAndResults) {
  Finding second = located();
  second.kind = "wrong output";
  second.severity = Severity::warning;
  second.labels = {{.place = {"my kernels/conv 1.cu", 7, 0}}};
  const nlohmann::ordered_json log = parse_json(sarif_form({located(), second, located()}, "1.2.3"), "SARIF");
  EXPECT_EQ(log["version"], "2.1.0");
  const nlohmann::ordered_json& run = log["runs"][0];
  EXPECT_EQ(run["tool"]["driver"]["version"], "1.2.3");
  std::vector<std::string> rules;
  for (const auto& rule : run["tool"]["driver"]["rules"]) rules.push_back(rule["id"]);
  EXPECT_THAT(rules, ElementsAre("race-on-shared-memory", "wrong-output"));
  ASSERT_EQ(run["results"].size(), 3u);
  EXPECT_EQ(run["results"][2]["ruleIndex"], 0);
  EXPECT_EQ(run["results"][1]["level"], "warning");
  const auto& place = run["results"][1]["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"], "my%20kernels/conv%201.cu");
  EXPECT_EQ(place["region"], (nlohmann::ordered_json{{"startLine", 7}}));
  EXPECT_EQ(run["results"][0]["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], 4);
}

}  // namespace
}  // namespace convlab
