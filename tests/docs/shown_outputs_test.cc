// Tests that the outputs in documents' ```console blocks are what the commands print.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "tests/support/source_tree.h"
#include "tests/support/workplace.h"

namespace convlab {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

struct ShownOutput {
  std::string command;
  std::vector<std::string> lines;
};

/// Returns the commands of ```console blocks ("$ convlab list kernels") with the output lines below them.
std::vector<ShownOutput> shown_outputs(const std::string& markdown) {
  std::vector<ShownOutput> all;
  bool inside = false;
  std::istringstream text(markdown);
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("```")) {
      inside = !inside && line == "```console";
    } else if (inside && line.starts_with("$ ")) {
      all.push_back({line.substr(2), {}});
    } else if (inside && !all.empty()) {
      all.back().lines.push_back(line);
    }
  }
  return all;
}

/// Normalizes a line: times and decimal numbers differ from run to run.
std::string normalized(const std::string& line) {
  static const std::regex kTimes(R"(\b[0-9]+(\.[0-9]+)? (us|ms|s)\b)"),
      kNumbers(R"(\b[0-9]+\.[0-9]+(e[+-]?[0-9]+)?\b)");
  std::string text = std::regex_replace(std::regex_replace(line, kTimes, "<time>"), kNumbers, "<number>");
  text = std::regex_replace(text, std::regex("compiled (in <time>|before)"), "compiled");
  return std::regex_replace(text, std::regex(" +"), " ");  // column widths depend on their content
}

/// Returns the first shown line that is not printed at its position, or "". A line "..." matches any number of lines.
std::string first_missing(const std::vector<std::string>& shown, const std::string& output) {
  std::vector<std::string> printed;
  std::istringstream text(output);
  for (std::string line; std::getline(text, line);) printed.push_back(normalized(line));
  size_t at = 0;
  bool may_skip = false;
  for (const std::string& line : shown) {
    if (line == "...") {
      may_skip = true;
      continue;
    }
    while (may_skip && at < printed.size() && printed[at] != normalized(line)) ++at;
    if (at == printed.size() || printed[at] != normalized(line)) return line;
    ++at;
    may_skip = false;
  }
  return may_skip || at == printed.size() ? "" : "(the output goes on)";
}

TEST(ShownOutputs, AreWhatTheCommandsPrint) {
  const Workplace workplace;
  size_t count = 0;
  for (const std::filesystem::path& file : files_under(source_folder())) {
    if (file.extension() != ".md") continue;
    for (const ShownOutput& shown : shown_outputs(text_of(source_folder() / file))) {
      ++count;
      workplace.prepare(shown.command);
      const Workplace::Result result = workplace.run(shown.command);
      EXPECT_EQ(first_missing(shown.lines, result.output), "")
          << file << " shows this line of: " << shown.command << "\nand it printed:\n"
          << result.output << result.complaint;
    }
  }
  EXPECT_GT(count, 0u) << "no document was understood";
}

TEST(ShownOutputs, AreFoundInMarkdown) {
  const std::vector<ShownOutput> all =
      shown_outputs("text\n```console\n$ convlab list\na\nb\n$ convlab --version\n```\n```sh\n$ not this\n```\n");
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].command, "convlab list");
  EXPECT_THAT(all[0].lines, ElementsAre("a", "b"));
}

TEST(ShownOutputs, MayDifferInTimesOnly) {
  EXPECT_EQ(first_missing({"took 3.1 ms", "PASSED  max error 2e-07"}, "took 47 ms\nPASSED max error 2e-07\n"), "");
  EXPECT_EQ(first_missing({"took 3 ms"}, "took 3 threads\n"), "took 3 ms");
  EXPECT_EQ(first_missing({"a", "...", "d"}, "a\nb\nc\nd\n"), "");
  EXPECT_EQ(first_missing({"a", "..."}, "a\nb\n"), "");
  EXPECT_EQ(first_missing({"a"}, "a\nb\n"), "(the output goes on)");
  EXPECT_EQ(first_missing({"a", "c"}, "a\nb\n"), "c");
}

}  // namespace
}  // namespace convlab
