// Tests convlab ablate: kernel files with switches and groups of kernels, timed on the CPU and counted on simt.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "convlab/base/file.h"
#include "convlab/device/simt.h"
#include "tests/support/own_cache.h"
#include "tests/support/paths.h"
#include "tests/support/program_run.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::ordered_json;

constexpr const char* kProblem = "n2_c2h9w9_k4r3s3";

/// Returns a CPU kernel file with a line before the loops and this line as its innermost accumulation.
std::string function_with(const std::string& before, const std::string& sum) {
  return before +
         "\nvoid convolve(const float* x, const float* w, float* y, int N, int C, int H, int W, int K, int R, int S) "
         "{\n"
         "  const int P = H - R + 1, Q = W - S + 1;\n"
         "  for (int i = 0; i < N * K * P * Q; ++i) {\n"
         "    const int q = i % Q, p = i / Q % P, k = i / Q / P % K, n = i / Q / P / K;\n"
         "    float sum = 0;\n"
         "    for (int c = 0; c < C; ++c)\n"
         "      for (int r = 0; r < R; ++r)\n"
         "        for (int s = 0; s < S; ++s)\n" +
         sum +
         "\n    y[i] = sum;\n"
         "  }\n"
         "}\n";
}

constexpr const char* kRightSum = "sum += x[((n * C + c) * H + p + r) * W + q + s] * w[((k * C + c) * R + r) * S + s];";

class Ablate : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  std::string write(const std::string& name, const std::string& text) const {
    write_file(path(name), text);
    return path(name);
  }

  std::string read(const std::string& name) const {
    const std::vector<uint8_t> bytes = read_file(path(name));
    return {bytes.begin(), bytes.end()};
  }

  /// Runs `convlab ablate` on a small problem.
  ProgramRun ablate(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "ablate");
    for (const char* more : {"--problem", kProblem, "--seconds", "0.05", "--json"}) arguments.emplace_back(more);
    arguments.push_back(path("ablation.json"));
    return run_program(arguments);
  }

  Json result() const { return Json::parse(read("ablation.json")); }

  TemporaryFolder folder_;
  OwnCache cache_{folder_.path() / "cache"};
};

TEST_F(Ablate, TimesEachSubsetOfSwitchesInterleaved) {
  const std::string file =
      write("mine.cc", function_with("#ifdef WITH_SLEEP  // it wastes time\n"
                                     "static volatile int wasted;\n"
                                     "static void waste() { for (int i = 0; i < 3000; ++i) wasted = i; }\n"
                                     "#else\nstatic void waste() {}\n#endif\n"
                                     "#ifndef WITH_NOTHING\n#define WITH_NOTHING 0 // nothing\n#endif\n",
                                     std::string("          waste(), ") + kRightSum));
  const ProgramRun run = ablate({file, "-o", path("picture.svg")});
  ASSERT_EQ(run.status, 0) << run.complaint;
  const Json json = result();
  EXPECT_EQ(json["switches"][0]["what"], "it wastes time");
  EXPECT_EQ(json["switches"][1]["what"], "nothing");
  std::vector<std::string> labels;
  std::set<size_t> rounds;
  for (const Json& variant : json["variants"]) {
    labels.push_back(variant["variant"]);
    EXPECT_EQ(variant["verdict"], "PASSED");
    rounds.insert(variant["hot_ms"]["samples"].size());
  }
  EXPECT_EQ(labels, (std::vector<std::string>{"none", "WITH_SLEEP", "WITH_NOTHING", "all"}));
  EXPECT_EQ(rounds.size(), 1U) << "each has as many samples";
  EXPECT_GE(*rounds.begin(), 10U);
  const Json& effects = json["figures"][0]["effects"];
  EXPECT_LT(effects[0]["alone"]["times"], 0.5);
  EXPECT_LT(effects[0]["left_out"]["times"], 0.5);
  EXPECT_THAT(effects[0]["effect"], AnyOf("HURTS", "UNDECIDED"));  // on a busy machine the result may be undecided
  EXPECT_NE(json["figures"][0]["multiplied"]["times"], nullptr);
  EXPECT_GT(json["machine"]["threads"], 0);
  EXPECT_THAT(run.output, AllOf(HasSubstr("left out"), HasSubstr("product of the gains alone")));
  if (json.contains("code_of")) {
    EXPECT_THAT(json["switches"][1]["code"], HasSubstr("same machine code"));
    EXPECT_EQ(json["switches"][0]["code"], "different machine code");
  }
  EXPECT_THAT(read("picture.svg"), AllOf(HasSubstr("<svg "), HasSubstr(">WITH_SLEEP<"), HasSubstr("class=\"end\"")));
}

