// Truncates the untrusted parts of judgments.

#include "convlab/classroom/bounds.h"

#include <fmt/format.h>

#include <algorithm>

#include "convlab/base/text.h"

namespace convlab::classroom {
namespace {

constexpr size_t kMostCounters = 64, kMostLayers = 64, kMostStages = 8;
constexpr size_t kMostReason = size_t{4} << 10, kMostLog = size_t{64} << 10;
constexpr int64_t kMostCount = 1'000'000'000'000'000;  // so that sums over a judgment fit int64_t

/// Returns the first part of a UTF-8 text, cut between two characters.
std::string first_of(std::string text, size_t most) {
  if (text.size() <= most) return text;
  const size_t all = text.size();
  most = start_of_character(text, most);
  text.resize(most);
  return text + fmt::format("\n... (first {} of {} bytes)", most, all);
}

void bound(int64_t& count) { count = std::clamp<int64_t>(count, 0, kMostCount); }

bool is_in_path(char each) {
  constexpr std::string_view kEnds = "'\"`:,;()[]<>| \t\n";
  return kEnds.find(each) == std::string_view::npos;
}

}  // namespace

judge::Judgement bounded(judge::Judgement judgement) {
  judgement.reason = first_of(without_folders(judgement.reason), kMostReason);
  judgement.what_to_do = first_of(std::move(judgement.what_to_do), kMostReason);
  if (judgement.counters.size() > kMostCounters) judgement.counters.resize(kMostCounters);
  for (judge::KernelCountsSummary& each : judgement.counters) {
    each.layer = printable(each.layer);
    each.kernel = printable(each.kernel);
    for (int64_t* count : {&each.launches, &each.flops, &each.global_sectors, &each.least_sectors,
                           &each.shared_wavefronts, &each.bank_conflicts}) {
      bound(*count);
    }
    if (!(each.occupancy >= 0 && each.occupancy <= 1)) each.occupancy = 0;
  }
  if (judgement.times.size() > kMostLayers) judgement.times.resize(kMostLayers);
  for (judge::LayerTime& each : judgement.times) each.layer = printable(each.layer);
  if (judgement.stages.size() > kMostStages) judgement.stages.resize(kMostStages);
  for (judge::StageLog& each : judgement.stages) each.log = first_of(std::move(each.log), kMostLog);
  return judgement;
}

std::string without_folders(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '/' || (at > 0 && is_in_path(text[at - 1]))) {
      result += text[at++];
      continue;
    }
    size_t end = at;
    while (end < text.size() && is_in_path(text[end])) ++end;
    const std::string_view path = text.substr(at, end - at);
    const std::string_view name = path.substr(path.rfind('/') + 1);
    result += name.empty() ? path : name;
    at = end;
  }
  return result;
}

}  // namespace convlab::classroom
