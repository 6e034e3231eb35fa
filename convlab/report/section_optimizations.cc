// Each optimization by itself: its idea, its arithmetic, its code, and what it brought.

#include <fmt/format.h>

#include <algorithm>

#include "convlab/report/html.h"
#include "convlab/report/report.h"

namespace convlab {
namespace {

std::string paragraph(std::string_view name, const std::string& text) {
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

std::string article(const Contents& contents, const KernelFacts& kernel) {
  const KernelNotes notes = notes_of(kernel.source);
  std::string html =
      fmt::format("<article id=\"kernel-{0}\">\n<h3><code>{0}</code></h3>\n<dl>\n", escaped(kernel.name));
  html += paragraph("Idea", kernel.idea + (kernel.after.empty() ? "" : " (a change of " + kernel.after + ")"));
  html += paragraph("Threads", notes.threads);
  html += paragraph("Arithmetic", notes.arithmetic);
  html += paragraph("Refuses", notes.refuses);
  html += paragraph("Limit", notes.limit);
  html += "</dl>\n" + effect(contents, kernel);
  return html +
         fmt::format("<details><summary><code>{}</code></summary><pre class=\"code\">{}</pre></details>\n</article>\n",
                     escaped(kernel.file), escaped(kernel.source));
}

}  // namespace

void add_optimizations(Page& page, const Contents& contents) {
  std::string html = fmt::format("<p>This network's convolutions: {}.</p>\n", escaped(arithmetic_of_layers(contents)));
  for (const KernelFacts& kernel : contents.kernels) {
    if (!kernel.source.empty()) html += article(contents, kernel);
  }
  page.section("optimizations", "The optimizations", html);
}

}  // namespace convlab
