// Keeps which checks are on, and says which check finds a fault.

#include "convlab/simt/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>

#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/simt/kernel_call.h"
#include "convlab/simt/raw_fault.h"

namespace convlab::simt {
namespace {

std::atomic<Checks> checks_now{Checks::all()};

constexpr std::array<std::string_view, kCheckCount> kNames{
    "races-block", "races-global", "races-warp", "bounds", "uninitialized", "alignment", "barriers", "leaks", "api"};

/// Returns the check that finds such faults; nullopt if they are always found, because the kernel cannot go on.
std::optional<Check> check_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::out_of_bounds_global:
    case FaultKind::out_of_bounds_shared:
    case FaultKind::out_of_bounds_local:
    case FaultKind::host_memory:
      return Check::bounds;
    case FaultKind::misaligned:
      return Check::alignment;
    case FaultKind::uninitialized_shared:
    case FaultKind::uninitialized_global:
    case FaultKind::uninitialized_constant:
      return Check::uninitialized;
    case FaultKind::divergent_barrier:
    case FaultKind::missed_barrier:
    case FaultKind::divergent_warp:
    case FaultKind::inactive_lane:
    case FaultKind::absent_source:
      return Check::barriers;
    case FaultKind::host_access:
    case FaultKind::not_awaited:
    case FaultKind::copy_direction:
      return Check::api;
    default:
      return std::nullopt;
  }
}

}  // namespace

Checks parse_checks(std::string_view text) {
  if (text == "all") return Checks::all();
  Checks checks = Checks::none();
  if (text == "none") return checks;
  for (const std::string& word : split(text, ',')) {
    const auto known = std::ranges::find(kNames, word);
    if (known == kNames.end()) {
      throw bad_input("unknown check '{}'; expected all, none, or some of {}", word, check_names());
    }
    checks.add(static_cast<Check>(known - kNames.begin()));
  }
  return checks;
}

std::string check_names() { return fmt::format("{}", fmt::join(kNames, ", ")); }

void set_checks(Checks checks) { checks_now = checks; }
Checks checks() { return checks_now.load(std::memory_order_relaxed); }

bool is_reported(FaultKind kind) {
  const std::optional<Check> check = check_of(kind);
  return !check || checks().has(*check);
}

bool internal::is_reported(const RawFault& fault) {
  const bool is_race = fault.kind == FaultKind::race_shared || fault.kind == FaultKind::race_global ||
                       fault.kind == FaultKind::redundant_write;
  if (!is_race) return simt::is_reported(fault.kind);
  if (fault.other_block) return checks().has(Check::races_global);
  return checks().has(fault.thread / kWarpSize == fault.other_thread / kWarpSize ? Check::races_warp
                                                                                 : Check::races_block);
}

}  // namespace convlab::simt
