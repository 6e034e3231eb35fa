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

/// Adds up how long each stage took, in the order of their first appearance.
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

/// A process that has ended, as seen from outside and as it told itself; seconds since it was started.
struct WholeRun {
  DeviceKind device = DeviceKind::cpu;
  double main_s = 0;    ///< when main() began
  double done_s = 0;    ///< when it had told its times
  double ended_s = 0;   ///< when it was gone: its wall time
  double json_s = 0;    ///< part of main_s to done_s: collecting what only --json asks for
  double layers_s = 0;  ///< a pass after the first, the layers alone
  std::vector<StageTime> stages;
};

struct BillPart {
  std::string name;
  double seconds = 0;
  std::string_view remedy;  ///< what would make it smaller; "" where there is nothing to gain
};

/// Where the wall time of a whole run went.
struct StartupBill {
  double wall_s = 0;
  std::vector<BillPart> parts;  ///< in the order in which they came
  double unattributed_s = 0;    ///< wall_s - the parts: what no stage covers

  /// The part that took longest. There must be one.
  const BillPart& largest() const;
};

/// The stage with a name that a run tells.
std::optional<Stage> find_stage(std::string_view name);

StartupBill make_bill(const WholeRun& run);

/// The bill as a table, and what would shorten its largest part.
std::string to_text(const StartupBill& bill);

}  // namespace convlab
