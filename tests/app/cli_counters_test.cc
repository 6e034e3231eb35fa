// Tests profile --device simt --counters: memory access counts without a GPU.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/program_run.h"
#include "tests/support/temporary_folder.h"

namespace convlab {
namespace {

using Json = nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;

bool simt_is_there() { return run_program({"verify", "--device", "simt", "--problem", "c1h4w4_k1r1s1"}).status != 3; }

/// Returns the counts of a kernel or kernel file for one image of fa19, layer by layer.
Json counted(const std::string& kernel) {
  const ProgramRun run = run_program({"profile", "fa19", "-n", "1", "--device", "simt", "--counters", "--plan",
                                      "layers", "--kernel", kernel, "--json", "-"});
  EXPECT_EQ(run.status, 0) << run.complaint;
  return run.status == 0 ? Json::parse(run.output) : Json();
}

/// Adds up a count over all source lines that access one array.
int64_t sum(const Json& kernel, const std::string& array, const std::string& access, const std::string& what) {
  int64_t total = 0;
  for (const Json& line : kernel["lines"]) {
    if (line["array"] == array && line["access"] == access) total += line[what].get<int64_t>();
  }
  return total;
}

/// Returns the path of `convlab new mxnet`'s template with replaced texts.
std::string edited(const TemporaryFolder& folder, const std::vector<std::pair<std::string, std::string>>& edits) {
  const std::string path = (folder.path() / "edited.cuh").string();
  std::filesystem::remove(path);
  EXPECT_EQ(run_program({"new", "mxnet", "-o", path}).status, 0);
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  std::string changed = text.str();
  for (const auto& [from, to] : edits) {
    const size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) changed.replace(at, from.size(), to);
  }
  std::ofstream(path) << changed;
  return path;
}

class CliCounters : public testing::Test {
 protected:
  void SetUp() override {
    if (!simt_is_there()) GTEST_SKIP() << "this build has no simt";
  }
};

// One thread per output, 128 threads per block: the counts follow from the layer's shape.
TEST_F(CliCounters, OfTheFirstRungAreWhatItsShapeSays) {
  const Json result = counted("cuda.basic");
  ASSERT_EQ(result["kernels"].size(), 2u);
  const Json& first = result["kernels"][0];
  const int64_t warps = 12 * (66 * 66 + 31) / 32, terms = 5 * 5;
  EXPECT_EQ(first["layer"], "conv1");
  EXPECT_EQ(first["kernel"], "cuda.basic");
  EXPECT_EQ(first["function"], "convolve_basic");
  EXPECT_EQ(first["flops"], 2 * terms * 12 * 66 * 66);
  EXPECT_EQ(sum(first, "x", "load", "lanes"), terms * 12 * 66 * 66);
  EXPECT_EQ(sum(first, "w", "load", "lanes"), terms * 12 * 66 * 66);
  EXPECT_EQ(sum(first, "y", "store", "lanes"), 12 * 66 * 66);
  EXPECT_EQ(sum(first, "y", "store", "requests"), 12 * ((66 * 66 + 31) / 32));
  EXPECT_EQ(sum(first, "w", "load", "sectors"), sum(first, "w", "load", "requests"));  // all lanes read one address
  EXPECT_LE(sum(first, "x", "load", "requests"), warps * terms);
  EXPECT_EQ(first["memory"]["global"]["store"]["bytes"], 4 * 12 * 66 * 66);
  EXPECT_EQ(result["kernels"][1]["flops"], 2 * 12 * terms * 24 * 29 * 29);
}

// The counts that an H200's hardware counters report for the same layers. docs/measured/counts.md has all of them.
TEST_F(CliCounters, OfATiledRungAreAGpus) {
  const Json first = counted("cuda.shared_tile")["kernels"][0]["memory"];
  EXPECT_EQ(first["global"]["load"]["requests"], 9888 / 2);  // the GPU ran two images
  EXPECT_EQ(first["global"]["load"]["sectors"], 38520 / 2);
  EXPECT_EQ(first["shared"]["load"]["requests"], first["shared"]["load"]["least_wavefronts"]);
}

// Two rows of 16 threads read words 20 apart, which share 4 banks. With padding they are 48 apart and share none.
TEST_F(CliCounters, PaddingTakesBankConflictsAway) {
  const Json before = counted("cuda.shared_tile")["kernels"][0]["memory"]["shared"]["load"];
  const Json after = counted("cuda.padded_tile")["kernels"][0]["memory"]["shared"]["load"];
  EXPECT_EQ(before["requests"], after["requests"]);
  EXPECT_EQ(before["wavefronts"], 3 * before["requests"].get<int64_t>() / 2);  // two per pixel, one per weight
  EXPECT_EQ(after["wavefronts"], after["requests"]);
}

// 35 blocks of four warps with two accumulator tiles each: four products along K, 16 x 16 x 8 multiply-adds each.
TEST_F(CliCounters, ProductsOfFragmentsCount) {
  const Json first = counted("cuda.wmma_tf32")["kernels"][0];
  EXPECT_EQ(first["flops"], 35 * 4 * 2 * 4 * (2 * 16 * 16 * 8));
  EXPECT_GT(sum(first, "tile_x", "load", "requests"), 0);
}

// The cosine table of cuda.fft is initialized in the source text and must still count as constant memory.
TEST_F(CliCounters, ConstantsWithValuesInTheTextAreNoGlobalMemory) {
  const Json result = counted("cuda.fft");
  ASSERT_EQ(result["kernels"].size(), 4u);
  for (const Json& kernel : result["kernels"]) {
    for (const Json& line : kernel["lines"]) {
      if (line["array"] == "kCosine") {
        EXPECT_EQ(line["memory"], "constant");
      }
    }
  }
  EXPECT_EQ(result["kernels"][2]["memory"]["global"]["load"]["requests"],
            756);  // half of an H200's count for 2 images
}

// A line's example shows one request: the offset that each lane accesses.
TEST_F(CliCounters, EachLineHasItsCostliestRequestAsAnExample) {
  const auto example_of = [](const Json& kernel, const std::string& array, const std::string& access) {
    for (const Json& line : kernel["lines"]) {
      if (line["array"] == array && line["access"] == access) return line["example"];
    }
    return Json();
  };
  const Json first = counted("cuda.basic")["kernels"][0];
  const Json y = example_of(first, "y", "store"), w = example_of(first, "w", "load"),
             x = example_of(first, "x", "load");
  ASSERT_EQ(y["offsets"].size(), 32u);
  EXPECT_EQ(y["cost"],
            5);  // 66 x 66 outputs are not a multiple of a sector, so some requests start inside one
  for (size_t lane = 1; lane < 32; ++lane) {
    EXPECT_EQ(y["lanes"][lane], lane);
    EXPECT_EQ(y["offsets"][lane].get<int>() - y["offsets"][lane - 1].get<int>(), 4);
    EXPECT_EQ(w["offsets"][lane], w["offsets"][0]);  // all lanes read the same weight
  }
  EXPECT_EQ(w["offsets"][0], 0);
  std::set<int64_t> sectors;
  for (const Json& offset : x["offsets"]) sectors.insert(offset.get<int64_t>() / 32);
  EXPECT_EQ(x["cost"], sectors.size());

  EXPECT_EQ(counted("cuda.shared_tile")["kernels"], counted("cuda.shared_tile")["kernels"]);
}

// The kernel swaps threadIdx.x and threadIdx.y: right, but slow.
TEST_F(CliCounters, AFileIsCountedLineByLineAndTaught) {
  const TemporaryFolder folder;
  const std::string path =
      edited(folder, {{"TILE_WIDTH + threadIdx.y", "TILE_WIDTH + threadIdx.x"},
                      {"% tiles_across * TILE_WIDTH + threadIdx.x", "% tiles_across * TILE_WIDTH + threadIdx.y"}});
  const ProgramRun run = run_program({"profile", path, "-n", "1", "--device", "simt", "--counters"});
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.output, HasSubstr("1 image of fa19 on simt"));
  EXPECT_THAT(
      run.output,
      ContainsRegex("edited.cuh:[0-9]+: x: uncoalesced access: [0-9.]+ lanes read [0-9.]+ sectors \\([0-9.]+ % used"));
  EXPECT_THAT(run.output, HasSubstr("index the innermost dimension with threadIdx.x"));

