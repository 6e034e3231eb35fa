// convlab class grade: points for the registrar, and grading once more on a quiet machine.

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/class/commands.h"
#include "app/class/member.h"
#include "convlab/base/file.h"
#include "convlab/classroom/answers.h"
#include "convlab/classroom/grades.h"
#include "convlab/classroom/standings.h"

namespace convlab::app {
namespace {

struct GradeOptions {
  std::string folder, assignment, csv;
  bool regrade = false;
};

Json grade_json(const classroom::Grade& grade) {
  Json json{{"name", grade.name}, {"assignment", grade.assignment}, {"verdict", grade.verdict}, {"points", 0.0}};
  if (!grade.entry) return json;
  json["points"] = grade.entry->points;
  json["rank"] = grade.entry->rank;
  json["submission"] = grade.entry->best.submission;
  return json;
}

/// The best submission of each student waits once more.
void grade_again(Member& member, const std::vector<classroom::Grade>& grades, Output& output) {
  int count = 0;
  std::vector<int64_t> students;
  for (const classroom::Grade& each : grades) {
    if (!each.entry) continue;
    member.store().grade_again(each.entry->best.submission);
    students.push_back(each.entry->best.student);
    ++count;
  }
  classroom::publish(member.folder(), member.settings(), member.store(), students);
  output.print("{} submissions wait to be judged again; 'convlab class work' on a quiet machine does it\n", count);
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
  if (options.regrade) return grade_again(member, all, output);
  const std::string csv = classroom::grades_csv(all);
  if (options.csv.empty() || options.csv == "-") {
    output.print("{}", csv);
  } else {
    write_file(options.csv, csv);
    output.print("{}: the grades of {} students\n", options.csv, member.store().students().size());
  }
  Json json = Json::array();
  for (const classroom::Grade& each : all) json.push_back(grade_json(each));
  output.json({{"grades", std::move(json)}});
}

}  // namespace

Action declare_class_grade(CLI::App& options) {
  auto chosen = std::make_shared<GradeOptions>();
  require(add_text(options, "DIR", chosen->folder, "DIR", "the class's folder"));
  add_text(options, "--assignment", chosen->assignment, "A", "of one assignment (default: of all)");
  CLI::Option* csv =
      add_text(options, "--csv", chosen->csv, "FILE", "write the registrar's table; - is standard output");
  exclude(add_flag(options, "--regrade", chosen->regrade, "have the best submission of each student judged once more"),
          csv);
  return [chosen](Output& output) { grade(*chosen, output); };
}

}  // namespace convlab::app