TEST_F(Ablate, KernelsOfAnyOperator) {
  const auto ablate = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"ablate", "--seconds", "0.05"});
    return run_program(arguments);
  };
  const ProgramRun run =
      ablate({"cpu.gemm", "cpu.dense", "--problem", "gemm_m64n64k64", "--json", path("ablation.json")});
  ASSERT_EQ(run.status, 0) << run.complaint;
  const Json json = result();
  EXPECT_EQ(json["problem"], "gemm_m64n64k64");
  for (const Json& variant : json["variants"]) EXPECT_EQ(variant["verdict"], "PASSED");
  EXPECT_THAT(ablate({"cpu.gemm", "cpu.dense", "--problem", "gemm_m64n64k64", "-n", "2"}).complaint,
              HasSubstr("-n: only for convolutions, got gemm_m64n64k64"));
  const std::string file = write("mine.cc", function_with("", kRightSum));
  EXPECT_THAT(ablate({"cpu.gemm", file, "--problem", "gemm_m64n64k64"}).complaint,
              HasSubstr("mine.cc: kernel files compute convolutions, not gemm_m64n64k64"));
}

TEST_F(Ablate, EverySubsetTellsMainEffectsAndPairs) {
  const std::string file =
      write("mine.cc", function_with("#if defined(WITH_A) || defined(WITH_B) || defined(WITH_C)\n#endif", kRightSum));
  ASSERT_EQ(ablate({file, "--all", "--no-code"}).status, 0);
  const Json json = result();
  EXPECT_EQ(json["variants"].size(), 8U);
  EXPECT_TRUE(json["figures"][0]["effects"][2].contains("on_average"));
  EXPECT_EQ(json["figures"][0]["pairs"].size(), 3U);
}

TEST_F(Ablate, AWrongVariantIsShownAndNotTimed) {
  const std::string file =
      write("mine.cc", function_with("#ifdef WITH_FAULT\nconst int fault = 1;\n#else\nconst int fault = 0;\n"
                                     "#endif\n#ifdef WITH_RIGHT\n#endif\n",
                                     std::string("          sum += fault, ") + kRightSum));
  const ProgramRun run = ablate({file, "--no-code"});
  EXPECT_EQ(run.status, 1) << run.complaint;
  const Json json = result();
  EXPECT_EQ(json["variants"][1]["verdict"], "FAILED");
  EXPECT_FALSE(json["variants"][1].contains("hot_ms"));
  EXPECT_TRUE(json["variants"][2].contains("hot_ms"));
  EXPECT_EQ(json["figures"][0]["effects"][0]["effect"], "UNKNOWN");
  EXPECT_THAT(run.output, ContainsRegex("WITH_FAULT +FAILED: "));
  EXPECT_THAT(run.complaint, HasSubstr("2 of 4 variants are wrong"));
}

TEST_F(Ablate, AVariantThatEndsItsProcessIsWrong) {
  const std::string file = write(
      "mine.cc", function_with("#include <cstdlib>\n",
                               std::string("#ifdef WITH_END\nr > 0 ? std::exit(0) : void(),\n#endif\n") + kRightSum));
  EXPECT_EQ(ablate({file, "--no-code"}).status, 1);
  EXPECT_TRUE(result()["variants"][0].contains("hot_ms"));
  EXPECT_THAT(std::string(result()["variants"][1]["reason"]), HasSubstr("exit(0)"));
}

TEST_F(Ablate, AVariantThatDoesNotCompileIsNamedAndTheOthersGoOn) {
  const std::string file =
      write("mine.cc", function_with("#ifdef WITH_TYPO\nint typo = nobody_knows;\n#endif\n", kRightSum));
  const ProgramRun run = ablate({file, "--no-code"});
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_EQ(result()["variants"][1]["verdict"], "NOT_COMPILED");
  EXPECT_THAT(run.output, AllOf(ContainsRegex("all +NOT_COMPILED"), HasSubstr("mine.cc:2"), HasSubstr("nobody_knows")));
  EXPECT_TRUE(result()["variants"][0].contains("hot_ms"));

  const std::string hopeless =
      write("hopeless.cc", function_with("#ifdef WITH_A\n#endif\nint typo = nobody_knows;\n", kRightSum));
  const ProgramRun nothing = ablate({hopeless});
  EXPECT_EQ(nothing.status, 2) << nothing.complaint;
  EXPECT_THAT(nothing.complaint, HasSubstr("none of the 2 variants"));
}

