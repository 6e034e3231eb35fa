// Tests that every command runs a kernel file on the network of the file's semester unless the user names another.

#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/paths.h"
#include "tests/support/program_run.h"
#include "tests/support/temporary_folder.h"

namespace convlab {
namespace {

using Json = nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kFirstOfSp25 = "c1h86w86_k4r7s7";
constexpr const char* kFirstOfFa19 = "c1h70w70_k12r5s5";

class DefaultModel : public testing::Test {
 protected:
  void SetUp() override {
    if (run_program({"verify", "--device", "simt", "--problem", "c1h4w4_k1r1s1"}).status == 3) {
      GTEST_SKIP() << "this build has no simt";
    }
  }

  /// Returns a file of this kind: see `convlab new`.
  std::string make(const std::string& kind) const {
    const std::string path = (folder_.path() / (kind + ".cu")).string();
    EXPECT_EQ(run_program({"new", kind, "-o", path}).status, 0);
    return path;
  }

  /// Runs a command on simt.
  static std::string output_of(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--device", "simt", "-n", "1"});
    const ProgramRun run = run_program(arguments);
    EXPECT_EQ(run.status, 0) << run.complaint;
    return run.output;
  }
  static std::string model_of_run(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--json", "-"});
    return Json::parse(output_of(std::move(arguments))).at("model").get<std::string>();
  }

  const TemporaryFolder folder_;
};

TEST_F(DefaultModel, IsThatOfTheFilesSemester) {
  const std::string file = make("minidnn");
  EXPECT_EQ(model_of_run({"run", file}), "sp25");
  EXPECT_EQ(model_of_run({"run", "--kernel", file}), "sp25");
  EXPECT_THAT(output_of({"profile", "--kernel", file, "--counters"}), HasSubstr("of sp25 on simt"));
  EXPECT_THAT(output_of({"bench", "--kernel", "cuda.basic", "--against", file, "--seconds", "0.01"}),
              HasSubstr(kFirstOfSp25));
  EXPECT_THAT(output_of({"predict", file, "--from", "cuda.basic"}), HasSubstr(kFirstOfSp25));
}

TEST_F(DefaultModel, IsFa19ForFilesWithoutASemester) {
  EXPECT_EQ(model_of_run({"run", "--kernel", make("function")}), "fa19");
}

TEST_F(DefaultModel, YieldsToTheUsers) {
  const std::string file = make("minidnn");
  EXPECT_EQ(model_of_run({"run", "fa19", "--kernel", file}), "fa19");
  EXPECT_THAT(output_of({"bench", file, "--model", "fa19", "--seconds", "0.01"}),
              AllOf(HasSubstr(kFirstOfFa19), Not(HasSubstr(kFirstOfSp25))));
}

}  // namespace
}  // namespace convlab
