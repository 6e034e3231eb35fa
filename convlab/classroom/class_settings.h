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
  std::string pack;                  ///< which defines the layers, see pack.h
  std::optional<double> deadline_s;  ///< seconds since 1970
  std::string device = "simt";
  int64_t images = 0;  ///< batch size of each layer
  judge::JudgeLimits limits;
  PointsRule points;
};

/// Options of Slurm jobs.
struct SlurmSettings {
  std::string partition, gpus;  ///< "": the cluster's default
};

/// The contents of class.toml.
struct Settings {
  std::string name;
  bool aliases = true;  ///< the ranking shows pseudonyms
  judge::Trust trust = judge::Trust::jails;
  int64_t per_hour = 60;  ///< submissions per student and hour
  double lease_s = 10;    ///< a worker without a heartbeat for this long is considered gone
  SlurmSettings slurm;
  std::vector<AssignmentSettings> assignments;

  /// Returns the assignment of this name, or, if the name is empty, the only one. Throws Error(bad_input), which lists
  /// the assignments, otherwise.
  const AssignmentSettings& assignment(const std::string& assignment_name) const;
};

/// Returns the default batch size of layers on a device: small for simt, which executes CUDA on the CPU.
int64_t usual_images(const std::string& device);

/// Returns the default limits on a device. On a GPU, a kernel that never ends is stopped after a minute.
judge::JudgeLimits usual_limits(const std::string& device);

/// Throws Error(bad_input) with line and key if the file is invalid.
Settings parse_settings(const std::string& text, const std::string& place);
Settings read_settings(const Folder& folder);

/// Returns class.toml with a line for each key. parse_settings() restores the same settings.
std::string settings_text(const Settings& settings);

/// Returns the judge's input: the pack's layers, and the secret's shapes.
judge::Assignment assignment_of(const Folder& folder, const Settings& settings, const AssignmentSettings& assignment);

/// Returns UTC: "2026-12-01T23:59:00Z".
std::string time_text(double seconds);

/// Returns the time in this machine's time zone: "2026-12-02T00:59:00+01:00".
std::string local_time_text(double seconds);

/// Returns the time for display: "2026-12-02 00:59 CET".
std::string local_minutes_text(double seconds);

}  // namespace convlab::classroom
