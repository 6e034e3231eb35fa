// Collects kernels and Records for a report.

#include "convlab/report/ladder.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "convlab/kernels/registry.h"
#include "convlab/report/embedded.h"

namespace convlab {
namespace {

bool is_gpu(DeviceKind kind) { return kind != DeviceKind::cpu; }

}  // namespace

std::vector<KernelFacts> all_kernels(const std::vector<Record>& records) {
  std::vector<KernelFacts> kernels;
  const auto add = [&](KernelFacts facts) {
    if (facts.device == DeviceKind::simt) facts.device = DeviceKind::cuda;
    if (std::ranges::any_of(kernels, [&](const KernelFacts& known) { return known.name == facts.name; })) return;
    facts.source = embedded_file(facts.file);
    kernels.push_back(std::move(facts));
  };
  for (const Kernel& kernel : conv_kernels()) {
    const KernelInfo& info = kernel.info;
    add({.name = std::string(info.name),
         .math = std::string(name_of(info.math)),
         .idea = std::string(info.idea),
         .after = std::string(info.after),
         .file = std::string(info.file),
         .rung = info.rung,
         .device = info.device,
         .registered = &kernel});
  }
  for (const Record& record : records) {
    add({.name = record.kernel, .math = record.math, .rung = record.rung, .device = record.device});
  }
  std::ranges::stable_sort(kernels, {}, [](const KernelFacts& kernel) {
    return std::tuple(!is_gpu(kernel.device), kernel.rung, kernel.name);
  });
  return kernels;
}

std::string KernelFacts::refusal(const std::string& problem) const {
  if (registered == nullptr) return "";
  // GPUs differ only far above what the course's layers need, so an H200's values represent all.
  const DeviceCaps kGpu{.compute_capability = 90, .multiprocessors = 132, .shared_bytes_per_block = 227 << 10};
  DeviceCaps caps = kGpu;
  caps.kind = registered->info.device;
  return registered->refuses(ConvStep{.problem = parse_problem(problem)}, caps).value_or("");
}

const Record* MachineRecords::find(const std::string& kernel, const std::string& problem) const {
  const auto found = std::ranges::find_if(
      records, [&](const Record& record) { return record.kernel == kernel && record.problem == problem; });
  return found == records.end() ? nullptr : &*found;
}

bool MachineRecords::has(DeviceKind device) const {
  return std::ranges::any_of(records, [&](const Record& record) { return record.device == device; });
}

std::vector<MachineRecords> by_machine(const std::vector<Record>& records) {
  using Tuned = std::tuple<std::string, std::string, std::map<std::string, int>>;
  struct Group {
    Machine machine;
    std::map<Tuned, const Record*> newest;
  };
  std::vector<Group> groups;
  for (const Record& record : records) {
    if (!record.epilogue.empty()) continue;  // a report compares convolutions alone
    auto group = std::ranges::find_if(groups, [&](const Group& each) {
      return each.machine.device == record.machine.device && each.machine.cpu == record.machine.cpu;
    });
    if (group == groups.end()) group = groups.insert(groups.end(), {record.machine, {}});
    const Record*& kept = group->newest[{record.kernel, record.problem, record.tuning}];
    if (kept == nullptr || kept->when <= record.when) kept = &record;  // ISO 8601 times sort as text
  }
  std::vector<MachineRecords> machines;
  for (const Group& group : groups) {
    std::map<std::pair<std::string, std::string>, const Record*> fastest;
    for (const auto& [key, record] : group.newest) {
      const Record*& kept = fastest[{record->kernel, record->problem}];
      if (kept == nullptr || record->hot_ms.median < kept->hot_ms.median) kept = record;
    }
    MachineRecords machine{.machine = group.machine, .records = {}};
    for (const auto& [key, record] : fastest) machine.records.push_back(*record);
    machines.push_back(std::move(machine));
  }
  std::ranges::stable_sort(machines, {}, [](const MachineRecords& each) { return !each.has(DeviceKind::cuda); });
  return machines;
}

std::optional<Gain> gain(const Record* before, const Record* now) {
  if (before == nullptr || now == nullptr || !(now->hot_ms.median > 0)) return std::nullopt;
  constexpr double kConfidence = 0.95;
  Gain gain{.ratio = before->hot_ms.median / now->hot_ms.median};
  const Interval slow = median_interval(before->hot_ms.samples, kConfidence);
  const Interval fast = median_interval(now->hot_ms.samples, kConfidence);
  gain.low = std::max(slow.low, 0.0) / fast.high;  // too few samples: from 0 to infinity
  gain.high = slow.high / std::max(fast.low, 0.0);
  return gain;
}

double intensity(const std::string& problem) {
  const ConvProblem parsed = parse_problem(problem);
  return parsed.flops() / parsed.compulsory_bytes(sizeof(float), sizeof(float));
}

std::string with_images(const std::string& problem, int64_t n) {
  ConvProblem parsed = parse_problem(problem);
  parsed.n = n;
  return to_text(parsed);
}

}  // namespace convlab
