#pragma once

#include <optional>
#include <string>

#include "app/results/output.h"
#include "convlab/kernels/kernel.h"
#include "convlab/plan/plan.h"
#include "convlab/profile/counters.h"
#include "convlab/profile/overhead.h"
#include "convlab/profile/startup.h"
#include "convlab/profile/totals.h"

namespace convlab::app {

/// A report must name the kernels and calls that make up this share of the time.
inline constexpr double kReportedShare = 0.9;

struct ProfileResult {
  std::string command, model;
  int64_t images = 0;
  double accuracy = 0;
  Math math;
  PlanMode plan;
  const Recording& recording;
  const ProfileTotals& summary;
  const ProfilingCheck& check;
  const StartupBill& bill;
  const std::optional<Utilisation>& utilisation;
};
void write_json(Output& output, const ProfileResult& result);

/// See chrome_trace().
std::string chrome_trace_text(const Recording& recording);

}  // namespace convlab::app
