// Tests Slurm commands and parsing of Slurm's output. Slurm itself is not needed.

#include "convlab/classroom/slurm.h"

#include <gmock/gmock.h>

#include "tests/classroom/class_fixture.h"
#include "tests/support/thrown_errors.h"

namespace convlab::classroom {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Slurm, StatesAreReadAsSqueueAndSacctPrintThem) {
  for (const char* each : {"PENDING\n", "RUNNING\n", "COMPLETING\n", "SUSPENDED"}) {
    EXPECT_EQ(slurm_state(each), SlurmState::going_on) << each;
  }
  for (const char* each : {"COMPLETED\n", "FAILED\n", "CANCELLED by 1000\n", "TIMEOUT\n", "NODE_FAIL\n",
                           "OUT_OF_MEMORY\n", "CANCELLED+\n"}) {
    EXPECT_EQ(slurm_state(each), SlurmState::ended) << each;
  }
  EXPECT_EQ(slurm_state(""), SlurmState::unknown);
  EXPECT_EQ(slurm_state("\n"), SlurmState::unknown);
}

TEST(Slurm, NumbersOfJobs) {
  EXPECT_EQ(slurm_job_id("123\n"), "123");
  EXPECT_EQ(slurm_job_id("123;cluster\n"), "123");
  EXPECT_THAT(error_message(ErrorKind::unavailable, [] { slurm_job_id("Submitted batch job 7\n"); }),
              HasSubstr("expected a job number"));
}

TEST(Slurm, IsAskedForWhatTheAssignmentAllows) {
  Settings settings;
  settings.assignments = {{.name = "fa19", .pack = "fa19", .images = 1}};
  settings.slurm = {.partition = "teaching", .gpus = "1"};
  SomeClass some(settings);
  some.submit("anna");
  some.store->beat("one", "");
  const auto lease = some.store->take("one", "", 10);
  ASSERT_TRUE(lease);
  const std::vector<std::string> arguments =
      sbatch_arguments(*some.folder, some.settings, *lease, "/opt/it's/convlab-class");
  EXPECT_EQ(arguments[0], "sbatch");
  EXPECT_THAT(arguments, AllOf(Contains("--parsable"), Contains("--partition=teaching"), Contains("--gpus=1"),
                               Contains("--time=26"), Contains("--mem=5120M"), Contains(EndsWith("-1-1"))));
  EXPECT_THAT(arguments.back(),
              StartsWith("--wrap='/opt/it'\\''s/convlab-class' judge '" + some.root().string() + "' 1-1; "));
}

TEST(Slurm, ThatIsNotThereIsAnError) {
  if (std::system("command -v sbatch >/dev/null") == 0) GTEST_SKIP() << "Slurm is there";
  SomeClass some;
  some.submit("anna");
  some.store->beat("one", "");
  const auto lease = some.store->take("one", "", 10);
  EXPECT_THAT(error_message(ErrorKind::unavailable,
                            [&] { run_by_slurm(*some.folder, some.settings, *lease, "convlab-class"); }),
              HasSubstr("sbatch"));
}

}  // namespace
}  // namespace convlab::classroom
