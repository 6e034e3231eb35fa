// Tests convlab report from the command line.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/program_run.h"
#include "tests/support/source_tree.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(CliReport, MakesAPageOfWhatTheCpuDoesAndSaysWhatIsMissing) {
  const TemporaryFolder folder;
  const std::string page = (folder.path() / "report.html").string(), json = (folder.path() / "report.json").string(),
                    run = (folder.path() / "run.json").string();
  ASSERT_EQ(run_program({"m2.1", "100", "--semester", "sp18", "--json", run}).status, 0);
  const ProgramRun made = run_program({"report", "-o", page, "--semester", "sp18", "--from", run, "--json", json});
  ASSERT_EQ(made.status, 0) << made.complaint;
  EXPECT_THAT(made.complaint, IsEmpty());
  EXPECT_THAT(made.output, AllOf(HasSubstr(page + ": "), HasSubstr("\npresent  Accuracy"), HasSubstr("(m2.1;"),
                                 HasSubstr("\n         to create it: convlab m3.1 100 --semester sp18 --json "),
                                 HasSubstr("\nThen add the files that these commands write: convlab report -o " + page +
                                           " --semester sp18 --from " + run + " *.json\n")));
  const std::string html = text_of(page);
  EXPECT_THAT(html,
              AllOf(HasSubstr("$ time convlab m2.1 100 --semester sp18\nLoading fashion-mnist data... done\n"),
                    HasSubstr("$ time convlab m2.1 10000 --semester sp18"), HasSubstr("maxresident)k"),
                    HasSubstr("<td class=\"number\">0.9063</td>"), HasSubstr("conv2: Conv: 16 feature maps of 26×26")));
  const nlohmann::json told = nlohmann::json::parse(text_of(json));
  bool own_on_cpu = false;
  for (const auto& each : told["deliverables"]) {
    if (each["what"].get<std::string>().find("(m2.1;") != std::string::npos) own_on_cpu = each["there"];
  }
  EXPECT_TRUE(own_on_cpu);
}

TEST(CliReport, IsAboutTheKernelFilesThatAreGiven) {
  if (run_program({"verify", "--device", "simt", "--problem", "c1h4w4_k1r1s1"}).status == 3) {
    GTEST_SKIP() << "this build has no simt";
  }
  const TemporaryFolder folder;
  const auto in_folder = [&](const char* name) { return (folder.path() / name).string(); };
  const std::string right = in_folder("right.cuh"), wrong = in_folder("wrong.cuh"), page = in_folder("report.html");
  ASSERT_EQ(run_program({"new", "mxnet", "-o", right}).status, 0);
  std::string text = text_of(right);
  text.replace(text.find("sum +="), 6, "sum -=");
  write_file(wrong, text);
  const ProgramRun run = run_program({"m2.1", "100", "--json", in_folder("run.json")});
  const ProgramRun made =
      run_program({"report", "--kernel", right, wrong, "-o", page, "--from", in_folder("run.json")});
  ASSERT_EQ(made.status, 0) << made.complaint;
  EXPECT_THAT(made.output,
              AllOf(HasSubstr("present  " + right + ": passing verdict"), HasSubstr("present  " + right + ": counters"),
                    HasSubstr("present  " + right + ": lanes by sectors"),
                    HasSubstr("missing  " + wrong + ": passing verdict of 'convlab verify' (now FAILED)")));
  EXPECT_THAT(made.output, HasSubstr("to create it: convlab m3.1 10000 --kernel " + right + " --json "));
  const std::string html = text_of(page);
  EXPECT_THAT(html, AllOf(HasSubstr("<title>right.cuh, wrong.cuh: convolutions of fa19</title>"),
                          HasSubstr("<strong>1 of 2</strong>"), HasSubstr("Correctness: 1.0 Model: ece408"),
                          HasSubstr("possibly the sign is wrong"), HasSubstr("lanes by sectors, right.cuh:29"),
                          HasSubstr("right.cuh:29</strong> most sectors"), HasSubstr("Write here: ")));
  // 99 % of the sectors come from the line of the accumulation.
  EXPECT_THAT(html, testing::ContainsRegex("class=\"cost\">99 %</span><span class=\"place\">29</span>"));
}

TEST(CliReport, BadInputNamesFileAndPlace) {
  const TemporaryFolder folder;
  const std::string page = (folder.path() / "report.html").string();
  const auto complaint = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "report");
    const ProgramRun run = run_program(arguments);
    EXPECT_EQ(run.status, 2) << run.complaint;
    EXPECT_THAT(run.output, IsEmpty());
    EXPECT_FALSE(std::filesystem::exists(page));
    return run.complaint;
  };
  const auto file = [&](const char* name, std::string_view text) {
    write_file(folder.path() / name, text);
    return (folder.path() / name).string();
  };
  EXPECT_THAT(complaint({}), HasSubstr("--output"));
  EXPECT_THAT(complaint({"-o", "/no/such/folder/x.html"}), HasSubstr("-o: cannot write /no/such/folder/x.html"));
  EXPECT_THAT(complaint({"-o", folder.path().string()}), HasSubstr("is a directory"));
  EXPECT_THAT(complaint({"-o", page, "--semester", "fa20"}), HasSubstr("fa20"));
  EXPECT_THAT(complaint({"-o", page, "--from", "gone.json"}), HasSubstr("gone.json"));
  EXPECT_THAT(complaint({"-o", page, "--from", file("a.json", "[{\"kernel\": 1")}),
              AllOf(HasSubstr("a.json: invalid JSON at line 1"), HasSubstr("byte")));
  EXPECT_THAT(complaint({"-o", page, "--from", file("b.json", "[{\"kernel\": \"x\"}]")}),
              AllOf(HasSubstr("b.json, entry 0"), HasSubstr("problem")));
  EXPECT_THAT(complaint({"-o", page, "--from", file("c.json", "{}")}), HasSubstr("c.json: not a file for a report"));
  EXPECT_THAT(complaint({"-o", page, "--data", "/nowhere"}), HasSubstr("/nowhere"));
  EXPECT_THAT(complaint({"-o", page, "--kernel", "gone.cuh"}), HasSubstr("gone.cuh"));
  EXPECT_THAT(complaint({"-o", page, "--kernel", file("main.cu", "int main() {}")}),
              HasSubstr("main.cu: not a kernel file"));
  EXPECT_THAT(complaint({"-o", page, "--baseline", "cuda.basic"}), HasSubstr("--baseline cuda.basic needs --kernel"));
}

}  // namespace
}  // namespace convlab
