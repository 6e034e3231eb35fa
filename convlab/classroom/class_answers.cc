// Publishes the queue, rankings and answers as files that students can read.

#include "convlab/classroom/class_answers.h"

#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/json.h"
#include "convlab/classroom/standings.h"
#include "convlab/measure/json_members.h"

namespace convlab::classroom {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int64_t kMostAnswerBytes = int64_t{256} << 20;
constexpr int64_t kMostWithLogs = 20;

/// Writes a file that everybody may read, whatever the umask.
void write_public(const fs::path& path, const Json& json) {
  write_file(path, json_text(json, -1) + "\n");
  constexpr mode_t kMode = 0644;
  ::chmod(path.c_str(), kMode);
}

Json parse_file(const fs::path& path) { return parse_json(read_text(path, kMostAnswerBytes), path.string()); }

/// Numbers students in order of appearance, so that a reader learns which jobs belong to the same student, as the queue
/// order requires, and nothing else.
class Groups {
 public:
  int64_t of(int64_t student) { return groups_.emplace(student, groups_.size() + 1).first->second; }

 private:
  std::map<int64_t, int64_t> groups_;
};

Json json_of(const QueuedJob& job, Groups& groups) {
  return {{"job", job.job},
          {"submission", job.submission},
          {"student", groups.of(job.student)},
          {"arrived_s", job.arrived_s},
          {"assignment", job.assignment},
          {"device", job.device}};
}

QueuedJob queued_job(const JsonMembers& from) {
  QueuedJob job;
  from.read("job", job.job);
  from.read("submission", job.submission);
  from.read("student", job.student);
  from.read("arrived_s", job.arrived_s);
  from.read("assignment", job.assignment);
  from.read("device", job.device);
  return job;
}

Json json_of(const QueueState& state) {
  Json json{{"next", state.next_number}, {"waiting", Json::array()}, {"running", Json::array()}};
  Groups groups;
  for (const QueuedJob& each : state.waiting) json["waiting"].push_back(json_of(each, groups));
  for (const RunningJob& each : state.running) {
    json["running"].push_back(json_of(each.job, groups));
    json["running"].back()["left_s"] = each.left_s;
  }
  json["durations"] = Json::array();
  for (const auto& [key, seconds] : state.durations) {
    json["durations"].push_back({{"assignment", key.first}, {"device", key.second}, {"seconds", seconds}});
  }
  json["workers"] = Json::array();
  for (const auto& [device, count] : state.workers) json["workers"].push_back({{"device", device}, {"count", count}});
  return json;
}

Json json_of(const RankingEntry& entry) {
  const Passed& best = entry.best;
  Json json{{"rank", entry.rank},       {"points", entry.points},     {"submission", best.submission},
            {"name", best.name},        {"made_up", best.is_made_up}, {"math", best.math},
            {"counters", best.counters}};
  if (best.bounds) json.update({{"ratio", best.bounds->ratio}, {"low", best.bounds->low}, {"high", best.bounds->high}});
  return json;
}

RankingEntry ranking_entry(const JsonMembers& from) {
  RankingEntry entry;
  from.read("rank", entry.rank);
  from.read("points", entry.points);
  from.read("submission", entry.best.submission);
  from.read("name", entry.best.name);
  from.read("made_up", entry.best.is_made_up);
  from.read("math", entry.best.math);
  from.read("counters", entry.best.counters);
  if (from.has("ratio")) {
    RatioBounds& bounds = entry.best.bounds.emplace();
    from.read("ratio", bounds.ratio);
    from.read("low", bounds.low);
    from.read("high", bounds.high);
  }
  return entry;
}

Json json_of(const Submission& submission) {
  Json json{{"number", submission.number},       {"receipt", submission.receipt},
            {"name", submission.student.name},   {"assignment", submission.assignment},
            {"device", submission.device},       {"file", submission.file},
            {"arrived_s", submission.arrived_s}, {"stage", name_of(submission.stage)}};
  if (submission.judgement) json["judgement"] = judge::public_json(*submission.judgement);
  return json;
}

Submission submission_of(const Json& json, const std::string& place) {
  const JsonMembers from(json, place);
  Submission submission;
  from.read("number", submission.number);
  from.read("receipt", submission.receipt);
  from.read("name", submission.student.name);
  from.read("assignment", submission.assignment);
  from.read("device", submission.device);
  from.read("file", submission.file);
  from.read("arrived_s", submission.arrived_s);
  submission.stage = from.choice("stage", {judge::Stage::queued, judge::Stage::compiling, judge::Stage::recording,
                                           judge::Stage::verifying, judge::Stage::timing, judge::Stage::done});
  if (json.contains("judgement")) submission.judgement = judge::judgement_from(json.at("judgement"), place);
  return submission;
}

}  // namespace

