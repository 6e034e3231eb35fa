#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "convlab/classroom/folder.h"
#include "convlab/classroom/points.h"
#include "convlab/judge/judgement.h"

namespace convlab::classroom {

/// One [[assignment]] of class.toml.
struct AssignmentSettings {
  std::string name;
  std::string pack;                  ///< whose layers it has, see pack.h
  std::optional<double> deadline_s;  ///< seconds since 1970
  std::string device = "simt";
  int64_t images = 0;  ///< in each layer
  judge::JudgeLimits limits;
  PointsRule points;
};

/// How Slurm is asked for a job's machine.
struct SlurmSettings {
  std::string partition, gpus;  ///< "": what the cluster does by itself
};

/// What class.toml says.
struct Settings {
  std::string name;
  bool aliases = true;  ///< the ranking shows made-up names
  judge::Trust trust = judge::Trust::jails;
  int64_t per_hour = 60;  ///< submissions that one student may send in an hour
  double lease_s = 10;    ///< a worker that has not been heard of for so long is gone
  SlurmSettings slurm;
  std::vector<AssignmentSettings> assignments;

  /// The one of this name, or, if the name is empty, the only one. Error(bad_input) with those that there are.
  const AssignmentSettings& assignment(const std::string& assignment_name) const;
};

/// How many images a layer has on a device unless class.toml says otherwise: few where CUDA is executed on the CPU.
int64_t usual_images(const std::string& device);

/// The limits on a device unless class.toml says otherwise: a kernel that never ends holds a GPU for no longer than a
/// minute.
judge::JudgeLimits usual_limits(const std::string& device);

/// Error(bad_input) with line and key where the file makes no sense.
Settings parse_settings(const std::string& text, const std::string& place);
Settings read_settings(const Folder& folder);

/// class.toml, with a line on each key. parse_settings() gives the same settings.
std::string settings_text(const Settings& settings);

/// What the judge gets: the pack's layers, and the secret's shapes and seed.
judge::Assignment assignment_of(const Folder& folder, const Settings& settings, const AssignmentSettings& assignment);

/// "2026-12-01T23:59:00Z".
std::string time_text(double seconds);

/// The same in this machine's time zone: "2026-12-02T00:59:00+01:00".
std::string local_time_text(double seconds);

/// For people: "2026-12-02 00:59 CET".
std::string local_minutes_text(double seconds);

}  // namespace convlab::classroom
