// convlab class judge: judges one job; a worker starts it. A job is a folder CLASS/jobs/JOB with job.json: {"file",
// "device", "assignment"}. The result is written to judgement.json in that folder, and the current stage to stage.txt.

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "app/class/commands.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/json.h"
#include "convlab/judge/jail.h"
#include "convlab/judge/judgement.h"
#include "convlab/measure/json_members.h"

namespace convlab::app {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostJobBytes = 1 << 20;

void judge_job(const fs::path& folder, Output& output) {
  if (const std::string shown = judge::shown_to_compilers(fs::weakly_canonical(folder)); !shown.empty()) {
    throw unavailable(
        "{}: the class is inside {}, which submissions can read at compile time; move it, for example below /home or "
        "/srv",
        folder.string(), shown);
  }
  const fs::path path = folder / "job.json";
  const Json json = parse_json(read_text(path, kMostJobBytes), path.string());
  const JsonMembers job(json, path.string());
  std::string file, device;
  job.read("file", file);
  job.read("device", device);
  if (!job.has("assignment")) throw bad_input("{}: member 'assignment' is missing", path.string());
  const judge::Assignment assignment = judge::assignment_from(json.at("assignment"), path.string() + ".assignment");
  const judge::Judgement judgement = judge::judge_submission(
      folder / file, assignment, device,
      [&](judge::Stage stage) { write_file(folder / "stage.txt", std::string(name_of(stage)) + "\n"); });
  const Json answer = to_json(judgement);
  write_file(folder / "judgement.json", json_text(answer, 1) + "\n");
  output.print("{}{}{}\n", name_of(judgement.verdict), judgement.reason.empty() ? "" : ": ", judgement.reason);
  if (!judgement.what_to_do.empty()) output.print("help: {}\n", judgement.what_to_do);
  output.json(answer);
}

}  // namespace

Action declare_class_judge(CLI::App& options) {
  struct Chosen {
    std::string folder, job;
  };
  auto chosen = std::make_shared<Chosen>();
  require(add_text(options, "CLASS", chosen->folder, "DIR", "class folder"));
  require(add_text(options, "JOB", chosen->job, "NAME", "job name: a folder in CLASS/jobs that holds job.json"));
  return [chosen](Output& output) {
    if (chosen->job.find('/') != std::string::npos || chosen->job.starts_with('.')) {
      throw bad_input("'{}' is not a job name; job names must not contain '/' or begin with '.'", chosen->job);
    }
    judge_job(fs::path(chosen->folder) / "jobs" / chosen->job, output);
  };
}

}  // namespace convlab::app
