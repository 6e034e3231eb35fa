// Tests the program's parts: no cycles of many units, no two files of the same name, and none of more than 500 lines.

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "tests/support/paths.h"
#include "tests/support/source_tree.h"

namespace convlab {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::filesystem::path kRoot = source_folder();

bool is_source(const std::filesystem::path& file) {
  return has_ending(file, {".h", ".cuh", ".inc", ".cc", ".cu", ".c", ".cpp"});
}

/// Returns the unit of a file: "convlab/base/text" for text.h, text.cc, text.cuh and text-inl.h there.
std::string unit_of(const std::filesystem::path& file) {
  std::string unit = std::filesystem::path(file).replace_extension().string();
  if (unit.ends_with("-inl")) unit.resize(unit.size() - 4);
  return unit;
}

/// The units that each unit includes.
using Units = std::map<std::string, std::set<std::string>>;

void add_includes(const std::filesystem::path& file, const std::string& text, Units& units) {
  static const std::regex kInclude(R"re((?:^|\n)[ \t]*#[ \t]*include[ \t]*"([^"\n]+)")re");
  std::set<std::string>& included = units[unit_of(file)];
  for (std::sregex_iterator match(text.begin(), text.end(), kInclude), end; match != end; ++match) {
    included.insert(unit_of((*match)[1].str()));
  }
}

/// Finds cycles by Tarjan's algorithm.
class Cycles {
 public:
  explicit Cycles(const Units& units) : units_(units) {
    for (const auto& [unit, included] : units) {
      if (!order_.contains(unit)) visit(unit);
    }
  }

  /// Returns the sets of more than one unit that all include each other, if only through others.
  std::vector<std::set<std::string>> all() const { return cycles_; }

 private:
  /// Returns the first unit, in the order of visits, that the unit reaches and that is on the stack.
  int visit(const std::string& unit) {
    const auto own = static_cast<int>(order_.size());
    order_[unit] = own;
    const size_t below = stack_.size();
    stack_.push_back(unit);
    int first = own;
    for (const std::string& next : units_.at(unit)) {
      if (!units_.contains(next)) continue;
      if (!order_.contains(next)) {
        first = std::min(first, visit(next));
      } else if (std::find(stack_.begin(), stack_.end(), next) != stack_.end()) {
        first = std::min(first, order_[next]);
      }
    }
    if (first != own) return first;
    if (stack_.size() > below + 1) cycles_.emplace_back(stack_.begin() + static_cast<ptrdiff_t>(below), stack_.end());
    stack_.resize(below);
    return first;
  }

  const Units& units_;
  std::map<std::string, int> order_;  // of visits
  std::vector<std::string> stack_;
  std::vector<std::set<std::string>> cycles_;
};

// A reader has to understand the units of a cycle together.
TEST(Units, CyclesAreSmall) {
  Units units;
  for (const char* folder : {"app", "convlab", "library", "python"}) {
    for (const std::filesystem::path& below : files_under(kRoot / folder)) {
      if (is_source(below)) add_includes(folder / below, text_of(kRoot / folder / below), units);
    }
  }
  EXPECT_GT(units.size(), 500u) << "the sources were not found";
  const std::vector<std::set<std::string>> cycles = Cycles(units).all();
  for (const std::set<std::string>& cycle : cycles) {
    EXPECT_LE(cycle.size(), 3u) << testing::PrintToString(cycle);
    const bool in_simt = cycle.begin()->starts_with("convlab/simt/");
    EXPECT_FALSE(in_simt) << "simt has no cycles, but: " << testing::PrintToString(cycle);
  }
}

TEST(Units, PlantedCyclesAreFound) {
  Units units;
  add_includes("a/one.h", "#include <vector>\n\n#include \"a/two.h\"\n", units);
  add_includes("a/one.cc", "#include \"a/one.h\"\n", units);
  add_includes("a/two-inl.h", "  #  include \"a/three.h\"\n", units);
  add_includes("a/three.h", "// #include \"a/four.h\"\n", units);
  add_includes("a/four.h", "#include \"a/one.h\"\n", units);
  EXPECT_THAT(Cycles(units).all(), IsEmpty());
  add_includes("a/three.cc", "#include \"a/four.h\"\n", units);
  EXPECT_THAT(Cycles(units).all(), ElementsAre(ElementsAre("a/four", "a/one", "a/three", "a/two")));
}

// A name that is said, searched for or printed by a tool means one file.
TEST(Units, FilesHaveUniqueNames) {
  std::map<std::string, std::set<std::string>> places;
  for (const char* folder : {"app", "bench", "convlab", "examples", "fuzz", "include", "library", "python", "tests"}) {
    for (const std::filesystem::path& below : files_under(kRoot / folder)) {
      // These replace CUDA's headers and thus have their names; those in tests/exploits and tests/data are inputs.
      const std::string path = (folder / below).string();
      const bool named_by_others = path.starts_with("convlab/kernel_file/simt_include/") ||
                                   path.starts_with("tests/exploits/") || path.starts_with("tests/data/");
      if (is_source(below) && !named_by_others) places[below.filename()].insert(path);
    }
  }
  EXPECT_GT(places.size(), 1000u) << "the sources were not found";
  for (const auto& [name, paths] : places) EXPECT_EQ(paths.size(), 1u) << testing::PrintToString(paths);
}

TEST(Units, FilesHaveAtMost500Lines) {
  int files = 0;
  for (const char* folder : {"app", "bench", "convlab", "fuzz", "library", "python", "tests"}) {
    for (const std::filesystem::path& below : files_under(kRoot / folder)) {
      if (!is_source(below)) continue;
      const std::string text = text_of(kRoot / folder / below);
      EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 500) << folder / below;
      ++files;
    }
  }
  EXPECT_GT(files, 1000) << "the sources were not found";
}

}  // namespace
}  // namespace convlab
