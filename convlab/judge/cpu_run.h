#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convlab/judge/check.h"
#include "convlab/judge/jail.h"
#include "convlab/judge/judgement.h"
#include "convlab/judge/work_folder.h"

namespace convlab::judge {

/// A CPU kernel in its own jail, called repeatedly. It reads x and w and writes y in memory shared with the judge. The
/// judge measures the time, from announcing the input to copying the output. Outside of that interval the process is
/// stopped, so it can neither compute before the clock starts nor slow down other runs.
class CpuRun {
 public:
  struct Kernel {
    std::filesystem::path source, library;
  };
  /// Starts the process and waits until it has loaded its file.
  CpuRun(const Kernel& kernel, const ConvProblem& problem, const WorkFolder& work, const JudgeLimits& limits,
         double limit_s, bool in_jail);
  ~CpuRun();
  CpuRun(const CpuRun&) = delete;
  CpuRun& operator=(const CpuRun&) = delete;

  /// Runs one call. Before it, y is filled with zeros, or with NaN (all bits set). Returns the seconds, or nullopt if
  /// the process has ended.
  std::optional<double> sample(const Probe& probe, bool zeros, std::vector<float>& y);

  /// Returns whether x or w differ from the probe's.
  bool changed_input(const Probe& probe) const;

  /// After the process has ended: how it ended, and its answer, see work_inside().
  JailEnd end() { return jailed_->end(); }
  Json answer() const;

 private:
  std::filesystem::path request_, answer_;
  int memory_ = -1, go_ = -1, done_ = -1;
  std::span<float> x_, w_, y_;
  size_t bytes_;
  std::unique_ptr<Jailed> jailed_;
  bool ready_ = false;
};

}  // namespace convlab::judge