void publish(const Folder& folder, const Settings& settings, Store& store, const std::vector<int64_t>& students) {
  // The transaction ensures that no other process overwrites the files with older data.
  Transaction transaction(store.database());
  write_public(folder.queue(), json_of(store.queue(settings.lease_s)));
  for (const int64_t each : students) {
    std::vector<Submission> submissions = store.submissions({.student = each, .with_logs = false});
    if (submissions.empty() || submissions.front().student.secret.empty()) continue;
    std::vector<Submission> newest = store.submissions({.student = each, .newest = kMostWithLogs});
    submissions.resize(submissions.size() - newest.size());
    std::ranges::move(newest, std::back_inserter(submissions));
    Json json = Json::array();
    for (const Submission& submission : submissions) json.push_back(json_of(submission));
    write_public(folder.answer(submissions.front().student.secret), json);
  }
}

void publish_rankings(const Folder& folder, const Settings& settings, Store& store) {
  Transaction transaction(store.database());  // as above
  Json rankings = Json::object();
  for (const AssignmentSettings& each : settings.assignments) {
    rankings[each.name] = Json::array();
    for (const RankingEntry& entry : standings(folder, settings, store, each, Shown::as_settings_say)) {
      rankings[each.name].push_back(json_of(entry));
    }
  }
  write_public(folder.rankings(), rankings);
}

QueueState published_queue(const Folder& folder) {
  const Json json = parse_file(folder.queue());
  const JsonMembers from(json, folder.queue().string());
  QueueState state;
  from.read("next", state.next_number);
  from.objects("waiting", [&](const JsonMembers& each) { state.waiting.push_back(queued_job(each)); });
  from.objects("running", [&](const JsonMembers& each) {
    double left_s = 0;
    each.read("left_s", left_s);
    state.running.push_back({queued_job(each), left_s});
  });
  from.objects("durations", [&](const JsonMembers& each) {
    std::string assignment, device;
    each.read("assignment", assignment);
    each.read("device", device);
    each.read("seconds", state.durations[{assignment, device}]);
  });
  from.objects("workers", [&](const JsonMembers& each) {
    std::string device;
    each.read("device", device);
    each.read("count", state.workers[device]);
  });
  return state;
}

std::vector<RankingEntry> published_ranking(const Folder& folder, const std::string& assignment) {
  std::vector<RankingEntry> entries;
  std::error_code error;
  if (!fs::exists(folder.rankings(), error)) return entries;
  const Json json = parse_file(folder.rankings());
  const JsonMembers from(json, folder.rankings().string());
  if (!from.has(assignment.c_str())) return entries;
  from.objects(assignment.c_str(), [&](const JsonMembers& each) { entries.push_back(ranking_entry(each)); });
  return entries;
}

std::vector<Submission> published_submissions(const Folder& folder, const std::string& secret) {
  const fs::path path = folder.answer(secret);
  std::error_code error;
  if (!fs::exists(path, error)) return {};
  const Json json = parse_file(path);
  std::vector<Submission> submissions;
  for (const Json& each : json) submissions.push_back(submission_of(each, path.string()));
  return submissions;
}

}  // namespace convlab::classroom
