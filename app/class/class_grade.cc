// convlab class grade: writes grades for the registrar, queues submissions to be judged again, and lists similar files.

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/class/commands.h"
#include "app/class/member.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/text.h"
#include "convlab/classroom/class_answers.h"
#include "convlab/classroom/grades.h"
#include "convlab/classroom/pack.h"
#include "convlab/classroom/similarity.h"
#include "convlab/classroom/standings.h"

namespace convlab::app {
namespace {

struct GradeOptions {
  std::string folder, assignment, csv;
  std::vector<std::string> again;
  bool regrade = false, similar = false;
};

Json grade_json(const classroom::Grade& grade) {
  Json json{{"name", grade.name}, {"assignment", grade.assignment}, {"verdict", grade.verdict}, {"points", 0.0}};
  if (!grade.entry) return json;
  json["points"] = grade.entry->points;
  json["rank"] = grade.entry->rank;
  json["submission"] = grade.entry->best.submission;
  return json;
}

/// Queues these submissions to be judged again.
void judge_again(Member& member, const std::vector<classroom::Submission>& submissions, Output& output) {
  std::vector<int64_t> students;
  for (const classroom::Submission& each : submissions) {
    if (member.store().judge_again(each.number)) students.push_back(each.student.id);
  }
  classroom::publish(member.folder(), member.settings(), member.store(), students);
  output.print("Submissions queued to be judged again: {}. Next, run 'convlab class work' on an idle machine\n",
               students.size());
}

std::vector<classroom::Submission> best_of(const std::vector<classroom::Grade>& grades) {
  std::vector<classroom::Submission> all;
  for (const classroom::Grade& each : grades) {
    if (each.entry) all.push_back({.number = each.entry->best.submission, .student = {.id = each.entry->best.student}});
  }
  return all;
}

std::vector<classroom::Submission> numbered(Member& member, const std::vector<std::string>& numbers) {
  std::vector<classroom::Submission> all;
  for (const std::string& each : numbers) {
    all.push_back(member.submission(parse_int(each, "--again", 1, INT64_MAX)).submission);
    const classroom::Submission& one = all.back();
    if (std::filesystem::exists(member.folder().file(one.number, one.file))) continue;
    throw bad_input("submission {} was refused on arrival, so its file was not kept", one.number);
  }
  return all;
}

/// Lists pairs of students with similar best submissions, for a person to review.
void show_similar(Member& member, const std::vector<classroom::Grade>& grades, Output& output) {
  constexpr double kLeast = 0.5;
  constexpr int64_t kMostBytes = 1 << 20;
  Json json = Json::array();
  for (const classroom::AssignmentSettings& assignment : member.settings().assignments) {
    std::vector<classroom::HandedIn> files;
    for (const classroom::Grade& each : grades) {
      if (!each.entry || each.assignment != assignment.name) continue;
      const int64_t number = each.entry->best.submission;
      const std::string file = member.store().submissions({.number = number}).front().file;
      files.push_back({number, each.name, read_text(member.folder().file(number, file), kMostBytes)});
    }
    const std::string begun_with = read_text(classroom::load_pack(assignment.pack).template_file);
    for (const classroom::SimilarPair& pair : classroom::similar_pairs(files, begun_with, kLeast)) {
      output.print("{:3.0f} %  {}: {} ({}) and {} ({})\n", 100 * pair.share, assignment.name,
                   printable(pair.first.name), pair.first.submission, printable(pair.second.name),
                   pair.second.submission);
      json.push_back({{"assignment", assignment.name},
                      {"share", pair.share},
                      {"names", {pair.first.name, pair.second.name}},
                      {"submissions", {pair.first.submission, pair.second.submission}}});
    }
  }
  if (json.empty()) output.print("No two students' best submissions share 50 % or more of their text\n");
  output.json({{"similar", std::move(json)}});
}

void grade(const GradeOptions& options, Output& output) {
  classroom::Folder(options.folder).require_owned("grade");
  if (!options.csv.empty() && options.csv != "-") require_writable("--csv", options.csv);
  Member member(options.folder);
  std::vector<classroom::Grade> all;
  for (const classroom::AssignmentSettings& each : member.settings().assignments) {
    if (!options.assignment.empty() && each.name != member.settings().assignment(options.assignment).name) continue;
    for (classroom::Grade& grade : classroom::grades(member.folder(), member.settings(), member.store(), each)) {
      all.push_back(std::move(grade));
    }
  }
  if (!options.again.empty()) return judge_again(member, numbered(member, options.again), output);
  if (options.regrade) return judge_again(member, best_of(all), output);
  if (options.similar) return show_similar(member, all, output);
  const std::string csv = classroom::grades_csv(all);
  if (options.csv.empty() || options.csv == "-") {
    output.print("{}", csv);
  } else {
    write_file(options.csv, csv);
    output.print("Wrote {}: grades of {} students\n", options.csv, member.store().students().size());
  }
  Json json = Json::array();
  for (const classroom::Grade& each : all) json.push_back(grade_json(each));
  output.json({{"grades", std::move(json)}});
}

}  // namespace

Action declare_class_grade(CLI::App& options) {
  auto chosen = std::make_shared<GradeOptions>();
  require(add_text(options, "DIR", chosen->folder, "DIR", "class folder"));
  add_text(options, "--assignment", chosen->assignment, "A", "only this assignment (default: all)");
  CLI::Option* csv = add_text(options, "--csv", chosen->csv, "FILE",
                              "write grades as CSV for the registrar; - is standard output (default: -)");
  CLI::Option* regrade =
      add_flag(options, "--regrade", chosen->regrade, "queue each student's best submission to be judged again");
  CLI::Option* similar = add_flag(options, "--similar", chosen->similar,
                                  "list pairs of students with similar best submissions, instead of grades");
  CLI::Option* again = add_texts(options, "--again", chosen->again, 1, kAnyNumber, "NUMBER",
                                 "queue these submissions to be judged again, for example after a change of limits "
                                 "or a judge failure");
  for (CLI::Option* each : {csv, regrade, similar}) exclude(again, each);
  exclude(regrade, csv);
  exclude(similar, csv);
  exclude(similar, regrade);
  return [chosen](Output& output) { grade(*chosen, output); };
}

}  // namespace convlab::app
