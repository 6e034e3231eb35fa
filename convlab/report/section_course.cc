// Shows what the course's scripts print, and what their processes cost.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "convlab/measure/contention.h"
#include "convlab/report/html.h"
#include "convlab/report/report.h"

namespace convlab {
namespace {

struct Script {
  std::string_view name, what;
  bool all_sizes;
  bool before_own = false;  ///< also shown in a report about a user's kernels
};
constexpr std::array kScripts{Script{"m1.1", "the library's convolution on the CPU", false, true},
                              Script{"m1.2", "the library's convolution on the GPU", false, true},
                              Script{"m2.1", "the project's own convolution on the CPU", true, true},
                              Script{"m3.1", "the basic CUDA kernel on the GPU", true},
                              Script{"m4.1", "the fastest rung of the ladder on the GPU", true},
                              Script{"final", "the best kernel for each layer on the GPU", true}};

std::string memory(int64_t kb) { return fmt::format("{:.0f} MB", static_cast<double>(kb) / 1000); }

std::string op_times(const SavedRun& run) {
  std::string text;
  for (const SavedLayer& layer : run.layers) {
    if (!layer.problem.empty()) text += (text.empty() ? "" : " + ") + duration(layer.op_time_s * 1e3);
  }
  return text;
}

const SavedRun* find_run(const Contents& contents, std::string_view script, int64_t images) {
  // The newest file is read last, and runs made for this report follow all files.
  const std::vector<SavedRun>& runs = contents.input.evidence.runs;
  const auto found = std::find_if(runs.rbegin(), runs.rend(), [&](const SavedRun& run) {
    const bool own =
        std::ranges::any_of(run.layers, [&](const SavedLayer& each) { return contents.is_own(each.kernel); });
    return run.script() == script && run.images == images && run.model.starts_with(contents.input.semester) && !own;
  });
  return found == runs.rend() ? nullptr : &*found;
}

bool busy(const SavedRun& run) { return run.waited_share && !(*run.waited_share <= kBusy); }

Cell waited_cell(const SavedRun& run) {
  if (!run.waited_share) return missing_cell();
  return {.html = fmt::format("{:.0f} %", 100 * *run.waited_share), .kind = busy(run) ? "number bad" : "number"};
}

std::string where(const SavedRun& run) { return run.machine ? run.machine->device : run.device; }

void add_script(Page& page, const Contents& contents, const Script& script, Table& table, std::string& outputs,
                std::vector<std::string>& disturbed) {
  std::vector<std::string> missing;
  for (int64_t images : kCourseSizes) {
    if (!script.all_sizes && images != kCourseSizes[2]) continue;
    const SavedRun* run = find_run(contents, script.name, images);
    if (run == nullptr) {
      missing.push_back(fmt::format("convlab {0} {1} {2}--json {3}-{0}-{1}.json", script.name, images,
                                    contents.semester_option(), contents.input.semester));
      continue;
    }
    table.row({{.html = fmt::format("<code>{}</code>", script.name)},
               number_cell(std::to_string(images)),
               number_cell(op_times(*run)),
               number_cell(fmt::format("{}", run->accuracy)),
               number_cell(run->user_s ? fmt::format("{:.2f} s", *run->user_s) : "–"),
               number_cell(run->system_s ? fmt::format("{:.2f} s", *run->system_s) : "–"),
               number_cell(fmt::format("{:.2f} s", run->total_s)),
               number_cell(memory(run->max_rss_kb)),
               waited_cell(*run),
               text_cell(where(*run))});
    if (busy(*run)) disturbed.push_back(fmt::format("<code>{} {}</code>", script.name, images));
    outputs += fmt::format(
        "<figure class=\"terminal\"><figcaption>{}</figcaption><pre>$ time convlab {}\n{}{}</pre></figure>\n",
        escaped(where(*run)), escaped(run->command), escaped(run->lines), escaped(run->time));
  }
  page.deliverable({.what = fmt::format("Output and whole-program time of {} ({}{})", script.what, script.name,
                                        script.all_sizes ? "; 100, 1000 and 10000 images" : ""),
                    .section = "outputs",
                    .there = missing.empty(),
                    .commands = missing});
}

/// Returns the runs of the whole network by `convlab run`.
std::string main_job(const Contents& contents) {
  Table table("convlab run: from images in memory to labels",
              {"machine", "images", "plan", "arithmetic", "network", "loading", "whole process", "peak memory",
               "convolution kernels"});
  for (const SavedRun& run : contents.input.evidence.runs) {
    const bool course =
        std::ranges::any_of(kScripts, [&](const Script& script) { return run.script() == script.name; });
    if (course || !run.model.starts_with(contents.input.semester)) continue;
    std::string kernels;
    for (const SavedLayer& layer : run.layers) {
      if (!layer.problem.empty()) kernels += (kernels.empty() ? "" : ", ") + layer.kernel;
    }
    table.row({text_cell(where(run)), number_cell(std::to_string(run.images)), text_cell(run.plan), text_cell(run.math),
               number_cell(duration(run.network_s * 1e3)), number_cell(duration(run.load_s * 1e3)),
               number_cell(duration(run.total_s * 1e3)), number_cell(memory(run.max_rss_kb)), text_cell(kernels)});
  }
  return table.empty() ? "" : "<h3>Whole network</h3>\n" + table.html();
}

}  // namespace

void add_course(Page& page, const Contents& contents) {
  Table table("Course scripts, each in its own process", {"script", "images", "Op Times", "correctness", "user",
                                                          "system", "elapsed", "peak memory", "waited", "machine"});
  std::string outputs;
  std::vector<std::string> disturbed;  // runs on a busy machine
  for (const Script& script : kScripts) {
    if (!script.before_own && !contents.input.own.empty()) continue;
    add_script(page, contents, script, table, outputs, disturbed);
  }
  std::string html =
      table.empty() ? "<p class=\"missing\">No runs of the course scripts are recorded.</p>" : table.html();
  if (!disturbed.empty()) {
    html += fmt::format(
        "<p class=\"bad\">Other programs used the CPUs during {}: these times are too long. Run them again on an idle "
        "machine.</p>\n",
        fmt::join(disturbed, ", "));
  }
  for (const std::string& reason : contents.input.own.empty() ? contents.input.failed : std::vector<std::string>{})
    html += fmt::format("<p class=\"missing\">{}</p>\n", escaped(reason));
  if (contents.input.own.empty()) html += main_job(contents);
  if (!outputs.empty()) html += "<h3>Exact output</h3>\n<div class=\"terminals\">\n" + outputs + "</div>\n";
  page.section("outputs", "Outputs and whole-program times", html);
}

}  // namespace convlab