  const std::string plain = edited(folder, {});
  const ProgramRun before = run_program({"profile", plain, "-n", "1", "--device", "simt", "--counters"});
  EXPECT_THAT(before.output, testing::Not(HasSubstr("innermost dimension")));
}

TEST_F(CliCounters, WithoutAKernelThePlanSaysWhichOnes) {
  const ProgramRun run = run_program({"profile", "fa17-low", "-n", "1", "--device", "simt", "--counters"});
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.output, HasSubstr("cuda.first_layer"));
}

TEST_F(CliCounters, ColumnsAreExplained) {
  const ProgramRun run =
      run_program({"profile", "fa17-low", "-n", "1", "--device", "simt", "--counters", "--kernel", "cuda.basic"});
  EXPECT_THAT(run.output,
              ContainsRegex("\n  line +array +memory +access +bytes +requests +lanes +sectors +used +ways\n"));
  for (const char* column : {"bytes: ", "requests: ", "lanes: ", "sectors: ", "used: ", "ways: "}) {
    EXPECT_THAT(run.output, HasSubstr(column));
  }
}

TEST_F(CliCounters, OneKernelIsEnough) {
  const TemporaryFolder folder;
  const std::string path = edited(folder, {});
  const ProgramRun run =
      run_program({"profile", path, "--kernel", "cuda.basic", "-n", "1", "--device", "simt", "--counters"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.complaint, HasSubstr("only one kernel is supported"));
  EXPECT_EQ(run_program({"profile", "-n", "1", "--device", "simt", "--counters", "--kernel", "cuda.nothing"}).status,
            2);
}

}  // namespace
}  // namespace convlab
