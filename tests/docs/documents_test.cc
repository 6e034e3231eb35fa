// Tests that everything documents name exists: files, convlab's commands and options, CMake presets and options. Reads
// code in backticks, code block lines that call convlab or a script, and links in all Markdown files.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <regex>
#include <set>

#include "convlab/base/file.h"
#include "convlab/base/text.h"
#include "tests/support/paths.h"
#include "tests/support/shown_commands.h"
#include "tests/support/temporary_folder.h"

namespace convlab {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::filesystem::path kRoot = source_folder();

/// The facts that documents are checked against.
struct Facts {
  std::vector<std::string> files;                        ///< relative to the root
  std::map<std::string, std::set<std::string>> options;  ///< by command; "" has those of convlab itself
  std::set<std::string> presets;
  std::string cmake;    ///< the text of all CMake files
  std::string scripts;  ///< the text of all Python and shell scripts, which also have options

  bool exists(const std::filesystem::path& path) const {
    std::string text = path.lexically_normal().generic_string();
    if (text.ends_with('/')) text.pop_back();
    return std::ranges::any_of(files, [&](const std::string& file) {
      return glob_match(text, file) || file.starts_with(text + "/") || text == ".";
    });
  }
  bool has_file_named(const std::string& name) const {
    return std::ranges::any_of(files, [&](const std::string& file) {
      return glob_match(name, std::filesystem::path(file).filename().string());
    });
  }
  bool has_class() const { return !options.at("class").empty(); }
  bool something_has(const std::string& option) const {
    for (const char* quote : {"\"", "'"}) {
      if (scripts.find(quote + option + quote) != std::string::npos) return true;
    }
    return std::ranges::any_of(options, [&](const auto& entry) { return entry.second.contains(option); });
  }
};

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, decltype([](FILE* pipe) { pclose(pipe); })> pipe(popen(command.c_str(), "r"));
  std::string text;
  for (std::array<char, 4096> part; size_t count = std::fread(part.data(), 1, part.size(), pipe.get());) {
    text.append(part.data(), count);
  }
  return text;
}

/// Returns the options of a help text: -n, --images and --json from "  -n,--images N   ..." and "      --json FILE
/// ...".
std::set<std::string> options_in(const std::string& help) {
  std::set<std::string> options;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> words = words_of(line);
    if (!line.starts_with("  ") || words.empty() || !words[0].starts_with('-')) continue;
    for (const std::string& option : split(words[0], ',')) options.insert(option);
  }
  return options;
}

Facts facts_of_this_build() {
  Facts facts;
  for (const std::filesystem::path& file : files_under(kRoot)) facts.files.push_back(file.generic_string());
  const std::string binary = "'" + convlab_program().string() + "' ";
  const std::string help = output_of(binary + "--help");
  facts.options[""] = options_in(help);
  for (const std::string& command : commands_in(help)) {
    std::set<std::string>& options = facts.options[command] = options_in(output_of(binary + command + " --help"));
    if (command != "class") continue;
    for (const std::string& each : commands_in(output_of(binary + "class --help"))) {
      options.merge(options_in(output_of(binary + "class " + each + " --help")));
    }
  }
  for (const std::string& file : facts.files) {
    if (file.ends_with("CMakeLists.txt") || file.ends_with(".cmake")) facts.cmake += text_of(kRoot / file);
    if (file.ends_with(".py") || file.ends_with(".sh")) facts.scripts += text_of(kRoot / file);
  }
  const std::string presets = text_of(kRoot / "CMakePresets.json");
  const std::regex name(R"re("name": "([a-z-]+)")re");
  for (std::sregex_iterator match(presets.begin(), presets.end(), name), end; match != end; ++match) {
    facts.presets.insert((*match)[1].str());
  }
  return facts;
}

/// Collects a document's errors.
class Checker {
 public:
  Checker(const Facts& facts, std::filesystem::path document) : facts_(facts), document_(std::move(document)) {}

