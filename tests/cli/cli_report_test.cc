// convlab report as its users call it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/program.h"
#include "tests/source_tree.h"

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
  EXPECT_THAT(made.output, AllOf(HasSubstr(page + ": "), HasSubstr("\nthere    Accuracy"), HasSubstr("(m2.1;"),
                                 HasSubstr("\n         make it with: convlab m3.1 100 --semester sp18 --json ")));
  const std::string html = text_of(page);
  EXPECT_THAT(html, AllOf(HasSubstr("$ time convlab m2.1 100 --semester sp18\nLoading fashion-mnist data... done\n"),
                          HasSubstr("$ time convlab m2.1 10000 --semester sp18"), HasSubstr("maxresident)k"),
                          HasSubstr("<td class=\"number\">0.9063</td>"), HasSubstr("conv2: Conv: 16 maps of 26×26")));
  const nlohmann::json told = nlohmann::json::parse(text_of(json));
  bool own_on_cpu = false;
  for (const auto& each : told["deliverables"]) {
    if (each["what"].get<std::string>().find("(m2.1;") != std::string::npos) own_on_cpu = each["there"];
  }
  EXPECT_TRUE(own_on_cpu);
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
  EXPECT_THAT(complaint({"-o", "/no/such/folder/x.html"}), HasSubstr("-o /no/such/folder/x.html: cannot write"));
  EXPECT_THAT(complaint({"-o", folder.path().string()}), HasSubstr("is a folder"));
  EXPECT_THAT(complaint({"-o", page, "--semester", "fa20"}), HasSubstr("fa20"));
  EXPECT_THAT(complaint({"-o", page, "--from", "gone.json"}), HasSubstr("gone.json"));
  EXPECT_THAT(complaint({"-o", page, "--from", file("a.json", "[{\"kernel\": 1")}),
              AllOf(HasSubstr("a.json: is not JSON, line 1"), HasSubstr("byte")));
  EXPECT_THAT(complaint({"-o", page, "--from", file("b.json", "[{\"kernel\": \"x\"}]")}),
              AllOf(HasSubstr("b.json, entry 0"), HasSubstr("problem")));
  EXPECT_THAT(complaint({"-o", page, "--from", file("c.json", "{}")}), HasSubstr("c.json: holds neither"));
  EXPECT_THAT(complaint({"-o", page, "--data", "/nowhere"}), HasSubstr("/nowhere"));
}

}  // namespace
}  // namespace convlab
