#pragma once

#include "app/output.h"
#include "convlab/profile/counters.h"
#include "convlab/profile/overhead.h"
#include "convlab/profile/startup.h"
#include "convlab/profile/summary.h"

namespace convlab::app {

/// The share of time whose kernels, and calls, a report must name.
inline constexpr double kReportedShare = 0.9;

Json to_json(const ProfileSummary& summary);
Json to_json(const Recording& recording);
Json to_json(const ProfilingCheck& check);
Json to_json(const StartupBill& bill);
Json to_json(const Utilisation& utilisation);

}  // namespace convlab::app
