// Breaks down the wall time of a whole run.

#include "convlab/profile/startup.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace convlab {
namespace {

struct Entry {
  Stage stage;
  std::string_view name, remedy;
};

constexpr std::string_view kProcessRemedy = "link fewer and smaller libraries, or keep one process for many runs";
constexpr std::string_view kExitRemedy = "keep one process for many runs; destroying a GPU context takes time";

/// Stages under their names in a bill. Stages that share a name are merged.
constexpr std::array kEntries{
    Entry{Stage::driver, "driver init",
          "keep one process for many runs; if it takes seconds, run nvidia-persistenced to keep the driver loaded"},
    Entry{Stage::context, "context", "keep one process for many runs"},
    Entry{Stage::model, "model", "use a smaller file; this is the part not hidden by opening the device"},
    Entry{Stage::data, "data", "store the images uncompressed"},
    Entry{Stage::scaling, "data: scaling the images", "let the device scale the original images, 28x28"},
    Entry{Stage::planning, "planning", "plan and fold once and keep the result"},
    Entry{Stage::memory, "first allocation", "use a smaller --batch for a smaller arena"},
    Entry{Stage::weights, "weights: transfer and packing", "keep packed weights in a file"},
    Entry{Stage::upload, "transfers", "copy from pinned memory, as bytes instead of floats"},
    Entry{Stage::waiting, "first pass (warm-up)", "use a faster kernel; only measurements need a warm-up pass"},
    Entry{Stage::download, "transfers", "copy from pinned memory, as bytes instead of floats"},
    Entry{Stage::labels, "labels", ""},
    Entry{Stage::passes, "steady state (measured passes)", "use a faster kernel; see the lists above"},
    Entry{Stage::ceilings, "measuring the machine's ceilings", "needed only for the last column of the table"},
    Entry{Stage::release, "freeing memory", "leave it to process exit"},
};

constexpr std::string_view kFirstUse = "module load or JIT, algorithm search";
constexpr std::string_view kFirstUseRemedy =
    "build for this GPU's architecture to avoid compilation; choose the kernel with --kernel to avoid a search";

const Entry& entry_of(Stage stage, DeviceKind device) {
  // A host device has no driver and no context, so the advice of these entries does not apply.
  static constexpr Entry kOpening{Stage::context, "opening the device", ""};
  static constexpr Entry kLooking{Stage::driver, "looking for a GPU", "name the device: --device cpu"};
  if (stage == Stage::context && device != DeviceKind::cuda) return kOpening;
  if (stage == Stage::driver && device != DeviceKind::cuda) return kLooking;
  // On a host, steps compute. On a GPU, they only enqueue work, but the host waits in them while the GPU loads code.
  if (stage == Stage::step) stage = Stage::waiting;
  return *std::find_if(kEntries.begin(), kEntries.end(), [&](const Entry& each) { return each.stage == stage; });
}

/// Separates the first pass's extra time over a later pass: on a GPU, loading or compiling code, and algorithm search.
void charge_first_use(StartupBill& bill, const WholeRun& run) {
  if (run.device != DeviceKind::cuda) return;
  const auto first = std::find_if(bill.parts.begin(), bill.parts.end(), [&](const BillPart& part) {
    return part.name == entry_of(Stage::waiting, run.device).name;
  });
  if (first == bill.parts.end()) return;
  const double beyond = std::max(0.0, first->seconds - run.layers_s);
  first->seconds -= beyond;
  bill.parts.insert(first, {std::string(kFirstUse), beyond, kFirstUseRemedy});
}

}  // namespace

void StageLog::begin(const Part& part) {
  stage_ = part.stage;
  begin_ = std::chrono::steady_clock::now();
}

void StageLog::end() {
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  const auto known =
      std::find_if(times_.begin(), times_.end(), [&](const StageTime& each) { return each.stage == stage_; });
  if (known == times_.end()) {
    times_.push_back({stage_, seconds});
  } else {
    known->seconds += seconds;
  }
}

std::optional<Stage> find_stage(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(Stage::release); ++i) {
    const auto stage = static_cast<Stage>(i);
    if (name_of(stage) == name) return stage;
  }
  return {};
}

const BillPart& StartupBill::largest() const {
  return *std::max_element(parts.begin(), parts.end(),
                           [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
}

StartupBill make_bill(const WholeRun& run) {
  StartupBill bill{.wall_s = run.ended_s, .parts = {{"process and library load", run.main_s, kProcessRemedy}}};
  for (const StageTime& time : run.stages) {
    const Entry& entry = entry_of(time.stage, run.device);
    const auto same = std::find_if(bill.parts.begin(), bill.parts.end(),
                                   [&](const BillPart& part) { return part.name == entry.name; });
    if (same != bill.parts.end()) {
      same->seconds += time.seconds;
    } else {
      bill.parts.push_back({std::string(entry.name), time.seconds, entry.remedy});
    }
  }
  charge_first_use(bill, run);
  bill.parts.push_back({"results as JSON", run.json_s, "omit --json"});
  bill.parts.push_back({"process exit", run.ended_s - run.done_s, kExitRemedy});
  bill.unattributed_s = bill.wall_s;
  for (const BillPart& part : bill.parts) bill.unattributed_s -= part.seconds;
  return bill;
}

std::string to_text(const StartupBill& bill) {
  std::string text;
  const auto line = [&](double seconds, std::string_view name) {
    text += fmt::format("  {:>10.3f} ms  {:>5.1f} %  {}\n", seconds * 1e3, 100 * seconds / bill.wall_s, name);
  };
  for (const BillPart& part : bill.parts) line(part.seconds, part.name);
  line(bill.unattributed_s, "other");
  line(bill.wall_s, "wall time of the run");
  const BillPart& largest = bill.largest();
  text += fmt::format("Largest: {}.{}\n", largest.name,
                      largest.remedy.empty() ? "" : fmt::format(" Remedy: {}.", largest.remedy));
  return text;
}

}  // namespace convlab
