// Runs the CUDA programs of tests/programs, which check themselves, with `convlab cuda run`. In those of
// tests/programs/wrong it must find what their first line says: "// expect: data race on shared memory".

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "convlab/base/file.h"
#include "convlab/device/simt.h"
#include "tests/support/paths.h"
#include "tests/support/program_run.h"

namespace convlab {
namespace {

using testing::HasSubstr;

std::vector<std::string> programs_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(source_folder() / folder)) {
    if (entry.path().extension() == ".cu") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

constexpr const char *kRight = "tests/programs", *kWrong = "tests/programs/wrong";

ProgramRun run_in(const char* folder, const std::string& name, const std::string& checks = "all") {
  return run_program(
      {"cuda", "run", (source_folder() / folder / (name + ".cu")).string(), "--timeout", "60", "--check", checks});
}

class RightProgram : public testing::TestWithParam<std::string> {};

TEST_P(RightProgram, IsRunWithoutFindings) {
  if (!simt_present()) GTEST_SKIP() << "this build has no simt";
  const ProgramRun run = run_in(kRight, GetParam());
  EXPECT_EQ(run.status, 0) << run.output << run.complaint;
  EXPECT_THAT(run.complaint, HasSubstr("convlab: no errors found"));
}

/// Then a block's threads run in a loop that the compiler knows.
TEST_P(RightProgram, IsRightWithoutChecks) {
  if (!simt_present()) GTEST_SKIP() << "this build has no simt";
  const ProgramRun run = run_in(kRight, GetParam(), "none");
  EXPECT_EQ(run.status, 0) << run.output << run.complaint;
}

INSTANTIATE_TEST_SUITE_P(Each, RightProgram, testing::ValuesIn(programs_in(kRight)),
                         [](const auto& info) { return info.param; });

class WrongProgram : public testing::TestWithParam<std::string> {};

TEST_P(WrongProgram, IsFound) {
  if (!simt_present()) GTEST_SKIP() << "this build has no simt";
  const std::string source = read_text(source_folder() / kWrong / (GetParam() + ".cu")), mark = "// expect: ";
  ASSERT_TRUE(source.starts_with(mark)) << "its first line says what to find";
  const ProgramRun run = run_in(kWrong, GetParam());
  EXPECT_EQ(run.status, 1) << run.output << run.complaint;
  EXPECT_THAT(run.complaint, HasSubstr(source.substr(mark.size(), source.find('\n') - mark.size())));
}

INSTANTIATE_TEST_SUITE_P(Each, WrongProgram, testing::ValuesIn(programs_in(kWrong)),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace convlab
