// Tests the order of layers: a file under convlab/ may include only files of its own layer and earlier ones.

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "tests/support/paths.h"
#include "tests/support/source_tree.h"

namespace convlab {
namespace {

using testing::_;
using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;
using testing::UnorderedElementsAre;

const std::filesystem::path kRoot = source_folder();

std::vector<std::string> declared_layers() {
  std::smatch match;
  const std::string text = text_of(kRoot / "cmake/targets.cmake");
  std::vector<std::string> layers;
  if (!std::regex_search(text, match, std::regex(R"(set\(CONVLAB_LAYERS ([a-z0-9_/\s]+)\))"))) return layers;
  std::istringstream words(match[1].str());
  for (std::string word; words >> word;) layers.push_back(word);
  return layers;
}

/// Returns the layer's position in the order, or -1 if there is none. app, library, tests, fuzz and bench are above all
/// layers.
int height(const std::filesystem::path& path, const std::vector<std::string>& layers) {
  auto part = path.begin();
  const std::string top = part->string();
  const auto count = static_cast<int>(layers.size());
  if (top == "app" || top == "library") return count;
  if (top == "tests" || top == "fuzz" || top == "bench") return count + 1;
  if (top != "convlab") return -1;
  const std::string folder = path.parent_path().lexically_relative("convlab");
  const auto layer = std::find(layers.begin(), layers.end(), folder);
  return layer == layers.end() ? -1 : static_cast<int>(layer - layers.begin());
}

/// Returns the include errors in a file's text, one line each.
std::vector<std::string> violations(const std::filesystem::path& file, const std::string& text,
                                    const std::vector<std::string>& layers) {
  std::vector<std::string> wrong;
  const int own = height(file, layers);
  if (own < 0) wrong.push_back(file.string() + " lies in no layer of CONVLAB_LAYERS");
  static const std::regex kInclude(R"re(^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">])re");
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::smatch match;
    if (!std::regex_search(line, match, kInclude)) continue;
    const std::filesystem::path included = match[2].str();
    const std::string where = file.string() + ":" + std::to_string(number) + ": " + included.string();
    const int other = height(included, layers);
    const bool is_public = std::filesystem::exists(kRoot / "include" / included);
    if (included.begin()->string() == "convlab" && other < 0 && !is_public) wrong.push_back(where + " is in no layer");
    if (other > own) wrong.push_back(where + " is above its includer");
    const bool beside = std::filesystem::exists(kRoot / file.parent_path() / included);
    if (other < 0 && match[1] == "\"" && beside) wrong.push_back(where + " is not named by its full path");
  }
  return wrong;
}

TEST(Layers, AreDeclared) {
  const std::vector<std::string> layers = declared_layers();
  ASSERT_GE(layers.size(), 5u);
  EXPECT_EQ(layers.front(), "base");
}

TEST(Layers, EveryIncludePointsToItsOwnOrAnEarlierLayer) {
  const std::vector<std::string> layers = declared_layers();
  int files = 0;
  for (const char* folder : {"convlab", "app", "library"}) {
    for (const std::filesystem::path& below : files_under(kRoot / folder)) {
      if (!has_ending(below, {".h", ".cuh", ".cc", ".cu", ".inc"})) continue;
      const std::filesystem::path file = folder / below;
      // The prologs and headers of kernel files are not part of the program.
      if (file.parent_path().string().starts_with("convlab/kernel_file/")) continue;
      EXPECT_THAT(violations(file, text_of(kRoot / file), layers), IsEmpty());
      ++files;
    }
  }
  EXPECT_GT(files, 40) << "the sources were not found";
}

/// Returns the includes of an engine's headers in a file's text, except the options.
std::vector<std::string> engines_in(const std::string& text) {
  static const std::regex kEngine(R"re(#[ \t]*include[ \t]*["<](convlab/engine/[^">]+)[">])re");
  std::vector<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), kEngine), end; match != end; ++match) {
    if ((*match)[1] != "convlab/engine/engine_options.h") found.push_back((*match)[1]);
  }
  return found;
}

// Loading, converting, page-locking and timing are in convlab/session, once.
TEST(Layers, OnlyTheSessionRunsEngines) {
  for (const char* folder : {"app", "library", "python", "convlab/profile", "convlab/report"}) {
    for (const std::filesystem::path& below : files_under(kRoot / folder)) {
      if (!has_ending(below, {".h", ".cc"})) continue;
      EXPECT_THAT(engines_in(text_of(kRoot / folder / below)), IsEmpty()) << (folder / below);
    }
  }
  EXPECT_THAT(engines_in("#include \"convlab/engine/engine_options.h\"\n#include \"convlab/engine/engine.h\"\n"),
              ElementsAre("convlab/engine/engine.h"));
}

/// Returns the lines with a text that names an option of the command line, as "--batch".
std::vector<std::string> options_in(const std::filesystem::path& file) {
  static const std::regex kComment(R"(^\s*//.*|//[^"]*$)"), kOption(R"re("([^"]*[^-a-z])?--[a-z])re");
  std::vector<std::string> found;
  std::istringstream lines(text_of(kRoot / file));
  for (std::string line; std::getline(lines, line);) {
    line = std::regex_replace(line, kComment, "");
    const bool command = line.find("./run.sh") != std::string::npos;  // to be typed as it is
    if (std::regex_search(line, kOption) && !command) found.push_back(file.string() + ": " + line);
  }
  return found;
}

