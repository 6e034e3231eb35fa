#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "convlab/base/file.h"
#include "convlab/device/simt.h"
#include "tests/support/own_cache.h"
#include "tests/support/program_run.h"

namespace convlab {

using Json = nlohmann::ordered_json;

/// A temporary folder for kernel files, with its own cache.
class KernelFiles : public testing::Test {
 protected:
  void SetUp() override {
    if (!simt_present()) GTEST_SKIP() << how_to_get_simt();
  }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  std::string write(const std::string& name, const std::string& text) const {
    write_file(path(name), text);
    return path(name);
  }

  /// Writes the shipped template of this kind (`convlab new KIND`) and returns its path.
  std::string make(const std::string& kind, const std::string& name) const {
    const ProgramRun run = run_program({"new", kind, "-o", path(name)});
    EXPECT_EQ(run.status, 0) << run.complaint;
    return path(name);
  }

  std::string text_of(const std::string& file) const {
    const std::vector<uint8_t> bytes = read_file(file);
    return {bytes.begin(), bytes.end()};
  }

  /// Writes the template with `what` replaced by `by` and returns its path.
  std::string changed(const std::string& kind, const std::string& name, const std::string& what,
                      const std::string& by) const {
    std::string text = text_of(make(kind, "template"));
    std::filesystem::remove(path("template"));
    const size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return write(name, text.replace(at, what.size(), by));
  }

  /// Runs `verify --json` on these files, expects this exit status and returns the JSON's "files".
  Json verified(std::vector<std::string> arguments, int status) const {
    arguments.insert(arguments.begin(), "verify");
    arguments.insert(arguments.end(), {"--json", path("result.json")});
    const ProgramRun run = run_program(arguments);
    EXPECT_EQ(run.status, status) << run.output << run.complaint;
    return Json::parse(text_of(path("result.json")))["files"];
  }

  TemporaryFolder folder_;
  OwnCache cache_{folder_.path() / "cache"};
};

}  // namespace convlab
