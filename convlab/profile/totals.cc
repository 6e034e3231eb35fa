// Sums a recording's activities by name.

#include "convlab/profile/totals.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "convlab/profile/nvprof.h"

namespace convlab {
namespace {

class Totals {
 public:
  void add(const Activity& activity) {
    TotalsRow& row = rows_[activity.name];
    const int64_t duration = activity.duration_ns();
    row.min_ns = row.calls == 0 ? duration : std::min(row.min_ns, duration);
    row.max_ns = std::max(row.max_ns, duration);
    row.total_ns += duration;
    row.calls += 1;
    row.parts_ns[activity.part] += duration;
    total_ns_ += duration;
  }

  std::vector<TotalsRow> sorted() {
    std::vector<TotalsRow> result;
    for (auto& [name, row] : rows_) {
      row.name = name;
      row.share = total_ns_ > 0 ? static_cast<double>(row.total_ns) / static_cast<double>(total_ns_) : 0;
      result.push_back(std::move(row));
    }
    std::stable_sort(result.begin(), result.end(),
                     [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; });
    return result;
  }

 private:
  std::map<std::string, TotalsRow> rows_;
  int64_t total_ns_ = 0;
};

/// Returns the calls that are not inside another call of their thread: the CUDA runtime calls the driver, and both are
/// recorded.
std::vector<const Activity*> outermost_calls(const Recording& recording) {
  std::vector<const Activity*> calls, outermost;
  for (const Activity& each : recording.activities) {
    if (each.kind == ActivityKind::api) calls.push_back(&each);
  }
  std::stable_sort(calls.begin(), calls.end(), [](const Activity* a, const Activity* b) {
    return std::tuple(a->thread, a->begin_ns, -a->end_ns) < std::tuple(b->thread, b->begin_ns, -b->end_ns);
  });
  for (const Activity* call : calls) {
    const bool inside =
        !outermost.empty() && outermost.back()->thread == call->thread && call->end_ns <= outermost.back()->end_ns;
    if (!inside) outermost.push_back(call);
  }
  return outermost;
}

}  // namespace

const std::string_view kKernelsVersusApiCalls =
    "A kernel is code that runs on the GPU, in thousands of threads. An API call is a host function that the program\n"
    "calls: it sets up the GPU, allocates memory, starts a copy or launches a kernel. A launch takes microseconds and\n"
    "returns immediately; the kernel runs later. So the two tables use two clocks and are not two halves of one: the\n"
    "same milliseconds can appear in both, as a kernel above and as the call that waits for it below. A large share\n"
    "of the calls means setup or waiting, not slow computation. Kernels can be the smaller part of a short run.\n";

const std::string_view kKernelsVersusHostCalls =
    "A kernel is the code that computes a step of the network, on all threads of the CPU. A host call is any other "
    "work\n"
    "of the program: it reads the model and the data, plans, and packs the weights. Most calls happen once, at the\n"
    "start, and kernels run again for each batch. A large share of the calls means setup, not slow computation.\n";

ProfileTotals summarize(const Recording& recording) {
  Totals activities, calls;
  for (const Activity& each : recording.activities) {
    if (each.on_device()) activities.add(each);
  }
  for (const Activity* call : outermost_calls(recording)) calls.add(*call);
  return {.device = recording.device, .activities = activities.sorted(), .calls = calls.sorted()};
}

std::vector<TotalsRow> rows_above(const std::vector<TotalsRow>& rows, double share) {
  std::vector<TotalsRow> top;
  double sum = 0;
  for (const TotalsRow& row : rows) {
    if (sum > share) break;
    sum += row.share;
    top.push_back(row);
  }
  return top;
}

std::string to_text(const std::vector<TotalsRow>& top_rows) {
  std::string text;
  double sum = 0;
  for (const TotalsRow& row : top_rows) {
    sum += row.share;
    text += fmt::format("  {:>7}  {:>8}  {}\n", nvprof_percent(row.share), nvprof_time(row.total_ns), row.name);
    std::vector<std::pair<int64_t, std::string>> parts;
    for (const auto& [part, time] : row.parts_ns) {
      // A cause of less than 1 % of the time does not help to explain it.
      if (time * 100 >= row.total_ns) parts.emplace_back(-time, part.empty() ? "other" : part);
    }
    std::sort(parts.begin(), parts.end());
    std::vector<std::string> causes;
    for (const auto& [time, part] : parts) causes.push_back(fmt::format("{} {}", nvprof_time(-time), part));
    if (parts.size() == 1 && parts[0].second == row.name) continue;  // a part of the program is its own cause
    text += fmt::format("{:21}for {}\n", "", fmt::join(causes, ", "));
  }
  return text + fmt::format("  {:>7}  total\n", nvprof_percent(sum));
}

}  // namespace convlab
