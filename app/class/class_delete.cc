// convlab class delete: deletes submissions, or a student with all submissions.

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/class/commands.h"
#include "app/class/member.h"
#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/classroom/removal.h"

namespace convlab::app {
namespace {

struct DeleteOptions {
  std::string folder, student;
  std::vector<std::string> numbers;
};

/// Prints a note for each student who has no submission left, but still counts as a student of the class.
void note_left_over(Member& member, const std::vector<classroom::Submission>& deleted) {
  std::set<std::string> names;
  for (const classroom::Submission& each : deleted) {
    if (member.store().numbers_of(each.student.id).empty()) names.insert(each.student.name);
  }
  for (const std::string& each : names) {
    note("{} has no submissions left; to delete the student, too: convlab class delete {} --student {}",
         printable(each), shell_word(member.folder().root().string()), shell_word(printable(each)));
  }
}

std::vector<classroom::Submission> delete_numbered(Member& member, const std::vector<std::string>& numbers) {
  std::vector<int64_t> all;
  for (const std::string& each : numbers) all.push_back(parse_int(each, "NUMBER", 1, INT64_MAX));
  return classroom::delete_submissions(member.folder(), member.settings(), member.store(), all);
}

void delete_from(const DeleteOptions& options, Output& output) {
  classroom::Folder(options.folder).require_owned("delete");
  if (options.numbers.empty() == options.student.empty()) {
    throw bad_input("expected submission numbers, or --student with a name");
  }
  Member member(options.folder);
  const std::vector<classroom::Submission> deleted =
      options.student.empty()
          ? delete_numbered(member, options.numbers)
          : classroom::delete_student(member.folder(), member.settings(), member.store(), options.student);
  Json json = Json::array();
  for (const classroom::Submission& each : deleted) {
    output.print("Deleted submission {}: {} by {} for {}\n", each.number, each.file, printable(each.student.name),
                 each.assignment);
    json.push_back(
        {{"number", each.number}, {"name", each.student.name}, {"assignment", each.assignment}, {"file", each.file}});
  }
  if (options.student.empty()) {
    note_left_over(member, deleted);
  } else {
    output.print("Deleted student {}\n", printable(options.student));
  }
  output.json({{"submissions", std::move(json)}});
}

}  // namespace

Action declare_class_delete(CLI::App& options) {
  auto chosen = std::make_shared<DeleteOptions>();
  require(add_text(options, "DIR", chosen->folder, "DIR", "class folder"));
  CLI::Option* numbers = add_texts(options, "NUMBER", chosen->numbers, 0, kAnyNumber, "NUMBER",
                                   "submissions to delete, with their files and verdicts");
  exclude(add_text(options, "--student", chosen->student, "NAME",
                   "delete this student, with all submissions and the token"),
          numbers);
  return [chosen](Output& output) { delete_from(*chosen, output); };
}

}  // namespace convlab::app
