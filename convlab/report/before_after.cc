// Compares a kernel with its baseline: times and counts.

#include "convlab/report/before_after.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>

#include "convlab/report/html.h"

namespace convlab {
namespace {

/// Counts of one layer, summed over all functions, with the number of images.
struct LayerCounts {
  MemoryCounts global, shared;
  double images = 1, flops = 0, lanes = 0, warps = 0, atomics = 0;
  bool there = false;
};

LayerCounts counts_of_layer(const Contents& contents, const std::string& kernel, const std::string& layer) {
  LayerCounts sum;
  for (const SavedCounts* saved : counts_of(contents.input.evidence, kernel, contents.input.semester)) {
    if (saved->layer != layer) continue;
    sum.there = true;
    sum.images = static_cast<double>(saved->images);
    for (const LineCounts& line : saved->counts.lines) {
      if (line.space == MemorySpace::global) sum.global += line.counts;
      if (line.space == MemorySpace::shared) sum.shared += line.counts;
      if (line.type == AccessType::atomic) sum.atomics += static_cast<double>(line.counts.requests);
    }
    const auto warps = static_cast<double>(saved->counts.warps);
    sum.flops += static_cast<double>(saved->counts.flops);
    sum.lanes += warps * saved->active_lanes;
    sum.warps += warps;
  }
  return sum;
}

struct Metric {
  std::string_view name;
  enum class Better { less, more, neither } better;
  std::function<double(const LayerCounts&)> value;
};

double quotient(double a, double b) { return b == 0 ? 0 : a / b; }

const std::vector<Metric>& metrics() {
  using Better = Metric::Better;
  const auto an_image = [](int64_t MemoryCounts::*what, MemoryCounts LayerCounts::*of) {
    return [=](const LayerCounts& counts) { return static_cast<double>(counts.*of.*what) / counts.images; };
  };
  static const std::vector<Metric> kMetrics{
      {"global memory sectors", Better::less, an_image(&MemoryCounts::sectors, &LayerCounts::global)},
      {"global memory requests", Better::less, an_image(&MemoryCounts::requests, &LayerCounts::global)},
      {"sector utilization, %", Better::more,
       [](const LayerCounts& counts) {
         return 100 * quotient(static_cast<double>(counts.global.bytes),
                               static_cast<double>(counts.global.sectors * kSectorBytes));
       }},
      {"shared memory wavefronts", Better::neither, an_image(&MemoryCounts::wavefronts, &LayerCounts::shared)},
      {"wavefronts for bank conflicts", Better::less,
       [](const LayerCounts& counts) { return static_cast<double>(counts.shared.bank_conflicts()) / counts.images; }},
      {"atomic requests", Better::less, [](const LayerCounts& counts) { return counts.atomics / counts.images; }},
      {"flops", Better::neither, [](const LayerCounts& counts) { return counts.flops / counts.images; }},
      {"flops per sector byte", Better::more,
       [](const LayerCounts& counts) {
         return quotient(counts.flops, static_cast<double>(counts.global.sectors * kSectorBytes));
       }},
      {"active lanes per warp, of 32", Better::more,
       [](const LayerCounts& counts) { return quotient(counts.lanes, counts.warps); }},
  };
  return kMetrics;
}

/// Returns "297000", "12.6 M".
std::string count_text(double value) {
  constexpr double kMillion = 1e6;
  if (value >= 10 * kMillion) return significant(value / kMillion) + " M";
  return value == std::round(value) ? fmt::format("{:.0f}", value) : significant(value);
}

/// Returns "297 k → 49 k, 0.16×".
Cell change_cell(double before, double after, Metric::Better better, const std::string& before_text,
                 const std::string& after_text) {
  if (before == after) return {.html = after_text, .kind = "number"};
  const bool good = better == Metric::Better::less ? after < before : after > before;
  const std::string_view kind = better == Metric::Better::neither ? "" : good ? "good" : "bad";
  const std::string times =
      before == 0 ? "" : fmt::format(", <span class=\"{}\">{}×</span>", kind, significant(after / before));
  return {.html = fmt::format("{} → {}{}", before_text, after_text, times), .kind = "number"};
}

std::string counted(const Contents& contents, const OwnKernel& kernel) {
  const std::vector<std::string>& layers = contents.input.answers.names;
  std::vector<std::string> headings{""};
  std::vector<LayerCounts> before, after;
  for (const std::string& layer : layers) {
    headings.push_back(escaped(layer));
    before.push_back(counts_of_layer(contents, kernel.baseline, layer));
    after.push_back(counts_of_layer(contents, kernel.name, layer));
    if (!after.back().there) return "";
  }
  const bool compared = kernel.baseline != kernel.name && std::ranges::all_of(before, &LayerCounts::there);
  Table table(compared ? fmt::format("Counts per image, {} → {}", kernel.baseline, kernel.name)
                       : fmt::format("Counts per image, {}", kernel.name),
              headings);
  for (const Metric& metric : metrics()) {
    std::vector<Cell> row{text_cell(metric.name)};
    double largest = 0;
    for (size_t i = 0; i < layers.size(); ++i) {
      const double now = metric.value(after[i]), then = compared ? metric.value(before[i]) : now;
      largest = std::max({largest, now, then});
      row.push_back(change_cell(then, now, metric.better, count_text(then), count_text(now)));
    }
    if (largest > 0) table.row(std::move(row));
  }
  return table.html();
}

/// Returns one kind of time of a Record in ms, if the Record has it.
using TimeOf = std::optional<double> (*)(const Record& record);

std::optional<double> op_time_of(const Record& record) {
  if (record.computes_in_prolog) return std::nullopt;
  return record.op_ms.median;
}

std::optional<double> layer_time_of(const Record& record) {
  if (!record.layer_ms) return std::nullopt;
  return record.layer_ms->median;
}

std::string timed(const Contents& contents, const OwnKernel& kernel, const MachineRecords& machine,
                  std::string_view what, TimeOf time_of) {
  const std::vector<std::string>& problems = contents.input.answers.problems;
  std::vector<std::string> headings{"images"};
  for (const std::string& name : contents.input.answers.names) headings.push_back(escaped(name));
  const auto time = [&](const std::string& name, const std::string& problem) -> std::optional<double> {
    const Record* const record = machine.find(name, problem);
    return record == nullptr ? std::nullopt : time_of(*record);
  };
  bool compared = false;
  std::vector<std::vector<Cell>> rows;
  for (const int64_t images : kCourseSizes) {
    std::vector<Cell> row{number_cell(std::to_string(images))};
    bool there = false;
    for (const std::string& one : problems) {
      const std::string problem = with_images(one, images);
      const std::optional<double> after = time(kernel.name, problem), before = time(kernel.baseline, problem);
      there |= after.has_value();
      compared |= after && before && kernel.baseline != kernel.name;
      row.push_back(after ? change_cell(before.value_or(*after), *after, Metric::Better::less,
                                        duration(before.value_or(*after)), duration(*after))
                          : missing_cell());
    }
    if (there) rows.push_back(std::move(row));
  }
  if (rows.empty()) return "";
  Table table(fmt::format("{}, {}{}, median, on {}", what, compared ? kernel.baseline + " → " : "", kernel.name,
                          machine.machine.device),
              headings);
  for (std::vector<Cell>& row : rows) table.row(std::move(row));
  return table.html();
}

}  // namespace

std::string before_and_after(const Contents& contents, const OwnKernel& kernel) {
  std::string html;
  for (const MachineRecords& machine : contents.machines) {
    html += timed(contents, kernel, machine, "Op Time", op_time_of);
    html += timed(contents, kernel, machine, "Prolog to epilog time", layer_time_of);
  }
  return html + counted(contents, kernel);
}

double sectors_of_baseline(const Contents& contents, const OwnKernel& kernel) {
  double before = 0, after = 0;
  for (const std::string& layer : contents.input.answers.names) {
    const LayerCounts then = counts_of_layer(contents, kernel.baseline, layer),
                      now = counts_of_layer(contents, kernel.name, layer);
    if (!then.there || !now.there) return 0;
    before += static_cast<double>(then.global.sectors) / then.images;
    after += static_cast<double>(now.global.sectors) / now.images;
  }
  return quotient(after, before);
}

double all_op_times(const Contents& contents, const MachineRecords& machine, const std::string& kernel,
                    int64_t images) {
  double sum = 0;
  for (const std::string& one : contents.input.answers.problems) {
    const Record* const record = machine.find(kernel, with_images(one, images));
    if (record == nullptr || !op_time_of(*record)) return 0;
    sum += *op_time_of(*record);
  }
  return sum;
}

}  // namespace convlab
