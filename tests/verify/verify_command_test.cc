// Tests `convlab verify` in this process, so that wrong kernels can be registered, and the program itself for its exit
// statuses.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "app/command.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/device/simt.h"
#include "convlab/kernels/registry.h"
#include "convlab/verify/cases.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace convlab {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

/// Supports single images, and is right except for the last element.
const RegisterConvKernel wrong_kernel{{
    .info = {.name = "test.wrong", .idea = "leave the last element out"},
    .refuses = [](const ConvStep& step, const DeviceCaps&) -> Refusal {
      if (step.problem.n > 1) return "takes one image";
      return refuse_unless_plain(step);
    },
    .launch =
        [](const ConvArgs& args, Stream& stream) {
          const Kernel& reference = require_conv_kernel("cpu.reference", DeviceKind::cpu);
          const float last = args.y[args.step.problem.output_count() - 1];
          call(reference.launch, args, stream);
          args.y[args.step.problem.output_count() - 1] = last;
        },
}};

struct Ran {
  std::string output, complaint;
  int status = 0;
};

Ran ran(const std::string& arguments, const std::string& json_path = "") {
  CLI::App options;
  const app::Action action = app::declare_verify(options);
  Ran result;
  options.parse(arguments);
  testing::internal::CaptureStdout();
  try {
    app::Output output(json_path);
    action(output);
  } catch (const Error& error) {
    result.complaint = error.what();
    result.status = static_cast<int>(error.kind());
  }
  result.output = testing::internal::GetCapturedStdout();
  return result;
}

TEST(VerifyCommand, OneLineACaseAndTheCountLast) {
  const Ran result = ran("--kernel test.wrong --problem n2_c1h4w4_k1r2s2");
  EXPECT_EQ(result.status, 0) << result.complaint;
  EXPECT_EQ(result.output,
            "SKIPPED test.wrong               n2_c1h4w4_k1r2s2: takes one image\n0 passed, 0 failed, 1 skipped\n");
  const Ran reference = ran("--kernel cpu.ref* --problem c1h4w4_k1r2s2 --threads 1");
  EXPECT_EQ(reference.status, 0) << reference.complaint;
  EXPECT_THAT(reference.output, StartsWith("PASSED  cpu.reference            c1h4w4_k1r2s2: relative L2 "));
  EXPECT_THAT(reference.output, HasSubstr("PASSED  cpu.reference            c1h4w4_k1r2s2 bias+relu: relative L2 "));
  EXPECT_THAT(reference.output, HasSubstr("c1h4w4_k1r2s2 uint8: "));
  EXPECT_THAT(reference.output, EndsWith(" passed, 0 failed, 0 skipped\n"));
}

TEST(VerifyCommand, AFailureIsExitStatusOneWithPlaceAndReason) {
  const Ran result = ran("--kernel test.* --problem c1h4w4_k1r2s2");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.output,
              StartsWith("FAILED  test.wrong               c1h4w4_k1r2s2: 1 of 9 outputs is wrong, 1 of them "
                         "never written or NaN from uninitialized memory (nothing writes the element, or only values "
                         "computed from uninitialized memory; first: image 0, output channel 0, row 2, column 2: "));
  EXPECT_THAT(result.output, EndsWith("\n0 passed, 1 failed, 0 skipped\n"));
  EXPECT_EQ(result.complaint, "1 of 1 cases failed");
}

TEST(VerifyCommand, ListsOfShapes) {
  const TemporaryFolder folder;
  const std::string list = (folder.path() / "list.txt").string();
  write_file(list, std::string_view("c1h4w4_k1r2s2\nn2_c1h4w4_k1r2s2 # batch\n"));
  EXPECT_THAT(ran("--kernel test.wrong --shapes " + list).output, EndsWith("\n0 passed, 1 failed, 1 skipped\n"));
  write_file(list, std::string_view("c1h4w4_k1r2s2\nc1h4w4_k1r2s2\n"));
  EXPECT_THAT(ran("--shapes " + list).complaint, HasSubstr("list.txt:2"));
  const Ran missing = ran("--shapes /no/such/list.txt");
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.complaint, HasSubstr("/no/such/list.txt"));
}