  const std::vector<std::string>& check(const std::string& text) {
    const MarkdownCode code = code_of(text);
    knows_options_ = facts_.has_class() || text.find("convlab class") == std::string::npos;
    for (const std::string& line : code.block_lines) check_block_line(words_of(line));
    for (const std::string& each : code.inline_code) check_code(words_of(each));
    for (const std::string& paragraph : code.paragraphs) check_links(paragraph);
    return wrong_;
  }

 private:
  using Words = std::vector<std::string>;

  void report(const std::string& what, const std::string& problem) {
    wrong_.push_back(document_.string() + ": `" + what + "` " + problem);
  }

  void check_links(const std::string& text) {
    static const std::regex kLink(R"(\]\(([^)#\s]+)[^)]*\))");
    for (std::sregex_iterator match(text.begin(), text.end(), kLink), end; match != end; ++match) {
      const std::string target = (*match)[1].str();
      if (target.find(':') == std::string::npos && !is_there(target)) report(target, "is linked, but not there");
    }
  }

  /// In code blocks, only lines that start with a known program are checked.
  void check_block_line(Words words) {
    if (!words.empty() && words[0] == "$") words.erase(words.begin());
    if (words.empty()) return;
    if (is_convlab(words[0]) || words[0].starts_with("./") || words[0] == "cmake") check_code(words);
  }

  static bool is_convlab(const std::string& word) { return word == "convlab" || word.ends_with("/convlab"); }

  void check_code(const Words& words) {
    if (words.empty()) return;
    Words rest(words.begin() + 1, words.end());
    if (is_convlab(words[0])) return check_call(rest);
    if (words[0] == "./run.sh") rest.insert(rest.begin(), "run"), check_call(rest);
    if (knows_options_ && words[0].starts_with("--") && !facts_.something_has(words[0].substr(0, words[0].find('=')))) {
      report(words[0], "is no option of any command or script");
    }
    for (size_t i = 0; i < words.size(); ++i) {
      check_cmake_option(words[i]);
      if (words[0] == "cmake" && words[i] == "--preset" && i + 1 < words.size() &&
          !facts_.presets.contains(words[i + 1])) {
        report(words[i + 1], "is no preset");
      }
      check_path(words[i], words.size() == 1);
    }
  }

  void check_call(const Words& words) {
    static const std::set<std::string> kEnds = {"|", ">", ">>", "2>", "<", "&&", "||", "&", ";", "#"};
    if (words.empty() || kEnds.contains(words[0])) return;
    const bool has_command = std::regex_match(words[0], std::regex("[a-z][a-z0-9.-]*"));
    const std::string command = has_command ? words[0] : "";
    if (!facts_.options.contains(command)) return report("convlab " + command, "is no command");
    if (!has_command && !words[0].starts_with('-')) return;  // a placeholder, such as COMMAND or "..."
    if (command == "class" && !facts_.has_class()) return;
    for (size_t i = has_command ? 1 : 0; i < words.size() && !kEnds.contains(words[i]); ++i) {
      const std::string option = words[i].substr(0, words[i].find('='));
      if (std::regex_match(option, std::regex("--?[A-Za-z][A-Za-z-]*")) &&
          !facts_.options.at(command).contains(option)) {
        report(option, "is no option of convlab " + command);
      }
      check_path(words[i], false);
    }
  }

  void check_cmake_option(const std::string& word) {
    std::smatch match;
    if (!std::regex_match(word, match, std::regex("(?:-D)?(CONVLAB_[A-Z_]+)(?:=.*)?"))) return;
    if (facts_.cmake.find(match[1].str()) == std::string::npos) report(match[1].str(), "is in no CMake file");
  }

  bool is_there(const std::string& path) const {
    return facts_.exists(path) || facts_.exists(document_.parent_path() / path);
  }

