// Reads and writes the folders of jobs.

#include "convlab/classroom/job.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/json.h"

namespace convlab::classroom {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostJobBytes = int64_t{64} << 20;

fs::path folder_of(const Folder& folder, const Lease& lease) { return folder.jobs() / job_name(lease); }

/// Turns errors in a secret, a pack or class.toml into Error(unavailable): the teacher must fix them, and they must not
/// become a student's verdict.
judge::Assignment readable_assignment(const Folder& folder, const Settings& settings, const std::string& name) {
  try {
    return assignment_of(folder, settings, settings.assignment(name));
  } catch (const Error& error) {
    throw unavailable(
        "assignment {}: {}; fix class.toml or secret/{}.json and restart the worker; the job stays queued", name,
        error.what(), name);
  }
}

}  // namespace

std::string job_name(const Lease& lease) { return fmt::format("{}-{}", lease.job, lease.attempt); }

void write_job(const Folder& folder, const Settings& settings, const Lease& lease) {
  std::error_code error;
  for (Lease earlier = lease; earlier.attempt > 0; --earlier.attempt) remove_job(folder, earlier);
  const fs::path path = folder_of(folder, lease);
  if (!fs::create_directory(path, error)) throw unavailable("cannot create {}: {}", path.string(), error.message());
  const judge::Assignment assignment = readable_assignment(folder, settings, lease.submission.assignment);
  const nlohmann::ordered_json json{{"file", folder.file(lease.submission.number, lease.submission.file).string()},
                                    {"device", lease.submission.device},
                                    {"assignment", judge::to_json(assignment)}};
  write_file(path / "job.json", json_text(json, 1) + "\n");
}

std::optional<judge::Stage> stage_of_job(const Folder& folder, const Lease& lease) {
  const fs::path path = folder_of(folder, lease) / "stage.txt";
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  const std::string text = read_text(path, kMostJobBytes);
  for (const judge::Stage each : {judge::Stage::compiling, judge::Stage::recording, judge::Stage::verifying,
                                  judge::Stage::timing, judge::Stage::done}) {
    if (text == fmt::format("{}\n", name_of(each))) return each;
  }
  return std::nullopt;
}

std::optional<judge::Judgement> judgement_of_job(const Folder& folder, const Lease& lease) {
  const fs::path path = folder_of(folder, lease) / "judgement.json";
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  return judge::judgement_from(parse_json(read_text(path, kMostJobBytes), path.string()), path.string());
}

void remove_job(const Folder& folder, const Lease& lease) {
  std::error_code error;
  fs::remove_all(folder_of(folder, lease), error);
}

}  // namespace convlab::classroom