TEST(VerifyCommand, WithoutAProblemTheShippedListsAreVerified) {
  const Ran result = ran("--kernel test.wrong");
  size_t problems = 0;
  for (std::string_view list : kDefaultShapes) {
    problems += read_shapes(source_folder() / list).size();
  }
  problems += static_cast<size_t>(std::ranges::count_if(read_steps(source_folder() / kOperatorList), is_conv));
  EXPECT_EQ(static_cast<size_t>(std::count(result.output.begin(), result.output.end(), '\n')), problems + 1);
}

TEST(VerifyCommand, AnyOperator) {
  const Ran softmax = ran("--kernel cpu.* --problem softmax_r4c9");
  EXPECT_EQ(softmax.status, 0) << softmax.complaint;
  EXPECT_THAT(softmax.output, StartsWith("PASSED  cpu.softmax              softmax_r4c9: relative L2 "));
  EXPECT_THAT(softmax.output, EndsWith("\n1 passed, 0 failed, 0 skipped\n")) << "others do not compute it";
  const Ran refused = ran("--kernel cpu.softmax --problem relu_3x4");
  EXPECT_EQ(refused.output,
            "SKIPPED cpu.softmax              relu_3x4: only Softmax and LogSoftmax are supported\n0 passed, 0 failed, "
            "1 skipped\n");
  EXPECT_THAT(ran("--problem softmx_r4c9").complaint, HasSubstr("did you mean 'softmax'?"));
}

TEST(VerifyCommand, CountsByOperators) {
  const TemporaryFolder folder;
  const std::string list = (folder.path() / "list.txt").string();
  write_file(list, std::string_view("c1h4w4_k1r2s2\nsoftmax_r4c9\nrelu_3x4\n"));
  const Ran result = ran("--kernel cpu.* --shapes " + list);
  EXPECT_EQ(result.status, 0) << result.complaint;
  EXPECT_THAT(result.output,
              testing::ContainsRegex("operators +passed +failed +skipped\nconvolution +[0-9]+ +0 +[0-9]+\n"
                                     "softmax +1 +0 +0\nelementwise +[1-9][0-9]* +0 +0\n\n[0-9]+ passed"));
}

TEST(VerifyCommand, JsonSaysTheSame) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "verify.json").string();
  EXPECT_EQ(ran("--kernel test.wrong --problem c1h4w4_k1r2s2", path).status, 1);
  const std::vector<uint8_t> bytes = read_file(path);
  const auto json = nlohmann::json::parse(bytes.begin(), bytes.end());
  EXPECT_EQ(json["failed"], 1);
  EXPECT_EQ(json["passed"], 0);
  EXPECT_EQ(json["cases"][0]["kernel"], "test.wrong");
  EXPECT_EQ(json["cases"][0]["problem"], "c1h4w4_k1r2s2");
  EXPECT_EQ(json["cases"][0]["result"], "FAILED");
  EXPECT_THAT(json["cases"][0]["reason"].get<std::string>(), HasSubstr("image 0, output channel 0, row 2, column 2"));
}

TEST(VerifyCommand, NothingToVerifyIsAnError) {
  const Ran glob = ran("--kernel no.such* --problem c1h4w4_k1r2s2");
  EXPECT_EQ(glob.status, 2);
  EXPECT_THAT(glob.complaint, HasSubstr("no kernel for device cpu matches"));
  const Ran name = ran("--kernel cpu.refrence --problem c1h4w4_k1r2s2");
  EXPECT_EQ(name.status, 2);
  EXPECT_THAT(name.complaint, HasSubstr("did you mean cpu.reference?"));
  EXPECT_EQ(ran("--device toaster").status, 2);
  EXPECT_EQ(ran("--problem c1h4w4").status, 2);
  EXPECT_EQ(ran("--problem c2000000000h2000000000w1_k1r1s1").status, 2);
  EXPECT_THROW(ran("--problem c1h4w4_k1r2s2 --shapes list.txt"), CLI::ParseError);
}

