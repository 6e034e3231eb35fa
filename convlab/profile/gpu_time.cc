// Sums how long the device was busy for each part of the program.

#include "convlab/profile/gpu_time.h"

#include <fmt/format.h>

#include <algorithm>

#include "convlab/profile/nvprof.h"

namespace convlab {
namespace {

/// The length of the union of activities, which are added in the order of begin_ns.
class Covered {
 public:
  void add(const Activity& activity) {
    const int64_t begin = std::max(activity.begin_ns, end_ns_);
    if (activity.end_ns <= begin) return;
    total_ns_ += activity.end_ns - begin;
    end_ns_ = activity.end_ns;
  }
  int64_t total_ns() const { return total_ns_; }

 private:
  int64_t total_ns_ = 0, end_ns_ = INT64_MIN;
};

/// Device activity for one part.
struct Work {
  std::string name;
  Covered busy, kernels, copies;
};

}  // namespace

std::vector<GpuTime> gpu_time(const Recording& recording) {
  std::vector<Work> parts;
  for (const Activity& each : recording.activities) {
    if (!each.on_device()) continue;
    auto part = std::ranges::find(parts, each.part, &Work::name);
    if (part == parts.end()) part = parts.insert(part, {.name = each.part});
    part->busy.add(each);
    (each.kind == ActivityKind::kernel ? part->kernels : part->copies).add(each);
  }
  std::vector<GpuTime> times;
  for (const Work& each : parts) {
    times.push_back({.part = each.name,
                     .busy_ns = each.busy.total_ns(),
                     .kernels_ns = each.kernels.total_ns(),
                     .copies_ns = each.copies.total_ns()});
  }
  return times;
}

std::string to_text(const std::vector<GpuTime>& times) {
  if (times.empty()) return "";
  std::string text = fmt::format("  {:>9}  {:>9}  {:>9}  {:>9}\n", "busy", "kernels", "copies", "both");
  for (const GpuTime& each : times) {
    text +=
        fmt::format("  {:>9}  {:>9}  {:>9}  {:>9}  {}\n", nvprof_time(each.busy_ns), nvprof_time(each.kernels_ns),
                    nvprof_time(each.copies_ns), nvprof_time(each.both_ns()), each.part.empty() ? "other" : each.part);
  }
  return text;
}

}  // namespace convlab
