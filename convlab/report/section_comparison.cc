// Compares the user's kernels with convlab's: one table per GPU.

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "convlab/report/before_after.h"
#include "convlab/report/html.h"
#include "convlab/report/report.h"

namespace convlab {
namespace {

struct Row {
  std::string name, idea;
  int rung = 0;
  double all_ms = 0;
  std::vector<const Record*> records;  ///< by layer
};

std::string table_of(const Contents& contents, const MachineRecords& machine, int64_t images) {
  std::vector<Row> rows;
  const auto add = [&](const std::string& name, const std::string& idea, int rung) {
    if (std::ranges::find(rows, name, &Row::name) != rows.end()) return;
    Row row{name, idea, rung, all_op_times(contents, machine, name, images), {}};
    if (row.all_ms == 0) return;
    for (const std::string& one : contents.input.answers.problems) {
      row.records.push_back(machine.find(name, with_images(one, images)));
    }
    rows.push_back(std::move(row));
  };
  for (const OwnKernel& own : contents.input.own) add(own.name, "", 0);
  for (const KernelFacts& kernel : contents.kernels) {
    if (kernel.of_course()) add(kernel.name, kernel.idea, kernel.rung);
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), &Row::all_ms);
  std::vector<std::string> headings{"rung", "kernel"};
  for (const std::string& name : contents.input.answers.names) headings.push_back(escaped(name) + "<br>ms");
  headings.insert(headings.end(), {"total<br>ms", "speedup over<br>slowest", "idea"});
  Table table(fmt::format("Op Time, {} images, {}, slowest first", images, machine.machine.device), headings);
  for (const Row& row : rows) {
    const bool own = contents.is_own(row.name);
    std::vector<Cell> cells{own ? missing_cell() : number_cell(std::to_string(row.rung)),
                            {.html = own ? fmt::format("<strong><code>{}</code></strong>", escaped(row.name))
                                         : fmt::format("<code>{}</code>", escaped(row.name)),
                             .kind = own ? "name own" : "name"}};
    for (const Record* record : row.records) cells.push_back(number_cell(significant(record->op_ms.median)));
    cells.push_back(number_cell(significant(row.all_ms)));
    cells.push_back(number_cell(significant(rows.front().all_ms / row.all_ms) + "×"));
    cells.push_back({.html = escaped(row.idea), .kind = "long"});
    table.row(std::move(cells));
  }
  if (table.empty()) return "";
  const bool has_own = std::ranges::any_of(rows, [&](const Row& row) { return contents.is_own(row.name); });
  return (has_own ? "" : "<p class=\"missing\">No kernel of this report was timed on this machine.</p>\n") +
         table.html();
}

}  // namespace

void add_comparison(Page& page, const Contents& contents) {
  std::string html;
  for (const MachineRecords& machine : contents.machines) {
    if (!machine.has(DeviceKind::cuda)) continue;
    for (size_t i = std::size(kCourseSizes); i-- > 0;) {
      const std::string table = table_of(contents, machine, kCourseSizes[i]);
      html += table;
      if (!table.empty()) break;
    }
  }
  if (html.empty()) {
    html =
        "<p class=\"missing\">No Records of convlab's kernels on this network; make them with <code>convlab bench "
        "--device cuda --model " +
        escaped(contents.input.answers.model) + " -n 10000 --json ladder.json</code>.</p>\n";
  } else {
    html =
        "<p>Each of these kernels changes one thing of another kernel; <code>convlab report</code> without "
        "<code>--kernel</code> shows their code and the gain of each change.</p>\n" +
        html;
  }
  page.section("comparison", "Comparison with convlab’s kernels", html);
}

}  // namespace convlab