TEST_F(Ablate, SeveralKernelsAreComparedWithTheFirst) {
  const std::string file = write("mine.cc", function_with("", kRightSum));
  const ProgramRun run = ablate({"cpu.reference", "cpu.direct", file, "--together", file});
  ASSERT_EQ(run.status, 0) << run.complaint;
  const Json json = result();
  EXPECT_EQ(json["variants"].size(), 3U);
  EXPECT_EQ(json["figures"][0]["effects"][0]["name"], "cpu.direct");
  EXPECT_TRUE(json["figures"][0].contains("together"));
  EXPECT_THAT(run.output, AllOf(HasSubstr("against first"), HasSubstr("product of the gains alone: ")));
}

TEST_F(Ablate, BadInputIsNamed) {
  const auto expect = [&](const std::vector<std::string>& arguments, int status, const std::string& what) {
    const ProgramRun run = ablate(arguments);
    EXPECT_EQ(run.status, status) << run.complaint;
    EXPECT_THAT(run.complaint, HasSubstr(what));
  };
  const std::string plain = write("plain.cc", function_with("", kRightSum));
  std::string many;
  for (int i = 0; i < 11; ++i) many += "#ifdef WITH_" + std::to_string(i) + "\n#endif\n";
  const std::string crowded = write("crowded.cc", function_with(many, kRightSum));
  const std::string fixed = write("fixed.cc", function_with("#define WITH_A 1\n#if WITH_A\n#endif\n", kRightSum));
  expect({plain}, 2, "no switches found");
  expect({crowded}, 2, "11 switches");
  expect({fixed}, 2, "fixed.cc:1: WITH_A cannot be switched because the file defines it");
  expect({"cpu.direct"}, 2, "only one kernel given");
  expect({"cpu.direct", "cpu.dirct"}, 2, "cpu.direct");
  expect({"cpu.direct", "cpu.direct"}, 2, "twice");
  expect({"cpu.direct", "cpu.reference", "--all"}, 2, "--all");
  expect({"cpu.direct", "cpu.reference", "--together", "cpu.lanes"}, 2, "--together cpu.lanes");
  expect({crowded, "--all"}, 2, "at most 5");
  expect({write("one.cc", function_with("#ifdef WITH_A\n#endif\n", kRightSum)), "--device", "simt"}, 2, "for CPUs");
  expect({path("gone.cc")}, 2, "gone.cc");
}

/// Ablation on simt of the shipped files. Every subset of switches must be right.
class AblateOnSimt : public Ablate {
 protected:
  void SetUp() override {
    if (!simt_present()) GTEST_SKIP() << how_to_get_simt();
  }

  /// Returns the counts by variant.
  std::map<std::string, Json> counts_of(const std::string& file) const {
    const ProgramRun run = ablate({source_folder().string() + "/" + file, "--device", "simt", "--no-code"});
    EXPECT_EQ(run.status, 0) << run.output << run.complaint;
    std::map<std::string, Json> counts;
    const Json json = result();
    for (const Json& variant : json["variants"]) counts[variant["variant"]] = variant["counts"];
    return counts;
  }
};

TEST_F(AblateOnSimt, CountsTheCoursesTechniques) {
  std::map<std::string, Json> counts = counts_of("bench/techniques.cu");
  EXPECT_EQ(counts.size(), 12U);
  const auto value = [&](const std::string& variant, const char* name) { return counts[variant][name].get<int64_t>(); };
  EXPECT_LT(value("WITH_TILE", "global sectors"), value("none", "global sectors"));
  EXPECT_GT(value("WITH_TILE", "shared wavefronts"), 0);
  EXPECT_EQ(value("none", "shared wavefronts"), 0);
  EXPECT_GT(value("WITH_CONSTANT", "constant wavefronts"), 0);
  EXPECT_LT(value("WITH_MAPS", "requests"), value("none", "requests"));
  EXPECT_EQ(value("WITH_RESTRICT", "requests"), value("none", "requests"));
}

TEST_F(AblateOnSimt, CountsBeliefs) {
  std::map<std::string, Json> counts = counts_of("bench/beliefs.cu");
  EXPECT_EQ(counts["WITH_PRE_INCREMENT"], counts["none"]);
  EXPECT_NE(counts["WITH_CONSTANT"], counts["none"]);
}

TEST_F(AblateOnSimt, CountsSeveralKernelsOfTheLadder) {
  const ProgramRun run = ablate({"cuda.basic", "cuda.shared_tile", "--device", "simt"});
  ASSERT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.output, ContainsRegex("cuda.shared_tile +from 0 +more"));
}

}  // namespace
}  // namespace convlab