// Programs that call the library in C, C++ or Python have no command line.
TEST(Layers, MessagesThatReachTheLibraryNameNoOptions) {
  int files = 0;
  for (const char* room : {"base", "diagnostics", "tensor", "conv", "device", "model", "kernels", "rewrite", "plan",
                           "engine", "session"}) {
    const std::filesystem::path folder = std::filesystem::path("convlab") / room;
    for (const std::filesystem::path& below : files_under(kRoot / folder)) {
      if (!has_ending(below, {".h", ".cc", ".cu"})) continue;
      EXPECT_THAT(options_in(folder / below), IsEmpty());
      ++files;
    }
  }
  EXPECT_GT(files, 40) << "the sources were not found";
  EXPECT_THAT(options_in("app/results/output.cc"), SizeIs(1)) << "--json is one";
}

/// Returns the files that include this header.
std::vector<std::string> includers(const std::string& header, std::initializer_list<const char*> folders) {
  std::vector<std::string> files;
  for (const char* folder : folders) {
    for (const std::filesystem::path& below : files_under(kRoot / folder)) {
      if (!has_ending(below, {".h", ".cuh", ".cc", ".cu", ".inc"})) continue;
      const bool includes = text_of(kRoot / folder / below).find("#include <" + header + ">") != std::string::npos;
      if (includes) files.push_back(folder / below);
    }
  }
  return files;
}

// Headers that cost seconds of compile time may be included in few files only.
TEST(Layers, FewFilesReadLargeHeaders) {
  EXPECT_THAT(includers("CLI/CLI.hpp", {"app", "convlab"}),
              UnorderedElementsAre("app/command_line.cc", "app/option_parsers.cc"));
  EXPECT_THAT(includers("nlohmann/json.hpp", {"app", "convlab"}), Each(EndsWith(".cc")));
  std::vector<std::string> of_app = includers("nlohmann/json.hpp", {"app"});
  std::erase_if(of_app, [](const std::string& file) { return file.starts_with("app/class/"); });  // another program
  EXPECT_THAT(of_app, UnorderedElementsAre(
                          "app/cuda/cuda_command.cc", "app/guests/file_report.cc", "app/guests/file_trial.cc",
                          "app/guests/judge_file.cc", "app/guests/measure_variants.cc", "app/guests/prove_files.cc",
                          "app/guests/variants.cc", "app/guests/verify_files.cc", "app/results/ablation_json.cc",
                          "app/results/bench_results.cc", "app/results/compare_json.cc", "app/results/counts_json.cc",
                          "app/results/explain_json.cc", "app/results/predict_json.cc", "app/results/profile_json.cc",
                          "app/results/results_json.cc", "app/results/run_json.cc", "app/results/stream_json.cc",
                          "app/results/tune_json.cc", "app/runs/whole_run.cc", "app/shards/joined.cc",
                          "app/shards/merged.cc", "app/shards/share.cc"));
}

/// Returns the constants that a header's text defines.
std::vector<std::string> constants_of(const std::string& text) {
  static const std::regex kConstant(R"((?:^|\n)inline constexpr [\w:<>, ]*\b(k[A-Z]\w*)(?: = |\[|\{))");
  std::vector<std::string> constants;
  for (std::sregex_iterator match(text.begin(), text.end(), kConstant), end; match != end; ++match) {
    constants.push_back((*match)[1].str());
  }
  return constants;
}

// If two headers define constants of the same name, the linker keeps one of them for all code.
TEST(Layers, AConstantHasItsValueFromOneHeader) {
  std::map<std::string, std::set<std::string>> all;  // headers, by name
  for (const char* folder : {"convlab", "app", "tests", "bench", "fuzz"}) {
    for (const std::filesystem::path& below : files_under(kRoot / folder)) {
      if (!has_ending(below, {".h", ".cuh"})) continue;
      for (const std::string& name : constants_of(text_of(kRoot / folder / below))) all[name].insert(folder / below);
    }
  }
  EXPECT_GT(all.size(), 40u) << "the constants were not found";
  EXPECT_THAT(all, Each(Pair(_, SizeIs(1))));
}

TEST(Layers, PlantedFaultsAreFound) {
  const std::vector<std::string> layers = {"base", "tensor", "model"};
  const auto check = [&](const char* file, const char* text) { return violations(file, text, layers); };
  EXPECT_THAT(check("convlab/tensor/a.h", "#pragma once\n#include \"convlab/base/b.h\"\n#include <vector>\n"),
              IsEmpty());
  EXPECT_THAT(check("convlab/tensor/a.h", "\n#include \"convlab/model/graph.h\"\n"),
              ElementsAre(HasSubstr("convlab/tensor/a.h:2: convlab/model/graph.h is above")));
  EXPECT_THAT(check("convlab/tensor/a.h", "  #  include <convlab/model/graph.h>\n"),
              ElementsAre(HasSubstr("is above")));
  EXPECT_THAT(check("convlab/model/a.h", "#include \"app/results/output.h\"\n"), ElementsAre(HasSubstr("is above")));
  EXPECT_THAT(check("app/a.cc", "#include \"tests/support/thrown_errors.h\"\n"), ElementsAre(HasSubstr("is above")));
  EXPECT_THAT(check("convlab/model/a.h", "#include \"convlab/odd/b.h\"\n"), ElementsAre(HasSubstr("is in no layer")));
  EXPECT_THAT(check("convlab/odd/a.h", ""), ElementsAre(HasSubstr("lies in no layer")));
  EXPECT_THAT(check("convlab/base/a.h", "#include \"error.h\"\n"), ElementsAre(HasSubstr("full path")));
  EXPECT_THAT(constants_of("inline constexpr int kA = 1;\ninline constexpr std::array<int, 2> kB{1, 2};\n"),
              ElementsAre("kA", "kB"));
}

}  // namespace
}  // namespace convlab
