// Shows every kernel on every machine: its Op Times, its speedup over the kernel that it changes, and its share of the
// machine's bounds.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "convlab/report/html.h"
#include "convlab/report/report.h"

namespace convlab {
namespace {

constexpr int kRowHeight = 24, kFrame = 110;

/// Returns the kernels measured on a machine, on the semester's layers, at any of the course's sizes.
std::vector<const KernelFacts*> measured(const Contents& contents, const MachineRecords& machine) {
  std::vector<const KernelFacts*> kernels;
  for (const KernelFacts& kernel : contents.kernels) {
    bool found = false;
    for (const std::string& problem : contents.input.answers.problems) {
      for (int64_t n : kCourseSizes) found |= machine.find(kernel.name, with_images(problem, n)) != nullptr;
    }
    if (found) kernels.push_back(&kernel);
  }
  return kernels;
}

std::string heading(const Contents& contents, const MachineRecords& machine) {
  return contents.machines.size() > 1 ? fmt::format("<h3>{}</h3>\n", escaped(machine.machine.device)) : "";
}

std::string kernel_link(const KernelFacts& kernel) {
  return kernel.source.empty() ? fmt::format("<code>{}</code>", escaped(kernel.name))
                               : fmt::format("<a href=\"#kernel-{0}\"><code>{0}</code></a>", escaped(kernel.name));
}

Cell op_time_cell(const KernelFacts& kernel, const Record* record, const std::string& problem) {
  if (record != nullptr) return number_cell(significant(record->op_ms.median));
  const std::string refusal = kernel.refusal(problem);
  if (refusal.empty()) return missing_cell();
  return {.html = fmt::format("<span title=\"{}\">not supported</span>", escaped(refusal)), .kind = "number missing"};
}

std::string op_times(Page& page, const Contents& contents, const MachineRecords& machine) {
  const std::vector<const KernelFacts*> kernels = measured(contents, machine);
  const std::vector<std::string>& problems = contents.input.answers.problems;
  if (kernels.empty()) return "";
  std::vector<std::string> headings{"rung", "kernel", "math"};
  for (size_t layer = 0; layer < problems.size(); ++layer) {
    for (int64_t n : kCourseSizes) headings.push_back(fmt::format("layer {}<br>{}", layer + 1, n));
  }
  Table table("Op Time, ms, median, by layer and number of images", headings);
  for (const KernelFacts* kernel : kernels) {
    std::vector<Cell> row{number_cell(std::to_string(kernel->rung)),
                          {.html = kernel_link(*kernel), .kind = "name"},
                          text_cell(kernel->math)};
    for (const std::string& one : problems) {
      for (int64_t n : kCourseSizes) {
        const std::string problem = with_images(one, n);
        row.push_back(op_time_cell(*kernel, machine.find(kernel->name, problem), problem));
      }
    }
    table.row(std::move(row));
  }
  std::string html = heading(contents, machine);
  for (size_t layer = 0; layer < problems.size(); ++layer) {
    Page::Json labels = Page::Json::array(), series = Page::Json::array();
    for (const KernelFacts* kernel : kernels) labels.push_back(kernel->name);
    for (int64_t n : kCourseSizes) {
      Page::Json values = Page::Json::array();
      for (const KernelFacts* kernel : kernels) {
        const Record* record = machine.find(kernel->name, with_images(problems[layer], n));
        values.push_back(record == nullptr ? Page::Json() : Page::Json(record->op_ms.median));
      }
      series.push_back({{"name", fmt::format("{} images", n)}, {"values", values}});
    }
    html += page.chart(fmt::format("Op Time of layer {}, {}", layer + 1, problems[layer]),
                       kFrame + kRowHeight * static_cast<int>(kernels.size()),
                       {{"kind", "dots"}, {"unit", "ms"}, {"labels", labels}, {"series", series}});
  }
  return html + table.html();
}

Cell gain_cell(const std::optional<Gain>& gain) {
  if (!gain) return missing_cell();
  const std::string_view kind = !gain->sure() ? "number" : gain->ratio > 1 ? "number good" : "number bad";
  return {.html = fmt::format("<span title=\"{} to {}\">{}×{}</span>", significant(gain->low), significant(gain->high),
                              significant(gain->ratio), gain->sure() ? "" : " ?"),
          .kind = std::string(kind)};
}

/// Returns the largest of the course's sizes with a measurement on a machine; 0 if there is none.
int64_t largest_size(const Contents& contents, const MachineRecords& machine) {
  int64_t largest = 0;
  for (int64_t n : kCourseSizes) {
    for (const std::string& one : contents.input.answers.problems) {
      const std::string problem = with_images(one, n);
      if (std::ranges::find(machine.records, problem, &Record::problem) != machine.records.end()) largest = n;
    }
  }
  return largest;
}

Table ladder_table(const Contents& contents, const MachineRecords& machine, const std::string& problem) {
  Table table(fmt::format("{}: device time", problem),
              {"rung", "kernel", "math", "time<br>ms", "gain", "cold caches<br>ms", "GFLOP/s", "GB/s",
               "share of<br>the bound", "bound by", "based on"});
  for (const KernelFacts* kernel : measured(contents, machine)) {
    const Record* record = machine.find(kernel->name, problem);
    if (record == nullptr) continue;
    table.row({number_cell(std::to_string(kernel->rung)),
               {.html = kernel_link(*kernel), .kind = "name"},
               text_cell(kernel->math),
               number_cell(significant(record->hot_ms.median)),
               gain_cell(gain(machine.find(kernel->after, problem), record)),
               number_cell(significant(record->cold_ms.median)),
               number_cell(significant(record->gflops)),
               number_cell(significant(record->gbps)),
               {.html = fmt::format("{:.1f} %", 100 * record->share),
                .kind = "number share",
                .style = fmt::format("--share:{:.4f}", record->share)},
               text_cell(record->limit),
               {.html = fmt::format("<code>{}</code>", escaped(kernel->after)), .kind = "name"}});
  }
  return table;
}

Page::Json roofline(const Contents& contents, const MachineRecords& machine, int64_t n) {
  Page::Json series = Page::Json::array();
  const std::vector<std::string>& problems = contents.input.answers.problems;
  for (size_t layer = 0; layer < problems.size(); ++layer) {
    const std::string problem = with_images(problems[layer], n);
    const double x = intensity(problem);
    Page::Json points = Page::Json::array();
    for (const KernelFacts* kernel : measured(contents, machine)) {
      const Record* record = machine.find(kernel->name, problem);
      if (record != nullptr) points.push_back({{"name", kernel->name}, {"x", x}, {"y", record->gflops}});
    }
    series.push_back({{"name", fmt::format("layer {}", layer + 1)}, {"points", points}});
  }
  const Ceilings& ceilings = machine.records.front().ceilings;
  Page::Json roofs = Page::Json::array();
  const auto roof = [&](std::string_view name, double flops) {
    if (flops > 0) roofs.push_back({{"name", name}, {"gflops", flops * 1e-9}});
  };
  roof("fp32", ceilings.fp32_flops);
  roof("tf32, tensor cores", ceilings.tf32_flops);
  roof("fp16, tensor cores", ceilings.fp16_flops);
  return {{"kind", "roofline"}, {"memory_gbps", ceilings.memory_bytes * 1e-9}, {"roofs", roofs}, {"series", series}};
}

Page::Json shares(const Contents& contents, const MachineRecords& machine, int64_t n) {
  Page::Json labels = Page::Json::array(), series = Page::Json::array();
  const std::vector<const KernelFacts*> kernels = measured(contents, machine);
  for (const KernelFacts* kernel : kernels) labels.push_back(kernel->name);
  const std::vector<std::string>& problems = contents.input.answers.problems;
  for (size_t layer = 0; layer < problems.size(); ++layer) {
    Page::Json values = Page::Json::array();
    for (const KernelFacts* kernel : kernels) {
      const Record* record = machine.find(kernel->name, with_images(problems[layer], n));
      values.push_back(record == nullptr ? Page::Json() : Page::Json(100 * record->share));
    }
    series.push_back({{"name", fmt::format("layer {}", layer + 1)}, {"values", values}});
  }
  return {{"kind", "bars"}, {"unit", "% of the bound"}, {"labels", labels}, {"series", series}};
}

/// Returns whether some machine has the records of all CUDA kernels; `missing` says how many the machine with the most
/// has.
bool all_op_times(const Contents& contents, std::string& missing) {
  size_t most = 0, wanted = 0;
  for (const KernelFacts& kernel : contents.kernels) {
    if (!kernel.of_course()) continue;
    for (const std::string& one : contents.input.answers.problems) wanted += kernel.refusal(one).empty() ? 3 : 0;
  }
  for (const MachineRecords& machine : contents.machines) {
    size_t there = 0;
    for (const KernelFacts& kernel : contents.kernels) {
      if (!kernel.of_course()) continue;
      for (const std::string& one : contents.input.answers.problems) {
        for (int64_t n : kCourseSizes) {
          const std::string problem = with_images(one, n);
          there += kernel.refusal(problem).empty() && machine.find(kernel.name, problem) != nullptr;
        }
      }
    }
    most = std::max(most, there);
  }
  missing = fmt::format("{} of {} present", most, wanted);
  return most >= wanted;
}

std::string bench_command(const Contents& contents) {
  return fmt::format("convlab bench --device cuda --model {0} -n 100,1000,10000 --json {0}.json",
                     contents.input.answers.model);
}

constexpr std::string_view kNoRecords = "<p class=\"missing\">No Records of these layers.</p>\n";

}  // namespace

void add_op_times(Page& page, const Contents& contents) {
  std::string html;
  for (const MachineRecords& machine : contents.machines) html += op_times(page, contents, machine);
  std::string count;
  const bool there = all_op_times(contents, count);
  page.deliverable({.what = fmt::format("Op Times of every CUDA kernel at 100, 1000 and 10000 images ({})", count),
                    .section = "op-times",
                    .there = there,
                    .commands = {bench_command(contents)}});
  page.section("op-times", "Op Times", html.empty() ? kNoRecords : html);
}

void add_ladder(Page& page, const Contents& contents) {
  std::string html;
  bool gpu = false;
  for (const MachineRecords& machine : contents.machines) {
    const auto kernels = static_cast<int>(measured(contents, machine).size());
    if (kernels == 0) continue;
    gpu |= machine.has(DeviceKind::cuda);
    constexpr int kSquare = 420;
    html += heading(contents, machine);
    const int64_t n = largest_size(contents, machine);
    for (const std::string& one : contents.input.answers.problems) {
      html += ladder_table(contents, machine, with_images(one, n)).html();
    }
    html += page.chart(fmt::format("Share of the bound, {} images", n), kFrame + kRowHeight * kernels,
                       shares(contents, machine, n));
    html += page.chart(fmt::format("Roofline, {} images", n), kSquare, roofline(contents, machine, n));
  }
  page.deliverable({.what = "The ladder on a GPU: gain of each step, share of the bound, roofline",
                    .section = "ladder",
                    .there = gpu,
                    .commands = {bench_command(contents)}});
  page.section("ladder", "The ladder", html.empty() ? kNoRecords : html);
}

}  // namespace convlab