  /// A bare file name such as `registry.h` is checked only if it is the whole inline code.
  void check_path(std::string word, bool alone) {
    word = std::regex_replace(word, std::regex("^\\./|(:[0-9]+)?[,.:;)]*$"), "");
    if (!std::regex_match(word, std::regex("[A-Za-z0-9_.*?+-][A-Za-z0-9_./*?+-]*")) || word.starts_with('-')) return;
    if (word.starts_with("build/") || word.starts_with("../")) return;  // build outputs, and files outside the tree
    // Placeholders, such as NAME-symbol.json or DIR/x.gz.
    if (std::regex_search(word, std::regex("(^|/)(NAME|DIR|FILE|OUT|MODEL|PREFIX|X|Y)(?![A-Za-z])"))) return;
    static const std::set<std::string> kEndings = {".h",  ".cc", ".cu",   ".cuh",  ".cmake", ".py",
                                                   ".sh", ".md", ".json", ".onnx", ".txt",   ".html"};
    static const std::set<std::string> kOwnEndings = {".h", ".cc", ".cu", ".cuh", ".cmake", ".py", ".sh", ".md"};
    // Files of the course's projects, which readers have.
    static const std::set<std::string> kOfTheCourse = {"new-forward.cuh", "new-forward.h",      "new-forward.cu",
                                                       "m3-forward.cu",   "cpu-new-forward.cc", "mxnet/base.h"};
    if (kOfTheCourse.contains(word)) return;
    const std::string ending = std::filesystem::path(word).extension();
    if (word.find('/') == std::string::npos) {
      if (alone && kOwnEndings.contains(ending) && word != ending && !facts_.has_file_named(word)) {
        report(word, "is the name of no file");
      }
      return;
    }
    const bool rooted = facts_.exists(std::filesystem::path(word).begin()->string());
    if ((kEndings.contains(ending) || word.ends_with('/') || rooted) && !is_there(word)) report(word, "is not there");
  }

  const Facts& facts_;
  std::filesystem::path document_;
  bool knows_options_ = true;  ///< false if they may be those of `convlab class` and it is not built
  std::vector<std::string> wrong_;
};

std::vector<std::string> problems(const Facts& facts, const std::filesystem::path& document, const std::string& text) {
  return Checker(facts, document).check(text);
}

TEST(Documents, NameOnlyWhatExists) {
  const Facts facts = facts_of_this_build();
  ASSERT_THAT(facts.options, Contains(testing::Key("list"))) << "'convlab --help' was not understood";
  ASSERT_THAT(facts.presets, Contains("cpu"));
  int documents = 0;
  for (const std::string& file : facts.files) {
    if (!file.ends_with(".md")) continue;
    ++documents;
    for (const std::string& problem : problems(facts, file, text_of(kRoot / file))) ADD_FAILURE() << problem;
  }
  EXPECT_GT(documents, 0) << "no documents were found";
}

class PlantedDocument : public testing::Test {
 protected:
  std::vector<std::string> check(const std::string& text) const { return problems(facts_, "docs/a.md", text); }

  Facts facts_ = {
      .files = {"README.md", "run.sh", "docs/a.md", "docs/b.md", "convlab/base/error.h", "models/fa19.onnx"},
      .options = {{"", {"-h", "--help"}}, {"run", {"-n", "--images", "--json"}}, {"list", {"--json"}}, {"class", {}}},
      .presets = {"cpu"},
      .cmake = "option(CONVLAB_TESTS)",
      .scripts = "parser.add_argument(\"--table\")"};
};

TEST_F(PlantedDocument, WhatExistsIsFine) {
  EXPECT_THAT(
      check("See `convlab/base/error.h`, `error.h`, `convlab/base/`, `convlab/*/*.h`, `b.md`, `./run.sh -n 3`\n"
            "and [b](b.md), [c](../README.md), [web](https://example.org/x.md). `convlab run fa19 -n\n"
            "1000 --json out.json`, `--images`, `--table`, `convlab COMMAND --help`, `cmake --preset cpu "
            "-DCONVLAB_TESTS=OFF`.\n"
            "```\n$ convlab list models | grep --color fa19\n./run.sh --images 5\nanything/at/all.h\n```\n"
            "`NAME-symbol.json` `DIR/x.txt` `bias/pool` `/usr/share/x.txt` `build/cpu/bin/convlab` `3/4` `<mma.h>`"),
      IsEmpty());
}

