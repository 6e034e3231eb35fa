// Shows each optimization: its idea, its arithmetic, its code, and its gain.

#include <fmt/format.h>

#include <algorithm>

#include "convlab/base/text.h"
#include "convlab/report/embedded.h"
#include "convlab/report/html.h"
#include "convlab/report/report.h"
#include "convlab/report/utilisation.h"

namespace convlab {
namespace {

std::string paragraph(std::string_view name, std::string_view text) {
  return text.empty() ? "" : fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, escaped(text));
}

std::string arithmetic_of_layers(const Contents& contents) {
  std::string text;
  int layer = 0;
  for (const std::string& problem : contents.input.answers.problems) {
    const ConvProblem one = parse_problem(problem);
    text +=
        fmt::format("{}layer {}: {} multiply-adds per output, {:.3g} Mflop per image, {:.3g} flops per compulsory byte",
                    text.empty() ? "" : "; ", ++layer, one.terms(), one.flops() * 1e-6,
                    intensity(with_images(problem, kCourseSizes[2])));
  }
  return text;
}

/// Returns "12.0 → 9.03, 1.33×", or only the time if there is nothing to compare it with.
Cell effect_cell(const Record* before, const Record* now) {
  if (now == nullptr) return missing_cell();
  const std::string time = significant(now->op_ms.median);
  if (before == nullptr) return number_cell(time);
  const double ratio = before->op_ms.median / now->op_ms.median;
  return {.html = fmt::format("{} → {}, <span class=\"{}\">{}×</span>", significant(before->op_ms.median), time,
                              ratio >= 1 ? "good" : "bad", significant(ratio)),
          .kind = "number"};
}

/// Returns the Op Times before and after, one table per machine on which the kernel was measured.
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

/// Returns the kernel's file, and the embedded files that it includes.
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
  html += paragraph("Idea", kernel.idea + (kernel.after.empty() ? "" : " (based on " + kernel.after + ")"));
  if (kernel.registered != nullptr) {
    const KernelInfo& info = kernel.registered->info;
    html += paragraph("Threads", info.threads);
    html += paragraph("Per output", info.cost);
    html += paragraph("Not supported", info.refuses);
    html += paragraph("Limited by", info.limit);
  }
  html += "</dl>\n" + effect(contents, kernel) + utilisation(page, contents, kernel.name);
  return html + code(kernel) + "</article>\n";
}

}  // namespace

void add_optimizations(Page& page, const Contents& contents) {
  std::string html = fmt::format("<p>This network's convolutions, for {} images: {}.</p>\n", kCourseSizes[2],
                                 escaped(arithmetic_of_layers(contents)));
  std::vector<std::string> without;
  size_t wanted = 0;
  for (const KernelFacts& kernel : contents.kernels) {
    if (!kernel.source.empty()) html += article(page, contents, kernel);
    if (!kernel.of_course()) continue;
    ++wanted;
    if (!has_counters(contents, kernel.name)) without.push_back(kernel.name);
  }
  page.deliverable({.what = "Idea, arithmetic and code of each optimization",
                    .section = "optimizations",
                    .there = true,
                    .commands = {}});
  page.deliverable({.what = fmt::format("Utilization charts of every CUDA kernel ({} of {} present)",
                                        wanted - without.size(), wanted),
                    .section = "optimizations",
                    .there = without.empty(),
                    .commands = {fmt::format(
                        "for kernel in {1}; do convlab profile {0} --device cuda -n 10000 --plan layers --kernel "
                        "$kernel --counters --json {0}-$kernel.json; done",
                        contents.input.answers.model, fmt::join(without, " "))}});
  page.section("optimizations", "Optimizations", html);
}

}  // namespace convlab
