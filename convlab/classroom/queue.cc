// Schedules jobs fairly among students and estimates when they are done.

#include "convlab/classroom/queue.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "convlab/measure/summary.h"

namespace convlab::classroom {
namespace {

using Counts = std::map<int64_t, int64_t>;  ///< unfinished jobs by student

std::optional<size_t> choose(const std::vector<QueuedJob>& waiting, const Counts& unfinished,
                             const std::function<bool(size_t)>& fits) {
  std::optional<size_t> chosen;
  const auto rank = [&](size_t i) {
    return std::tuple(unfinished.at(waiting[i].student), waiting[i].arrived_s, waiting[i].job);
  };
  for (size_t i = 0; i < waiting.size(); ++i) {
    if (fits(i) && (!chosen || rank(i) < rank(*chosen))) chosen = i;
  }
  return chosen;
}

Counts unfinished_jobs(const std::vector<QueuedJob>& waiting, const std::vector<RunningJob>& running) {
  Counts unfinished;
  for (const QueuedJob& each : waiting) ++unfinished[each.student];
  for (const RunningJob& each : running) ++unfinished[each.job.student];
  return unfinished;
}

/// A worker's slot, and when it is free.
struct Place {
  std::string device;
  double free_s = 0;
};

std::vector<Place> places(const std::vector<QueuedJob>& waiting, const std::vector<RunningJob>& running,
                          const std::map<std::string, int>& workers) {
  std::map<std::string, int> wanted;
  for (const QueuedJob& each : waiting) wanted[each.device] = 1;
  std::vector<Place> result;
  for (auto& [device, count] : wanted) {
    if (const auto found = workers.find(device); found != workers.end()) count = std::max(found->second, 1);
    for (const RunningJob& each : running) {
      if (each.job.device != device) continue;
      result.push_back({device, each.left_s});
      --count;
    }
    for (; count > 0; --count) result.push_back({device, 0});
  }
  return result;
}

/// The mean of the values after clamping them to kMostMedians times the median.
double bounded_mean(const std::vector<double>& values) {
  constexpr double kMostMedians = 3;
  const double most = kMostMedians * median(values);
  double sum = 0;
  for (const double each : values) sum += std::min(each, most);
  return sum / static_cast<double>(values.size());
}

}  // namespace

std::optional<size_t> next_job(const std::vector<QueuedJob>& waiting, const std::vector<RunningJob>& running,
                               const std::function<bool(const QueuedJob&)>& fits) {
  return choose(waiting, unfinished_jobs(waiting, running), [&](size_t i) { return fits(waiting[i]); });
}

std::vector<Turn> turns(const std::vector<QueuedJob>& waiting, const std::vector<RunningJob>& running,
                        const Durations& durations, const std::map<std::string, int>& workers) {
  struct End {
    double at_s;
    int64_t student;
  };
  Counts unfinished = unfinished_jobs(waiting, running);
  std::vector<End> ends;
  for (const RunningJob& each : running) ends.push_back({each.left_s, each.job.student});
  std::vector<Turn> result(waiting.size());
  std::vector<bool> started(waiting.size());
  std::vector<Place> free = places(waiting, running, workers);
  std::map<std::string, int64_t> place;
  std::map<std::string, bool> unknown;  // true from the first job of unknown duration on
  while (!free.empty()) {
    const auto next = std::ranges::min_element(free, {}, &Place::free_s);
    std::erase_if(ends, [&](const End& end) {
      if (end.at_s > next->free_s) return false;
      --unfinished[end.student];
      return true;
    });
    const std::optional<size_t> chosen =
        choose(waiting, unfinished, [&](size_t i) { return !started[i] && waiting[i].device == next->device; });
    if (!chosen) {
      free.erase(next);
      continue;
    }
    const QueuedJob& job = waiting[*chosen];
    started[*chosen] = true;
    result[*chosen].place = ++place[job.device];
    const auto duration = durations.find({job.assignment, job.device});
    if (duration == durations.end()) unknown[job.device] = true;
    if (duration != durations.end()) next->free_s += duration->second;
    if (!unknown[job.device]) result[*chosen].due_s = next->free_s;
    ends.push_back({next->free_s, job.student});
  }
  return result;
}

UsualStages::UsualStages(const std::vector<std::vector<StageTime>>& jobs) {
  std::vector<std::vector<double>> seconds;
  for (const std::vector<StageTime>& job : jobs) {
    auto after = stages_.begin();
    for (const StageTime& each : job) {
      auto found = std::ranges::find(stages_, each.stage, &Stage::name);
      if (found == stages_.end()) {
        seconds.emplace(seconds.begin() + (after - stages_.begin()));
        found = stages_.insert(after, {.name = each.stage});
      }
      seconds[static_cast<size_t>(found - stages_.begin())].push_back(each.seconds);
      after = found + 1;
    }
  }
  for (size_t i = 0; i < stages_.size(); ++i) {
    stages_[i].share = static_cast<double>(seconds[i].size()) / static_cast<double>(jobs.size());
    stages_[i].usual_s = bounded_mean(seconds[i]);
  }
}

double UsualStages::job_s() const {
  double sum = 0;
  for (const Stage& each : stages_) sum += each.usual_s * each.share;
  return sum;
}

double UsualStages::left_s(const std::string& stage, double since_s) const {
  const auto now = std::ranges::find(stages_, stage, &Stage::name);
  if (now == stages_.end()) return std::max(0.0, job_s() - since_s);
  double sum = std::max(0.0, now->usual_s - since_s);
  for (auto later = now + 1; later != stages_.end(); ++later)
    sum += later->usual_s * std::min(1.0, later->share / now->share);
  return sum;
}

}  // namespace convlab::classroom
