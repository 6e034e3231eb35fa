// Runs every command shown in README, HACKING, other documents and every --help as a reader types it, with limits on
// images and seconds. A command that cannot run here must be listed below with the reason, or this test fails.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "convlab/base/text.h"
#include "tests/support/paths.h"
#include "tests/support/program_run.h"
#include "tests/support/shown_commands.h"
#include "tests/support/workplace.h"

namespace convlab {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::UnorderedElementsAre;

const std::filesystem::path kRoot = source_folder();

/// Patterns of commands that are not run.
struct NotRun {
  const char *pattern, *reason;
};
constexpr NotRun kNotRun[] = {
    {"./test.sh*", "it is what runs this test"},
    {"cmake *", "builds everything once more"},
    {"*cuda.mine*", "the reader's own kernel"},
    {"*--device cuda*", "wants a GPU"},
    {"convlab m1.2 *", "wants a GPU and cuDNN"},
    {"python3 *models/*", "trains networks for hours, with what it gets from the network"},
    {"convlab * FILE*", "a placeholder"},
    {"build/fuzz/*", "fuzzes until it is stopped"},
    {"convlab class submit * --wait", "waits for a worker"},
    {"convlab class delete *", "deletes submissions of a class with students: see cli_class_test"},
    {"convlab class history * --student *", "shows submissions of a student of the class: see cli_class_test"},
    {"convlab class serve *", "serves until it is stopped"},
    {"convlab class work *", "judges in jails, which some machines do not permit"},
};

/// Limits that keep examples fast: the new value of an option, or of the number after the command.
struct Limit {
  const char *command, *option, *value;  ///< "" means IMAGES, the number after the command
};
constexpr Limit kLimits[] = {
    {"run", "-n", "100"},
    {"profile", "-n", "100"},
    {"bench", "--seconds", "0.01"},
    {"bench", "-n", "16,20"},
    {"m1.1", "", "100"},
    {"m2.1", "", "100"},
    {"ablate", "--seconds", "0.01"},
    {"tune", "--seconds", "0.01"},
    {"m3.1", "", "1"},
    {"m4.1", "", "1"},
    {"final", "", "1"},
    {"new", "-o", "made.cuh"},  // the other examples' output file exists already
};

const char* reason_not_to_run(const std::string& command) {
  for (const NotRun& each : kNotRun) {
    if (glob_match(each.pattern, command)) return each.reason;
  }
  return nullptr;
}

bool is_number(const std::string& word) { return !word.empty() && word.find_first_not_of("0123456789") == word.npos; }

/// Returns the command of "convlab run ..." or "./run.sh ...", or "" if the line calls another program.
std::string command_name(const std::vector<std::string>& words) {
  if (words[0] == "./run.sh") return "run";
  return words[0].ends_with("convlab") && words.size() > 1 ? words[1] : "";
}

/// Returns the command with all limits that apply to it.
std::string limited(const std::string& command) {
  std::vector<std::string> words = words_of(command);
  const std::string name = command_name(words);
  for (const auto& [of, option, value] : kLimits) {
    if (name != of) continue;
    const auto found = std::ranges::find_if(words, [&](const std::string& word) {
      return *option == '\0' ? is_number(word) : word == option || (word == "--images" && std::string("-n") == option);
    });
    if (*option == '\0') {
      found == words.end() ? words.emplace_back(value) : * found = value;
    } else if (found != words.end()) {
      std::string& given = *std::next(found);
      if (!is_number(given) || !is_number(value) || std::stoll(given) > std::stoll(value)) given = value;
    } else if (name != "bench" || std::string("-n") != option) {  // without -n, bench times one problem
      words.insert(words.end(), {option, value});
    }
  }
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// Returns all commands that documents and help texts show, and where.
std::map<std::string, std::string> shown_commands() {
  std::map<std::string, std::string> commands;
  for (const std::filesystem::path& file : files_under(kRoot)) {
    if (file.extension() == ".md") add_shown_commands(text_of(kRoot / file), file.generic_string(), commands);
  }
  const auto add_examples = [&](const std::string& help, const std::string& place) {
    std::istringstream lines(help);
    int examples = 0;
    bool is_example = false;
    for (std::string line; std::getline(lines, line);) {
      if (is_example && line.starts_with("  ")) {
        ++examples;
        commands.emplace(line.substr(2), place);
      }
      is_example = line == "Examples:" || (is_example && line.starts_with("  "));
    }
    EXPECT_GT(examples, 0) << place << " shows no example";
  };
  const std::string help = run_program({"--help"}).output;
  add_examples(help, "--help");
  for (const std::string& command : commands_in(help)) {
    const std::string of_command = run_program({command, "--help"}).output;
    if (command != "class") add_examples(of_command, "convlab " + command + " --help");
    if (command != "class" || of_command.empty()) continue;
    add_examples(of_command, "convlab class --help");
    for (const std::string& each : commands_in(of_command)) {
      add_examples(run_program({command, each, "--help"}).output, "convlab class " + each + " --help");
    }
  }
  return commands;
}

/// Returns the shown command that writes the plan file which this command replays, or "" if it replays none.
std::string tuning_for(const std::string& command, const std::map<std::string, std::string>& commands) {
  const std::vector<std::string> words = words_of(command);
  const auto option = std::ranges::find(words, "--plan-file");
  if (option == words.end()) return "";
  for (const auto& [each, place] : commands) {
    if (each.starts_with("convlab tune ") && each.find(" -o " + *std::next(option)) != each.npos) return each;
  }
  return "";
}

TEST(ShownCommands, AllRun) {
  const std::map<std::string, std::string> commands = shown_commands();
  ASSERT_THAT(commands, Contains(Key("./run.sh"))) << "README.md was not understood";
  const Workplace workplace;
  constexpr int kNotThere = 3;
  const bool has_class = run_program({"class", "--help"}).status != kNotThere;
  if (!has_class) std::printf("SKIPPED: convlab class ...: it is not built\n");
  for (const auto& [command, place] : commands) {
    if (reason_not_to_run(command) != nullptr || (!has_class && command.starts_with("convlab class"))) continue;
    const std::string shorter = limited(command);
    workplace.prepare(shorter);
    const std::string tuning = tuning_for(command, commands);
    if (!tuning.empty()) {
      EXPECT_EQ(workplace.run(limited(tuning)).status, 0) << tuning;
    }
    const Workplace::Result result = workplace.run(shorter);
    // On a busy machine bench measures its ceilings too low, and then rejects correct kernels as too fast.
    const bool busy = result.complaint.find("other processes used the CPU") != std::string::npos;
    if (busy && result.status == 1) continue;
    EXPECT_EQ(result.status, 0) << place << " shows: " << command << "\nwhich was run as: " << shorter << "\n"
                                << result.complaint;
    std::printf("%6.2f s  %s\n", result.seconds, shorter.c_str());
  }
}

TEST(ShownCommands, WhatIsNotRunIsShownSomewhere) {
  const std::map<std::string, std::string> commands = shown_commands();
  for (const NotRun& each : kNotRun) {
    EXPECT_TRUE(std::ranges::any_of(commands, [&](const auto& entry) { return glob_match(each.pattern, entry.first); }))
        << "no document shows a command like '" << each.pattern << "'; take it off the list";
  }
}

TEST(ShownCommands, AreFoundInAnyMarkdown) {
  std::map<std::string, std::string> commands;
  add_shown_commands(
      "Text, `convlab list` and `convlab run fa19\n-n 3`.\n\n    ./run.sh -n 1   # a comment\n    Loading data... "
      "done\n\n"
      "- An item\n    that goes on with `cmake --preset x`\n\n```sh\n$ convlab verify --kernel 'cpu.*'\ncmake --preset "
      "cpu\n"
      "int main() {}\n```\n\n\tbuild/cpu/bin/convlab list \\\n\t    models\n",
      "a.md", commands);
  EXPECT_THAT(commands,
              UnorderedElementsAre(Key("convlab run fa19 -n 3"), Key("./run.sh -n 1"), Key("cmake --preset cpu"),
                                   Key("convlab verify --kernel 'cpu.*'"), Key("build/cpu/bin/convlab list models")));
}

TEST(ShownCommands, AreLimited) {
  EXPECT_EQ(limited("./run.sh"), "./run.sh -n 100");
  EXPECT_EQ(limited("convlab run fa19 --images 1000 --json -"), "convlab run fa19 --images 100 --json -");
  EXPECT_EQ(limited("convlab m3.1 1000 --device simt"), "convlab m3.1 1 --device simt");
  EXPECT_EQ(limited("build/cpu/bin/convlab m2.1"), "build/cpu/bin/convlab m2.1 100");
  EXPECT_EQ(limited("convlab bench --problem k1"), "convlab bench --problem k1 --seconds 0.01");
  EXPECT_EQ(limited("convlab list"), "convlab list");
}

TEST(ShownCommands, ACommandThatFailsIsFound) {
  const Workplace workplace;
  EXPECT_EQ(workplace.run("convlab list kernels").status, 0);
  EXPECT_EQ(workplace.run("./run.sh fa91 -n 1").status, 2);
  EXPECT_NE(workplace.run("convlap list").status, 0);
}

}  // namespace
}  // namespace convlab
