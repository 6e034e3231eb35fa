// Verifies and times submissions on a GPU.

#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "convlab/base/file.h"
#include "convlab/base/text.h"
#include "convlab/judge/gpu_process.h"
#include "convlab/judge/gpu_replay.h"
#include "convlab/judge/judging.h"
#include "convlab/judge/ratio_sampling.h"
#include "convlab/kernel_file/host_command.h"
#include "convlab/kernels/registry.h"

namespace convlab::judge {
namespace fs = std::filesystem;
namespace {

/// Returns what the GPU process reports. It is trusted, because it runs no host code of the submission.
std::string what_it_did(const Json& answer) {
  return printable(answer.at(answer.contains("wrong") ? "wrong" : "fault").get<std::string>());
}

}  // namespace

Json Judging::ask_gpu(Json request, const Task& task, const char* when, double limit_s) {
  request["gpu"] = gpu_;
  request["cubin"] = cubin_.string();
  request["zeros"] = is_of_course();
  if (std::optional<Json> json = replayed_on_gpu(std::move(request), work_, seconds_left(limit_s))) return *json;
  end_at(task, Verdict::timed_out, fmt::format("{}: did not finish within {:g} s", when, limit_s),
         "check for kernels that wait for another block or for a flag");
}

void Judging::verify_on_gpu(bool secret, std::initializer_list<Fill> fills) {
  struct Run {
    const Task& task;
    Probe probe;
    fs::path output;
  };
  std::vector<Run> runs;
  Json request = {{"work", "verify"}, {"runs", Json::array()}};
  for (const Task& task : tasks_) {
    if (task.timed || task.secret != secret) continue;
    for (const Fill fill : fills_of(task)) {
      if (std::ranges::find(fills, fill) == fills.end()) continue;
      Run& run =
          runs.emplace_back(Run{task, {task.problem, fill, judgement_.math, random_.next()}, written("output", "")});
      request["runs"].push_back({{"list", task.list.string()},
                                 {"problem", to_text(task.problem)},
                                 {"inputs", written_inputs(run.probe).string()},
                                 {"output", run.output.string()}});
    }
  }
  const Json answer =
      ask_gpu(std::move(request), runs.front().task, "during kernel execution", assignment_.limits.verify_s);
  const auto done = answer.at("done").get<size_t>();
  for (size_t i = 0; i < done; ++i) {
    const std::vector<uint8_t> got = read_file(runs[i].output);
    require_right(runs[i].task, runs[i].probe,
                  {reinterpret_cast<const float*>(got.data()), got.size() / sizeof(float)});
  }
  if (done < runs.size()) end_at(runs[done].task, Verdict::wrong, what_it_did(answer), kTrySimt);
}

void Judging::verify_on_gpu() {
  for (const bool secret : {false, true}) {
    hidden_if_secret({.secret = secret}, [&] {
      for (Task& task : tasks_) {
        if (secret && task.secret) record(task);
      }
      verify_on_gpu(secret, {Fill::reals, Fill::signed_reals});
      verify_on_gpu(
          secret, {Fill::integers, Fill::one_nan});  // their values depend on the class that the other fills have shown
    });
  }
}

Judging::GpuReference Judging::reference_on_gpu() const {
  const fs::path file = header_root() / require_conv_kernel(assignment_.reference, DeviceKind::simt).info.file;
  const KernelSource source = read_kernel_source(file);
  return {{file, compile_kernel_file(source, Toolchain::simt, {}).library},
          compile_kernel_file(source, Toolchain::nvcc, machine_code()).library};
}

void Judging::time_on_gpu() {
  const GpuReference reference = reference_on_gpu();
  std::vector<const Task*> timed;
  Json layers = Json::array();
  for (const Task& task : tasks_) {
    if (!task.timed) continue;
    timed.push_back(&task);
    const LaunchList list = recorded(reference.file, task, false).list;
    layers.push_back(
        {{"problem", to_text(task.problem)}, {"list", task.list.string()}, {"reference", written_list(list).string()}});
  }
  const Json answer = ask_gpu({{"work", "time"},
                               {"layers", layers},
                               {"math", name_of(judgement_.math)},
                               {"reference_cubin", reference.cubin.string()},
                               {"key", to_text(random_.next_key())},
                               {"limit_s", assignment_.limits.timing_s}},
                              *timed.front(), "during timing", assignment_.limits.timing_s);
  if (answer.contains("layer")) {
    const Task& task = *timed.at(answer.at("layer").get<size_t>());
    end_at(task, Verdict::wrong, what_it_did(answer), kTrySimt);
  }
  const auto figures = [](const Json& json, const char* name) { return json.at(name).get<std::vector<double>>(); };
  RatioSampling sampling;
  for (const Json& sample : answer.at("samples"))
    sampling.add(figures(sample, "seconds"), figures(sample, "reference"));
  const std::vector<double> least_s = figures(answer, "least_s");
  require_above(sampling.median_s(), std::accumulate(least_s.begin(), least_s.end(), 0.0));
  keep_times(sampling, timed, figures(answer, "bound_s"));
}

void Judging::require_above(double seconds, double least_s) {
  if (seconds >= least_s) return;
  throw Ended{Verdict::refused,
              fmt::format("{:.3g} s is impossible: with 1/8 of the operations and each array moved once, "
                          "this GPU needs {:.3g} s",
                          seconds, least_s),
              ""};
}

}  // namespace convlab::judge
