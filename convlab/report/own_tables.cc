// Makes the tables and charts of a user's kernel.

#include "convlab/report/own_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "convlab/base/text.h"
#include "convlab/report/before_after.h"
#include "convlab/report/html.h"
#include "convlab/report/request_picture.h"

namespace convlab {
namespace {

constexpr int64_t kLargest = kCourseSizes[2];

Cell verdict_cell(const SavedVerdict* verdict) {
  if (verdict == nullptr) return missing_cell();
  return {.html = fmt::format("<strong class=\"{}\">{}</strong>", verdict->passed() ? "good" : "bad",
                              escaped(verdict->verdict))};
}

/// Returns the machine that has the kernel's Records at the largest size; nullptr if there is none.
const MachineRecords* machine_of(const Contents& contents, const std::string& kernel) {
  for (const MachineRecords& machine : contents.machines) {
    if (all_op_times(contents, machine, kernel, kLargest) > 0) return &machine;
  }
  return nullptr;
}

/// Returns all runs of the kernel: simt's, and the course's sizes.
std::vector<const SavedRun*> runs_of(const Contents& contents, const std::string& kernel) {
  std::vector<const SavedRun*> runs;
  const auto add = [&](int64_t images, bool simt) {
    const SavedRun* run = run_of(contents.input.evidence, kernel, contents.input.semester, images, simt);
    if (run != nullptr) runs.push_back(run);
  };
  add(kImagesOnSimt, true);
  for (const int64_t images : kCourseSizes) add(images, false);
  return runs;
}

/// Returns "31.2 ms + 30.1 ms: computes in its prolog"; a missing cell for a file without a prolog and an epilog.
Cell layer_times_cell(const SavedRun& run, const std::string& kernel) {
  std::string text;
  bool early = false;
  for (const SavedFilePhases& each : run.file_phases) {
    if (each.file != kernel) continue;
    text += (text.empty() ? "" : " + ") + duration(each.layer_s * 1e3);
    early |= each.computes_in_prolog;
  }
  if (text.empty()) return missing_cell();
  return number_cell(text + (early ? ": computes in its prolog" : ""));
}

}  // namespace

std::string own_overview(const Contents& contents) {
  Table table("Kernels in the order given",
              {"file", "verdict", fmt::format("Op Times,<br>{} images", kLargest), "speedup over<br>baseline",
               "sectors,<br>of baseline", "baseline", "findings"});
  for (size_t i = 0; i < contents.input.own.size(); ++i) {
    const OwnKernel& kernel = contents.input.own[i];
    const MachineRecords* const machine = machine_of(contents, kernel.name);
    const double after = machine == nullptr ? 0 : all_op_times(contents, *machine, kernel.name, kLargest);
    const double before = machine == nullptr ? 0 : all_op_times(contents, *machine, kernel.baseline, kLargest);
    const double sectors = sectors_of_baseline(contents, kernel);
    const auto times = [](double ratio, bool good) {
      return Cell{.html = significant(ratio) + "×", .kind = good ? "number good" : "number bad"};
    };
    size_t lessons = 0;
    for (const SavedCounts* each : counts_of(contents.input.evidence, kernel.name, contents.input.semester)) {
      lessons += each->lessons.size();
    }
    table.row(
        {{.html = fmt::format("<a href=\"#own-{}\"><code>{}</code></a>", i + 1, escaped(kernel.name)), .kind = "name"},
         verdict_cell(verdict_of(contents.input.evidence, kernel.name)),
         after > 0 ? number_cell(duration(after)) : missing_cell(),
         after > 0 && before > 0 ? times(before / after, before >= after) : missing_cell(),
         sectors > 0 ? times(sectors, sectors <= 1) : missing_cell(),
         {.html = fmt::format("<code>{}</code>", escaped(kernel.baseline)), .kind = "name"},
         number_cell(std::to_string(lessons))});
  }
  return table.html();
}

std::string output_table(const Contents& contents, const OwnKernel& kernel) {
  Table table("The course's script with this kernel", {"images", "correctness", "correctness<br>expected", "Op Times",
                                                       "prolog to<br>epilog", "elapsed", "machine"});
  std::string lines;
  bool simt = false;
  for (const SavedRun* run : runs_of(contents, kernel.name)) {
    std::string op_times;
    for (const SavedLayer& layer : run->layers) {
      if (!layer.problem.empty()) op_times += (op_times.empty() ? "" : " + ") + duration(layer.op_time_s * 1e3);
    }
    const Answers& answers = contents.input.answers;
    const double expected = answers.accuracy(std::min<int64_t>(run->images, std::ssize(answers.predicted)));
    simt |= run->device == "simt";
    table.row({number_cell(std::to_string(run->images)),
               {.html = fmt::format("{}", run->accuracy), .kind = run->accuracy == expected ? "number" : "number bad"},
               number_cell(fmt::format("{}", expected)),
               number_cell(op_times),
               layer_times_cell(*run, kernel.name),
               number_cell(fmt::format("{:.2f} s", run->total_s)),
               text_cell(run->machine ? run->machine->device : run->device)});
    lines += fmt::format(
        "<figure class=\"terminal\"><figcaption>{}</figcaption><pre>$ time convlab {}\n{}{}</pre></figure>\n",
        escaped(run->machine ? run->machine->device : run->device), escaped(run->command), escaped(run->lines),
        escaped(run->time));
  }
  if (table.empty()) return "";
  std::string html = table.html();
  if (simt) {
    html += fmt::format(
        "<p class=\"where\">simt executes CUDA kernels on the CPU: its run of {} images shows that the outputs are "
        "right; its times are CPU times.</p>\n",
        kImagesOnSimt);
  }
  return html + "<div class=\"terminals\">\n" + lines + "</div>\n";
}

std::string profile_tables(const Contents& contents, const OwnKernel& kernel) {
  const Evidence& evidence = contents.input.evidence;
  const SavedProfile* profile = profile_of(evidence, kernel.name, contents.input.semester, false);
  const bool simt = profile == nullptr;
  if (simt) profile = profile_of(evidence, kernel.name, contents.input.semester, true);
  if (profile == nullptr) return "";
  return profile_lists(*profile) +
         (simt ? fmt::format("<p class=\"where\">Profiled on simt with {} image{}: kernels and layers are those of a "
                             "GPU, but times and shares are CPU times, and CUDA API calls are missing.</p>\n",
                             profile->images, profile->images == 1 ? "" : "s")
               : "");
}

std::string count_table(const std::vector<const SavedCounts*>& counts) {
  if (counts.empty()) return "";
  Table table(
      fmt::format("Counted on simt, {} image{}", counts.front()->images, counts.front()->images == 1 ? "" : "s"),
      {"line", "array", "memory", "access", "requests", "lanes", "sectors", "used", "wavefronts", "ways"});
  std::string html;
  for (const SavedCounts* each : counts) {
    for (const LineCounts& line : each->counts.lines) {
      const MemoryCounts& all = line.counts;
      const auto a_request = [&](int64_t sum) {
        return fmt::format("{:.2f}",
                           static_cast<double>(sum) / static_cast<double>(std::max<int64_t>(1, all.requests)));
      };
      const bool global = line.space == MemorySpace::global;
      const auto share = [](int64_t part, int64_t whole) {
        return static_cast<double>(part) / static_cast<double>(std::max<int64_t>(1, whole));
      };
      table.row(
          {{.html = fmt::format("{}, {}", escaped(line.where), escaped(each->layer)), .kind = "name"},
           {.html = fmt::format("<code>{}</code>", escaped(line.array))},
           text_cell(name_of(line.space)),
           text_cell(name_of(line.type)),
           number_cell(std::to_string(all.requests)),
           number_cell(a_request(all.lanes)),
           global ? number_cell(a_request(all.sectors)) : missing_cell(),
           global ? number_cell(fmt::format("{:.0f} %", 100 * share(all.bytes, all.sectors * kSectorBytes)))
                  : missing_cell(),
           global ? missing_cell() : number_cell(a_request(all.wavefronts)),
           global ? missing_cell() : number_cell(fmt::format("{:.2f}", share(all.wavefronts, all.least_wavefronts)))});
    }
    html += fmt::format(
        "<li>{}, <code>{}</code>: {} warps, {:.1f} of 32 lanes active, {:.4g} flops; at most {} blocks per "
        "multiprocessor ({:.0f} % occupancy, limited by {})</li>\n",
        escaped(each->layer), escaped(each->counts.kernel), each->counts.warps, each->active_lanes,
        static_cast<double>(each->counts.flops), each->occupancy.blocks, 100 * each->occupancy.share,
        escaped(each->occupancy.limiter));
  }
  return "<ul>\n" + html + "</ul>\n" + table.html() +
         "<p class=\"where\">Lanes, sectors and wavefronts are means per request; a request is one instruction of one "
         "warp. They match a GPU, except that nvcc may merge adjacent loads.</p>\n";
}

std::string roofline_chart(Page& page, const Contents& contents, const OwnKernel& kernel,
                           const MachineRecords& machine) {
  int64_t images = 0;
  for (const int64_t n : kCourseSizes) {
    if (all_op_times(contents, machine, kernel.name, n) > 0) images = n;
  }
  if (images == 0) return "";
  const Ceilings* ceilings = nullptr;
  Page::Json series = Page::Json::array(), roofs = Page::Json::array();
  std::vector<std::string> names{kernel.name};
  if (kernel.baseline != kernel.name) names.push_back(kernel.baseline);
  for (const std::string& name : names) {
    Page::Json points = Page::Json::array();
    for (size_t i = 0; i < contents.input.answers.problems.size(); ++i) {
      const std::string problem = with_images(contents.input.answers.problems[i], images);
      const Record* const record = machine.find(name, problem);
      if (record == nullptr) continue;
      if (ceilings == nullptr) ceilings = &record->ceilings;
      points.push_back({{"x", intensity(problem)}, {"y", record->gflops}});
    }
    if (!points.empty()) series.push_back({{"name", name}, {"points", points}});
  }
  roofs.push_back({{"name", "fp32"}, {"gflops", ceilings->fp32_flops * 1e-9}});
  if (ceilings->tf32_flops > 0) {
    roofs.push_back({{"name", "tf32, tensor cores"}, {"gflops", ceilings->tf32_flops * 1e-9}});
  }
  constexpr int kHeight = 360;
  const std::string device = text_before(machine.machine.device, ',');
  std::string places;
  for (size_t i = 0; i < contents.input.answers.problems.size(); ++i) {
    const std::string problem = with_images(contents.input.answers.problems[i], images);
    places +=
        fmt::format("{}{} at {}", i == 0 ? "" : ", ", contents.input.answers.names[i], significant(intensity(problem)));
  }
  return page.chart(
      fmt::format("Roofline of {}, {} images, {}: {}", kernel.name, images, device, places), kHeight,
      {{"kind", "roofline"}, {"memory_gbps", ceilings->memory_bytes * 1e-9}, {"roofs", roofs}, {"series", series}});
}

std::string prediction_table(const Contents& contents, const OwnKernel& kernel) {
  Table table("Predicted and measured times",
              {"problem", "machine", "predicted", "measured", "measured /<br>predicted",
               fmt::format("ratio to {},<br>predicted", escaped(kernel.baseline)), "measured", "reason"});
  for (const SavedPrediction& prediction : contents.input.evidence.predictions) {
    if (prediction.kernel != kernel.name) continue;
    const Record *measured = nullptr, *before = nullptr;
    for (const MachineRecords& machine : contents.machines) {
      if (!machine.machine.device.starts_with(prediction.device)) continue;
      measured = machine.find(kernel.name, prediction.problem);
      before = machine.find(kernel.baseline, prediction.problem);
    }
    const bool step = prediction.from == kernel.baseline, both = measured && before;
    table.row({text_cell(prediction.problem),
               text_cell(prediction.device),
               number_cell(duration(prediction.ms)),
               measured ? number_cell(duration(measured->hot_ms.median)) : missing_cell(),
               measured ? number_cell(significant(measured->hot_ms.median / prediction.ms) + "×") : missing_cell(),
               step ? number_cell(significant(prediction.ms / prediction.from_ms) + "×") : missing_cell(),
               both ? number_cell(significant(measured->hot_ms.median / before->hot_ms.median) + "×") : missing_cell(),
               {.html = escaped(prediction.why), .kind = "long"}});
  }
  return table.empty() ? "" : table.html();
}

std::string pictures_of(const std::vector<const SavedCounts*>& counts, MemorySpace space) {
  const LineCounts *most = nullptr, *spared = nullptr;
  const auto cost = [](const LineCounts& line) { return line.counts.sectors + line.counts.wavefronts; };
  const auto excess = [](const LineCounts& line) {
    return line.counts.sectors - line.counts.least_sectors + line.counts.bank_conflicts();
  };
  for (const SavedCounts* each : counts) {
    for (const LineCounts& line : each->counts.lines) {
      if (line.space != space || line.example.lanes == 0) continue;
      if (most == nullptr || cost(line) > cost(*most)) most = &line;
      if (spared == nullptr || excess(line) > excess(*spared)) spared = &line;
    }
  }
  if (most == nullptr) return "";
  const bool global = space == MemorySpace::global;
  std::string html = request_picture(*most, global ? "most sectors" : "most wavefronts");
  const bool other = spared->where != most->where || spared->array != most->array || spared->type != most->type;
  if (other && excess(*spared) > 0) {
    html += request_picture(*spared, global ? "most avoidable sectors" : "most bank conflicts");
  }
  return html;
}

}  // namespace convlab