TEST_F(PlantedDocument, WhatDoesNotExistIsFound) {
  const auto one = [](const char* what) { return ElementsAre(HasSubstr(what)); };
  EXPECT_THAT(check("`convlab/base/gone.h`"), one("`convlab/base/gone.h` is not there"));
  EXPECT_THAT(check("`src/gone.cc`"), one("src/gone.cc"));
  EXPECT_THAT(check("`convlab/gone`"), one("convlab/gone"));
  EXPECT_THAT(check("`gone/`"), one("gone/"));
  EXPECT_THAT(check("`convlab/*/*.cu`"), one("convlab/*/*.cu"));
  EXPECT_THAT(check("`gone.h`"), one("gone.h"));
  EXPECT_THAT(check("`python3 models/gone.py`"), one("models/gone.py"));
  EXPECT_THAT(check("[here](gone.md)"), one("gone.md"));
  EXPECT_THAT(check("`convlab fly`"), one("`convlab fly` is no command"));
  EXPECT_THAT(check("`convlab run --fast`"), one("`--fast` is no option of convlab run"));
  EXPECT_THAT(check("`convlab list -n 3`"), one("`-n` is no option of convlab list"));
  EXPECT_THAT(check("`convlab run models/gone.onnx`"), one("models/gone.onnx"));
  EXPECT_THAT(check("`--fast`"), one("`--fast` is no option of any command or script"));
  EXPECT_THAT(check("`./run.sh --fast`"), one("`--fast` is no option of convlab run"));
  EXPECT_THAT(check("`./gone.sh`"), one("gone.sh"));
  EXPECT_THAT(check("`cmake --preset fast`"), one("`fast` is no preset"));
  EXPECT_THAT(check("`CONVLAB_FAST`"), one("`CONVLAB_FAST` is in no CMake file"));
  EXPECT_THAT(check("```sh\nbuild/cpu/bin/convlab run --fast\n```\n"), one("--fast"));
  EXPECT_THAT(check("Try\n\n    convlab run --fast\n"), one("--fast"));
}

TEST(Prose, WordsOfADialectAreFound) {
  const TemporaryFolder folder;
  const auto add = [&](const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder.path() / name).parent_path());
    write_file(folder.path() / name, text);
  };
  add("app/good.cc", "// A `lane_pairs` array.\nthrow bad_input(\"{}: expected {} images, got {}\", path, 3, 4);\n");
  add("app/bad.cc", "throw bad_input(\"{} is no number\", text);\nprint(\"in the second cache\");\n");
  add("convlab/long.cc",
      "throw unavailable(\"" + std::string(90, 'x') + "\"\n    \"" + std::string(90, 'y') + "\");\n");
  add("docs/guide/page.md", "The colour of `poison`.\n\n```sh\nby definition\n```\n");
  add("include/convlab/convlab.h", "/* Waits until it is told. */\nint poison;\n");
  add("tests/some_test.cc", "f(\"http://poison\");  // hears of \"poison\"\n");
  add("tests/data/kernel.cu", "// poison\n");
  const std::string result = (folder.path() / "found.txt").string();
  const std::string command =
      fmt::format("python3 '{}' '{}' >'{}'", (source_folder() / "tests/tools/check_prose.py").string(),
                  folder.path().string(), result);
  if (std::system("python3 --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no python3";
  EXPECT_NE(std::system(command.c_str()), 0);
  EXPECT_EQ(text_of(result),
            "app/bad.cc:1: 'is no n': write is not a\n"
            "app/bad.cc:2: 'second cache': write L2\n"
            "convlab/long.cc:1: an error message of 180 characters; at most 160\n"
            "docs/guide/page.md:1: 'colour': write American spelling\n"
            "include/convlab/convlab.h:1: 'is told': write gets, is reported\n"
            "tests/some_test.cc:1: 'hears': write gets, is notified\n"
            "check_prose: 6 findings\n");
}

}  // namespace
}  // namespace convlab
