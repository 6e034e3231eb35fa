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

/// A kernel of the CPU in a jail of its own, which is called again and again. It gets x and w, and gives y, in memory
/// that it shares with the judge, whose clock it is: from "here is the input" until the output is taken. At all other
/// times it is frozen: it neither works before the clock starts nor slows down whoever runs then.
class CpuRun {
 public:
  struct Kernel {
    std::filesystem::path source, library;
  };
  /// Starts it, and waits until its file is loaded.
  CpuRun(const Kernel& kernel, const ConvProblem& problem, const WorkFolder& work, const JudgeLimits& limits,
         double limit_s, bool in_jail);
  ~CpuRun();
  CpuRun(const CpuRun&) = delete;
  CpuRun& operator=(const CpuRun&) = delete;

  /// Calls it once. y is filled with zeros or, with all bits set, with NaN before. Seconds; nullopt if the process has
  /// ended.
  std::optional<double> sample(const Probe& probe, bool zeros, std::vector<float>& y);

  /// Whether x or w are not the probe's any more.
  bool changed_input(const Probe& probe) const;

  /// When it has ended: how, and what it has answered, see work_inside().
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
