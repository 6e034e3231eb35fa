#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/base/stage.h"
#include "convlab/device/device.h"

namespace convlab {

struct StageTime {
  Stage stage = Stage::step;
  double seconds = 0;
};

/// Sums the time of each stage, in the order of first appearance.
class StageLog final : public StageObserver {
 public:
  void begin(const Part& part) override;
  void end() override;
  const std::vector<StageTime>& times() const { return times_; }

 private:
  std::vector<StageTime> times_;
  Stage stage_ = Stage::step;
  std::chrono::steady_clock::time_point begin_;
};

/// A process that has ended, from its own report and from outside. Times are seconds since its start.
struct WholeRun {
  DeviceKind device = DeviceKind::cpu;
  double main_s = 0;    ///< when main() began
  double done_s = 0;    ///< when it had reported its times
  double ended_s = 0;   ///< when it had ended: its wall time
  double json_s = 0;    ///< part of main_s to done_s: collecting data that only --json needs
  double layers_s = 0;  ///< layers alone, in a pass after the first
  std::vector<StageTime> stages;
};

struct BillPart {
  std::string name;
  double seconds = 0;
  std::string_view remedy;  ///< what would reduce it; "" if nothing would
};

/// A breakdown of the wall time of a whole run.
struct StartupBill {
  double wall_s = 0;
  std::vector<BillPart> parts;  ///< in the order of the run
  double unattributed_s = 0;    ///< wall_s minus the parts: time outside all stages

  /// Returns the part that took longest. There must be one.
  const BillPart& largest() const;
};

/// Returns the stage with this name, as a run reports it; nullopt for an unknown name.
std::optional<Stage> find_stage(std::string_view name);

StartupBill make_bill(const WholeRun& run);

/// Returns the bill as a table, with what would reduce its largest part.
std::string to_text(const StartupBill& bill);

}  // namespace convlab
