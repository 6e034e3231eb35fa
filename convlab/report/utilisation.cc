// Shows a kernel's GPU counters as charts and tables.

#include "convlab/report/utilisation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "convlab/base/text.h"
#include "convlab/report/html.h"

namespace convlab {
namespace {

/// The percentages that reports show, by the prefixes of the counters' names.
struct Utilization {
  std::string_view name, counter;
};
constexpr std::array kUtilizations{Utilization{"compute", "sm__throughput"},
                                   Utilization{"memory", "gpu__compute_memory_throughput"},
                                   Utilization{"DRAM", "dram__throughput"}, Utilization{"L2", "lts__throughput"},
                                   Utilization{"occupancy", "sm__warps_active"}};
constexpr std::string_view kDuration = "gpu__time_duration";

/// The launches of one function in one layer.
struct Function {
  std::string layer, name;
  std::vector<const KernelCounters*> launches;

  bool is(const std::string& of_layer, const std::string& of_name) const {
    return layer == of_layer && name == of_name;
  }

  /// Returns the mean of every metric, weighted by the launches' times if these were counted.
  KernelCounters mean() const {
    KernelCounters result{name, layer, {}};
    for (const auto& [metric, value] : launches.front()->metrics) {
      double sum = 0, weights = 0;
      for (const KernelCounters* launch : launches) {
        const double duration = launch->value(kDuration), weight = std::isfinite(duration) ? duration : 1;
        sum += weight * launch->value(metric);
        weights += weight;
      }
      result.metrics.emplace_back(metric, sum / weights);
    }
    return result;
  }
};

bool is_layer(const Contents& contents, const std::string& part) {
  return std::ranges::find(contents.input.answers.names, part.substr(0, part.find('+'))) !=
         contents.input.answers.names.end();
}

/// Returns the functions of the network's convolutions, in the order of their first launches.
std::vector<Function> functions_of(const Contents& contents, const std::vector<KernelCounters>& launches) {
  std::vector<Function> functions;
  for (const KernelCounters& launch : launches) {
    if (!is_layer(contents, launch.part)) continue;
    const std::string name = short_name(launch.kernel);
    auto found = std::ranges::find_if(functions, [&](const Function& each) { return each.is(launch.part, name); });
    if (found == functions.end()) found = functions.insert(found, {launch.part, name, {}});
    found->launches.push_back(&launch);
  }
  return functions;
}

/// One GPU's counters of a kernel, from convlab and from ncu.
struct OfGpu {
  std::string gpu;  ///< "NVIDIA H200"
  const SavedCounters* counters = nullptr;
  const SavedCounters* compared = nullptr;  ///< with ncu's values; may be null
};

/// Returns the last counters for each GPU. A comparison with ncu has few metrics, so it replaces convlab's own counters
/// only if there are no others.
std::vector<OfGpu> counters_of(const Contents& contents, const std::string& kernel) {
  std::vector<OfGpu> found;
  for (const SavedCounters& counters : contents.input.evidence.counters) {
    if (counters.kernel != kernel || !counters.model.starts_with(contents.input.semester)) continue;
    const std::string gpu = text_before(counters.device, ',');  // the driver's version may follow
    auto of = std::ranges::find(found, gpu, &OfGpu::gpu);
    if (of == found.end()) of = found.insert(of, {gpu});
    if (!counters.ncu.empty()) of->compared = &counters;
    if (counters.ncu.empty() || of->counters == nullptr) of->counters = &counters;
  }
  return found;
}

/// Returns ncu's values of a function that was launched once in both runs, which makes them comparable; otherwise
/// nullopt.
std::optional<KernelCounters> ncu_values(const Function& function, const std::vector<Function>& ncu) {
  const auto same =
      std::ranges::find_if(ncu, [&](const Function& each) { return each.is(function.layer, function.name); });
  if (same == ncu.end() || same->launches.size() != 1 || function.launches.size() != 1) return std::nullopt;
  return same->mean();
}

Cell percent_cell(double value, double ncu) {
  if (!std::isfinite(value)) return missing_cell();
  const std::string small = std::isfinite(ncu) ? fmt::format("<br><small>ncu {:.1f}</small>", ncu) : "";
  return {.html = fmt::format("{:.1f}{}", value, small), .kind = "number"};
}

std::string chart_and_table(Page& page, const Contents& contents, const OfGpu& of, const std::string& title) {
  std::vector<std::string> headings{"layer", "function", "launches"};
  Page::Json labels = Page::Json::array(), series = Page::Json::array();
  for (const Utilization& metric : kUtilizations) {
    labels.push_back(metric.name);
    headings.push_back(fmt::format("{}<br>%", metric.name));
  }
  headings.emplace_back("limit");
  Table table(fmt::format("Utilization, {} images, {}", of.counters->images, of.gpu), headings);
  const std::vector<Function> functions = functions_of(contents, of.counters->functions);
  std::vector<Function> ncu;
  if (of.compared != nullptr) ncu = functions_of(contents, of.compared->ncu);
  for (const Function& function : functions) {
    const KernelCounters mean = function.mean();
    const std::optional<KernelCounters> theirs = ncu_values(function, ncu);
    std::vector<Cell> row{text_cell(function.layer),
                          {.html = fmt::format("<code>{}</code>", escaped(function.name))},
                          number_cell(std::to_string(function.launches.size()))};
    Page::Json values = Page::Json::array();
    for (const Utilization& metric : kUtilizations) {
      const double value = mean.value(metric.counter);
      values.push_back(std::isfinite(value) ? Page::Json(value) : Page::Json());
      row.push_back(percent_cell(value, theirs ? theirs->value(metric.counter) : NAN));
    }
    row.push_back(text_cell(limit_of(mean)));
    table.row(std::move(row));
    series.push_back({{"name", fmt::format("{}: {}", function.layer, function.name)}, {"values", values}});
  }
  if (table.empty()) return "";
  constexpr int kFrame = 120, kBar = 14, kLeastHeight = 300;
  const int bars = static_cast<int>(kUtilizations.size() * functions.size());
  return page.chart(title, std::max(kLeastHeight, kFrame + kBar * bars),
                    {{"kind", "bars"}, {"unit", "%"}, {"max", 100}, {"labels", labels}, {"series", series}}) +
         table.html();
}

}  // namespace

bool has_counters(const Contents& contents, const std::string& kernel) {
  return !counters_of(contents, kernel).empty();
}

std::string utilisation(Page& page, const Contents& contents, const std::string& kernel) {
  std::string html;
  const std::vector<OfGpu> gpus = counters_of(contents, kernel);
  for (const OfGpu& of : gpus) {
    if (!of.counters->refusal.empty()) {
      html += fmt::format("<p class=\"missing\">No counters: {}</p>\n", escaped(of.counters->refusal));
    }
    html +=
        chart_and_table(page, contents, of,
                        fmt::format("Utilization of {}{}, % of peak", kernel, gpus.size() > 1 ? " on " + of.gpu : ""));
  }
  return html;
}

}  // namespace convlab
