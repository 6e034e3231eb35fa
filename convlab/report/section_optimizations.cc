// Each optimization by itself: its idea, its arithmetic, its code, and what it brought.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "convlab/base/text.h"
#include "convlab/report/embedded.h"
#include "convlab/report/html.h"
#include "convlab/report/report.h"

namespace convlab {
namespace {

std::string paragraph(std::string_view name, std::string_view text) {
  return text.empty() ? "" : fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, escaped(text));
}

std::string arithmetic_of_layers(const Contents& contents) {
  std::string text;
  for (const std::string& problem : contents.input.answers.problems) {
    const ConvProblem one = parse_problem(problem);
    const double bytes = one.compulsory_bytes(sizeof(float), sizeof(float));
    text +=
        fmt::format("{}layer {}: {} products a pixel and map, {:.3g} Mflop an image, {:.3g} flops a compulsory byte",
                    text.empty() ? "" : "; ", 1 + std::ranges::count(text, ';') + (text.empty() ? 0 : 1), one.terms(),
                    one.flops() * 1e-6, one.flops() / bytes);
  }
  return text;
}

/// "12.0 → 9.03, 1.33×", or the time alone where there is nothing to compare it with.
Cell effect_cell(const Record* before, const Record* now) {
  if (now == nullptr) return missing_cell();
  const std::string time = significant(now->op_ms.median);
  if (before == nullptr) return number_cell(time);
  const double ratio = before->op_ms.median / now->op_ms.median;
  return {.html = fmt::format("{} → {}, <span class=\"{}\">{}×</span>", significant(before->op_ms.median), time,
                              ratio >= 1 ? "good" : "bad", significant(ratio)),
          .kind = "number"};
}

/// Op Times before and after, a table a machine on which the kernel was measured.
std::string effect(const Contents& contents, const KernelFacts& kernel) {
  std::string html;
  const std::vector<std::string>& problems = contents.input.answers.problems;
  for (const MachineRecords& machine : contents.machines) {
    bool measured = false, compared = false;
    std::vector<std::string> headings{""};
    for (int64_t n : kCourseSizes) headings.push_back(fmt::format("{} images", n));
    std::vector<std::vector<Cell>> rows;
    for (size_t layer = 0; layer < problems.size(); ++layer) {
      rows.push_back({text_cell(fmt::format("layer {}", layer + 1))});
      for (int64_t n : kCourseSizes) {
        const std::string problem = with_images(problems[layer], n);
        const Record *before = machine.find(kernel.after, problem), *now = machine.find(kernel.name, problem);
        measured |= now != nullptr;
        compared |= before != nullptr && now != nullptr;
        rows.back().push_back(effect_cell(before, now));
      }
    }
    if (!measured) continue;
    Table table(fmt::format("Op Time, ms, {}on {}", compared ? fmt::format("{} → {}, ", kernel.after, kernel.name) : "",
                            machine.machine.device),
                headings);
    for (std::vector<Cell>& row : rows) table.row(std::move(row));
    html += table.html();
  }
  return html.empty() ? "<p class=\"missing\">Not measured on any machine of this report.</p>\n" : html;
}

/// The percentages that reports show, by the beginnings of the counters' names.
struct Metric {
  std::string_view name, counter;
};
constexpr std::array kMetrics{Metric{"compute", "sm__throughput"}, Metric{"memory", "gpu__compute_memory_throughput"},
                              Metric{"DRAM", "dram__throughput"}, Metric{"L2", "lts__throughput"},
                              Metric{"occupancy", "sm__warps_active"}};

bool is_layer(const Contents& contents, const std::string& part) {
  return std::ranges::find(contents.input.answers.names, part.substr(0, part.find('+'))) !=
         contents.input.answers.names.end();
}

Cell percent_cell(double value, double ncu) {
  if (!std::isfinite(value)) return missing_cell();
  const std::string beside = std::isfinite(ncu) ? fmt::format("<br><small>ncu {:.1f}</small>", ncu) : "";
  return {.html = fmt::format("{:.1f}{}", value, beside), .kind = "number"};
}

/// Those of a kernel in the semester's network, one set a machine: the last that was given.
std::vector<const SavedCounters*> counters_of(const Contents& contents, const std::string& kernel) {
  std::vector<const SavedCounters*> found;
  for (const SavedCounters& counters : contents.input.evidence.counters) {
    if (counters.kernel != kernel || !counters.model.starts_with(contents.input.semester)) continue;
    std::erase_if(found, [&](const SavedCounters* each) { return each->device == counters.device; });
    found.push_back(&counters);
  }
  return found;
}

/// The counters that were taken of a kernel, as charts and tables; or why the driver gave none.
std::string utilisation(Page& page, const Contents& contents, const KernelFacts& kernel) {
  std::string html;
  for (const SavedCounters* counters : counters_of(contents, kernel.name)) {
    if (!counters->refusal.empty()) {
      html += fmt::format("<p class=\"missing\">No counters: {}</p>\n", escaped(counters->refusal));
    }
    Page::Json labels = Page::Json::array(), series = Page::Json::array();
    std::vector<std::string> headings{"layer", "function"};
    for (const Metric& metric : kMetrics) {
      labels.push_back(metric.name);
      headings.push_back(fmt::format("{}<br>%", metric.name));
    }
    headings.emplace_back("limit");
    Table table(fmt::format("Utilisation, {} images, {}", counters->images, counters->device), headings);
    for (size_t i = 0; i < counters->functions.size(); ++i) {
      const KernelCounters& of = counters->functions[i];
      if (!is_layer(contents, of.part)) continue;
      const std::string function = short_name(of.kernel);
      std::vector<Cell> row{text_cell(of.part), {.html = fmt::format("<code>{}</code>", escaped(function))}};
      Page::Json values = Page::Json::array();
      for (const Metric& metric : kMetrics) {
        const double value = of.value(metric.counter);
        const double ncu = i < counters->ncu.size() ? counters->ncu[i].value(metric.counter) : NAN;
        values.push_back(std::isfinite(value) ? Page::Json(value) : Page::Json());
        row.push_back(percent_cell(value, ncu));
      }
      row.push_back(text_cell(limit_of(of)));
      table.row(std::move(row));
      series.push_back({{"name", fmt::format("{}: {}", of.part, function)}, {"values", values}});
    }
    if (table.empty()) continue;
    constexpr int kChartHeight = 300;
    html += page.chart(fmt::format("Utilisation of {}, % of what the chip can do", kernel.name), kChartHeight,
                       {{"kind", "bars"}, {"unit", "%"}, {"max", 100}, {"labels", labels}, {"series", series}});
    html += table.html();
  }
  return html;
}

/// The kernel's file, and what it includes from the folder of the kernels.
std::string code(const KernelFacts& kernel) {
  const auto details = [](const std::string& file, std::string_view text) {
    return fmt::format("<details><summary><code>{}</code></summary><pre class=\"code\">{}</pre></details>\n",
                       escaped(file), escaped(text));
  };
  std::string html = details(kernel.file, kernel.source);
  constexpr std::string_view kInclude = "#include \"";
  for (const std::string& line : split(kernel.source, '\n')) {
    if (!line.starts_with(kInclude)) continue;
    const std::string file = line.substr(kInclude.size(), line.rfind('"') - kInclude.size());
    const std::string_view text = embedded_file(file);
    if (!text.empty()) html += details(file, text);
  }
  return html;
}

std::string article(Page& page, const Contents& contents, const KernelFacts& kernel) {
  std::string html =
      fmt::format("<article id=\"kernel-{0}\">\n<h3><code>{0}</code></h3>\n<dl>\n", escaped(kernel.name));
  html += paragraph("Idea", kernel.idea + (kernel.after.empty() ? "" : " (a change of " + kernel.after + ")"));
  if (kernel.registered != nullptr) {
    const KernelInfo& info = kernel.registered->info;
    html += paragraph("Threads", info.threads);
    html += paragraph("Per output", info.cost);
    html += paragraph("Refuses", info.refuses);
    html += paragraph("Limited by", info.limit);
  }
  html += "</dl>\n" + effect(contents, kernel) + utilisation(page, contents, kernel);
  return html + code(kernel) + "</article>\n";
}

}  // namespace

void add_optimizations(Page& page, const Contents& contents) {
  std::string html = fmt::format("<p>This network's convolutions: {}.</p>\n", escaped(arithmetic_of_layers(contents)));
  std::vector<std::string> without;
  for (const KernelFacts& kernel : contents.kernels) {
    if (!kernel.source.empty()) html += article(page, contents, kernel);
    const bool counted = !counters_of(contents, kernel.name).empty();
    if (kernel.of_course() && !counted) without.push_back(kernel.name);
  }
  page.deliverable({.what = "Each optimization: its idea, its arithmetic and its code",
                    .section = "optimizations",
                    .there = true,
                    .commands = {}});
  page.deliverable({.what = fmt::format("Utilisation charts of every CUDA kernel ({} lack{})", without.size(),
                                        without.size() == 1 ? "s" : ""),
                    .section = "optimizations",
                    .there = without.empty(),
                    .commands = {fmt::format(
                        "for kernel in {1}; do convlab profile {0} --device cuda -n 10000 --plan layers --kernel "
                        "$kernel --counters --json results/{0}-$kernel.json; done",
                        contents.input.answers.model, fmt::join(without, " "))}});
  page.section("optimizations", "The optimizations", html);
}

}  // namespace convlab