/// Returns the output line of `kernel`, or "".
std::string line_of(const Ran& result, const std::string& kernel) {
  const size_t begin = result.output.find(kernel + " ");
  if (begin == std::string::npos) return "";
  const size_t line = result.output.rfind('\n', begin) + 1;
  return result.output.substr(line, result.output.find('\n', line) - line);
}

// A kernel that throws, traps, hangs or accesses foreign memory fails with its location, and the next kernel still
// runs.
TEST(VerifyCommand, AFaultOnSimtFailsItsCaseAndNoOther) {
  if (!simt_present()) GTEST_SKIP() << "this build has no simt";
  for (const char* threads : {"1", "3"}) {
    const Ran result =
        ran(std::string("--kernel test.simt_* --device simt --problem n2_c3h6w7_k4r3s3 --stuck-after 0.4 "
                        "--threads ") +
            threads);
    SCOPED_TRACE(result.output);
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.output, EndsWith("\n1 passed, 10 failed, 0 skipped\n"));
    EXPECT_THAT(line_of(result, "test.simt_right"), StartsWith("PASSED "));
    EXPECT_THAT(line_of(result, "test.simt_throws_in_launch"), StartsWith("FAILED "));
    const struct {
      const char *kernel, *fault;
    } all[] = {
        {"test.simt_throws", "exception thrown in a kernel: thread "},
        {"test.simt_divides_by_zero", "integer division by zero, or a quotient that does not fit: thread "},
        {"test.simt_loops_for_ever", "no progress for 0.4 s: thread "},
        {"test.simt_waits_for_a_block", "no progress for 0.4 s: thread "},
        {"test.simt_reads_before_x", "reads x[-4000], before the start"},
        {"test.simt_reads_past_w", "reads w[108], past the end (108 elements)"},
        {"test.simt_writes_past_y", "writes y[162], past the end (160 elements)"},
        {"test.simt_writes_x", "writes x[3], but it is read-only"},
        {"test.simt_forgets_atomic", "data race between blocks on global memory 'y': thread "},
    };
    for (const auto& [kernel, fault] : all) {
      const std::string line = line_of(result, kernel);
      EXPECT_THAT(line, StartsWith("FAILED "));
      // With several host threads, a waiting block may first see the other block's write, which is reported as a race.
      if (std::string_view(threads) == "1") {
        EXPECT_THAT(line, HasSubstr(fault));
      }
      EXPECT_THAT(line, testing::ContainsRegex(R"(thread \([0-9]+,0,0\).*, block \([01],0,0\))"));
      EXPECT_THAT(line, testing::ContainsRegex("planted_convolutions.cu:[0-9]+"));
    }
  }
}

TEST(VerifyCommand, StuckAfterTakesSeconds) {
  EXPECT_THROW(ran("--kernel test.wrong --problem n2_c1h4w4_k1r2s2 --stuck-after 0"), Error);
  EXPECT_EQ(ran("--kernel test.wrong --problem n2_c1h4w4_k1r2s2 --stuck-after 5").status, 0);
}

Ran program(const std::string& arguments) {
  FILE* pipe = ::popen(("'" + convlab_program().string() + "' verify " + arguments + " 2>&1").c_str(), "r");
  Ran result;
  char buffer[4096];
  for (size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) result.output.append(buffer, got);
  const int status = ::pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

TEST(VerifyProgram, ExitStatuses) {
  const Ran right = program("--kernel cpu.reference --problem n2_c3h6w6_k4r3s3");
  EXPECT_EQ(right.status, 0);
  EXPECT_THAT(right.output, EndsWith(" passed, 0 failed, 0 skipped\n"));
  EXPECT_EQ(program("--problem rubbish").status, 2);
  EXPECT_EQ(program("--kernel no.such --problem n2_c3h6w6_k4r3s3").status, 2);
  EXPECT_THAT(program("--help").output, HasSubstr("\nExamples:\n  convlab verify"));
}

}  // namespace
}  // namespace convlab
