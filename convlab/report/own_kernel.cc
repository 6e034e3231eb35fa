// Finds the evidence of a user's kernel, and what is missing.

#include "convlab/report/own_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ranges>

#include "convlab/base/text.h"
#include "convlab/device/simt.h"
#include "convlab/report/ladder.h"
#include "convlab/report/report.h"

namespace convlab {
namespace {

/// Returns the last value that fits: the newest file is read last, and runs made for this report follow all files.
template <class Value, class Fits>
const Value* newest(const std::vector<Value>& values, Fits fits) {
  const auto found = std::find_if(values.rbegin(), values.rend(), fits);
  return found == values.rend() ? nullptr : &*found;
}

}  // namespace

const SavedVerdict* verdict_of(const Evidence& evidence, const std::string& kernel) {
  return newest(evidence.verdicts, [&](const SavedVerdict& verdict) { return verdict.file == kernel; });
}

const SavedRun* run_of(const Evidence& evidence, const std::string& kernel, const std::string& semester, int64_t images,
                       bool simt) {
  return newest(evidence.runs, [&](const SavedRun& run) {
    const std::string script = run.script();
    if (script != "m2.1" && script != "m3.1" && script != "m4.1" && script != "final") return false;
    const auto is_conv = [](const SavedLayer& layer) { return !layer.problem.empty(); };
    const auto by_other = [&](const SavedLayer& layer) { return is_conv(layer) && layer.kernel != kernel; };
    return run.images == images && run.model.starts_with(semester) && (run.device == "simt") == simt &&
           std::ranges::any_of(run.layers, is_conv) && std::ranges::none_of(run.layers, by_other);
  });
}

const SavedProfile* profile_of(const Evidence& evidence, const std::string& kernel, const std::string& semester,
                               bool simt) {
  const std::string option = fmt::format(" --kernel {} ", kernel);
  return newest(evidence.profiles, [&](const SavedProfile& profile) {
    return (profile.device == "simt") == simt && profile.model.starts_with(semester) &&
           (profile.command + " ").find(option) != std::string::npos;
  });
}

std::vector<const SavedCounts*> counts_of(const Evidence& evidence, const std::string& kernel,
                                          const std::string& semester) {
  std::vector<const SavedCounts*> counts;
  for (const SavedCounts& each : evidence.counts) {
    if (each.kernel != kernel || !each.model.starts_with(semester)) continue;
    const auto same = std::ranges::find_if(counts, [&](const SavedCounts* known) {
      return known->layer == each.layer && known->counts.kernel == each.counts.kernel;
    });
    same == counts.end() ? counts.push_back(&each) : void(*same = &each);
  }
  return counts;
}

bool is_timed(const Evidence& evidence, const std::string& kernel, const std::vector<std::string>& problems) {
  return std::ranges::any_of(evidence.records, [&](const Record& record) {
    if (record.kernel != kernel || record.device == DeviceKind::simt || !record.epilogue.empty()) return false;
    return std::ranges::find(problems, with_images(record.problem, 1)) != problems.end();
  });
}

bool is_predicted(const Evidence& evidence, const std::string& from, const std::string& kernel) {
  return std::ranges::any_of(evidence.predictions, [&](const SavedPrediction& prediction) {
    return prediction.kernel == kernel && prediction.from == from;
  });
}

std::string Want::command(const OwnKernel& kernel) const {
  std::string text = "convlab", what;
  for (const std::string& word : arguments) text += " " + shell_word(word);
  const std::string stem = std::filesystem::path(kernel.name).stem().string();
  switch (kind) {
    case Kind::verdict:
      what = "verdict";
      break;
    case Kind::outputs:
    case Kind::outputs_on_simt:
      what = fmt::format("{}-{}", arguments[0], arguments[1]);
      break;
    case Kind::times:
      what = "times";
      break;
    case Kind::profile:
    case Kind::profile_on_simt:
      what = "profile";
      break;
    case Kind::counts:
      what = "counts";
      break;
    case Kind::prediction:
      what = "prediction";
      break;
  }
  return fmt::format("{} --json {}", text, shell_word(fmt::format("{}-{}.json", stem, what)));
}

std::vector<Want> wants_of(const OwnKernel& kernel, const ReportInput& input) {
  using Kind = Want::Kind;
  using Words = std::vector<std::string>;
  const std::string device = kernel.for_gpu() ? "cuda" : "cpu";
  const bool there_is_device = kernel.device == device, on_simt = kernel.device == "simt";
  const auto with = [](Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const Evidence& evidence = input.evidence;
  const std::string &model = input.answers.model, &semester = input.semester;
  const std::vector<std::string>& problems = input.answers.problems;
  std::vector<Want> wants;
  const Words of_semester = semester == "fa19" ? Words{} : Words{"--semester", semester};
  const SavedVerdict* const verdict = verdict_of(evidence, kernel.name);
  wants.push_back(
      {Kind::verdict, with({"verify", kernel.name, "--device", kernel.device}, of_semester), true, verdict != nullptr});
  if (verdict == nullptr || !verdict->passed()) return wants;

  // A user's CPU loops may take a second for 100 images, and a bench runs them a hundred times.
  const int64_t most_here = kernel.for_gpu() ? kCourseSizes[2] : kCourseSizes[1];
  const int64_t profiled = kernel.for_gpu() ? kCourseSizes[2] : kCourseSizes[0];
  const auto outputs = [&](int64_t images) {
    const char* const script = kernel.for_gpu() ? "m3.1" : "m2.1";
    return with({script, std::to_string(images), "--kernel", kernel.name}, of_semester);
  };
  for (const int64_t images : kCourseSizes) {
    const bool there = run_of(evidence, kernel.name, semester, images, false) != nullptr;
    wants.push_back({Kind::outputs, outputs(images), there_is_device && images <= most_here, there});
  }
  const auto profile = [&](const std::string& name, const std::string& on, int64_t images) {
    return Words{"profile", model, "--kernel", name, "--device", on, "-n", std::to_string(images), "--plan", "layers"};
  };
  const Words with_counters = kernel.for_gpu() ? Words{"--counters"} : Words{};
  wants.push_back({Kind::profile, with(profile(kernel.name, device, profiled), with_counters), there_is_device,
                   profile_of(evidence, kernel.name, semester, false) != nullptr});
  const bool timed =
      is_timed(evidence, kernel.name, problems) && (!there_is_device || is_timed(evidence, kernel.baseline, problems));
  Words bench{"bench",   kernel.name, "--device", device,
              "--model", model,       "-n",       kernel.for_gpu() ? "100,1000,10000" : "100,1000"};
  if (kernel.baseline != kernel.name) bench = with(bench, {"--against", kernel.baseline});
  wants.push_back({Kind::times, bench, there_is_device && kernel.for_gpu(), timed});
  if (on_simt) {
    wants.push_back({Kind::outputs_on_simt, with(outputs(kImagesOnSimt), {"--device", "simt"}), true,
                     run_of(evidence, kernel.name, semester, kImagesOnSimt, true) != nullptr});
    wants.push_back({Kind::profile_on_simt, profile(kernel.name, "simt", kImagesToCount), true,
                     profile_of(evidence, kernel.name, semester, true) != nullptr});
  }
  if (!kernel.for_gpu()) return wants;
  Words counted{kernel.name};
  if (kernel.baseline != kernel.name) counted.push_back(kernel.baseline);
  for (const std::string& name : counted) {
    wants.push_back({Kind::counts, with(profile(name, "simt", kImagesToCount), {"--counters"}), simt_present(),
                     !counts_of(evidence, name, semester).empty()});
  }
  if (kernel.baseline != kernel.name) {
    wants.push_back({Kind::prediction,
                     {"predict", kernel.name, "--from", kernel.baseline, "--model", model},
                     simt_present(),
                     is_predicted(evidence, kernel.baseline, kernel.name)});
  }
  return wants;
}

}  // namespace convlab
