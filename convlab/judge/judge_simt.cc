// Verifies submissions and collects their counters on simt.

#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "convlab/base/checked.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/limits.h"
#include "convlab/base/text.h"
#include "convlab/judge/judging.h"
#include "convlab/judge/reported_finding.h"
#include "convlab/measure/json_members.h"
#include "convlab/simt/product.h"

namespace convlab::judge {
namespace fs = std::filesystem;

Json Judging::replay(const Task& task, const Probe& probe, const fs::path& output, JailEnd& end) {
  const fs::path inputs = written_inputs(probe);
  const fs::path& library = task.counted ? counted_library_ : library_;
  return ask("replay",
             {{"library", library.string()},
              {"list", task.list.string()},
              {"problem", to_text(task.problem)},
              {"lenient", is_of_course()},
              {"zeros", is_of_course()},
              {"counted", task.counted},
              {"threads", usable_threads()},
              {"inputs", inputs.string()},
              {"output", output.string()}},
             {source_.path, library, task.list, inputs}, {output}, seconds_left(assignment_.limits.verify_s), end);
}

void Judging::verify(const Task& task, Fill fill) {
  const Probe probe(task.problem, fill, judgement_.math, random_.next());
  const auto bytes = static_cast<size_t>(task.problem.output_count()) * sizeof(float);
  const fs::path output = work_ / "output";
  {
    const std::string unwritten(bytes, '\xff');
    write_file(output, unwritten);
  }
  JailEnd end;
  const Json answer = replay(task, probe, output, end);
  if (!task.secret) keep_log(end.printed);
  require_end(end, answer, task, "during kernel execution", assignment_.limits.verify_s);
  if (const std::optional<Finding> finding = reported_finding(answer, source_.path)) end_at(task, *finding);
  if (answer.contains("fault") || answer.contains("threw")) {
    end_at(task, Verdict::wrong, text_in(answer, answer.contains("fault") ? "text" : "threw"), kTryVerify);
  }
  if (task.counted) return keep_counters(task, answer);
  const std::vector<uint8_t> got = read_file(output, static_cast<int64_t>(bytes) + 1);
  if (got.size() != bytes) end_at(task, Verdict::wrong, "the submission changed the size of its output", "");
  require_right(task, probe, {reinterpret_cast<const float*>(got.data()), got.size() / sizeof(float)});
}

void Judging::keep_counters(const Task& task, const Json& answer) {
  // A submission that took over the process may have written any number; their sums must not overflow.
  constexpr int64_t kMostCount = int64_t{1} << 50;
  try {
    JsonMembers(answer, "counters").objects("counts", [&](const JsonMembers& each) {
      KernelCountsSummary& counts = judgement_.counters.emplace_back();
      counts.layer = to_text(task.problem);
      each.read("kernel", counts.kernel);
      counts.kernel = printable(counts.kernel);
      const auto read = [&](const char* name, int64_t& count) {
        each.read(name, count);
        if (count < 0 || count > kMostCount) throw bad_input("'{}' is out of range: {}", name, count);
      };
      read("launches", counts.launches);
      read("flops", counts.flops);
      read("global_sectors", counts.global_sectors);
      read("least_sectors", counts.least_sectors);
      read("shared_wavefronts", counts.shared_wavefronts);
      read("bank_conflicts", counts.bank_conflicts);
      each.read("occupancy", counts.occupancy);
      if (!(counts.occupancy >= 0 && counts.occupancy <= 1))
        throw bad_input("'occupancy' must be between 0 and 1, got {}", counts.occupancy);
    });
    if (task.products.launches > 0) judgement_.counters.push_back(task.products);
  } catch (const Error& error) {
    throw Ended{Verdict::forbidden, fmt::format("invalid counters: {}", printable(error.what())), ""};
  }
  double flops = 0;
  for (const KernelCountsSummary& each : judgement_.counters) {
    if (each.layer == to_text(task.problem)) flops += static_cast<double>(each.flops);
  }
  if (flops * kMostSavedFlops < task.problem.flops()) {
    throw Ended{Verdict::refused,
                fmt::format("{}: kernels did {:.3g} FLOP, but the convolution needs {:.3g}; no algorithm saves that "
                            "many, so y is computed outside the kernels",
                            to_text(task.problem), flops, task.problem.flops()),
                "do all computation in kernels"};
  }
}

KernelCountsSummary Judging::products_of(const ConvProblem& problem, const LaunchList& list) {
  KernelCountsSummary counts{.layer = to_text(problem), .kernel = "cuBLAS"};
  for (const Operation& op : list.operations) {
    if (!is_product(op)) continue;
    ++counts.launches;
    counts.flops = checked_add(counts.flops, simt::flops_of(op.product));
  }
  return counts;
}

void Judging::verify() {
  for (Task& task : tasks_) {
    hidden_if_secret(task, [&] {
      if (task.secret) record(task);
      for (const Fill fill : fills_of(task)) verify(task, fill);
    });
  }
}

}  // namespace convlab::judge
