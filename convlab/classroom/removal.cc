// Deletes submissions and students from the database, the published answers and the class's files.

#include "convlab/classroom/removal.h"

#include <filesystem>
#include <set>

#include "convlab/base/error.h"
#include "convlab/classroom/class_answers.h"
#include "convlab/classroom/students.h"

namespace convlab::classroom {
namespace {

namespace fs = std::filesystem;

void require_idle(Store& store, int64_t number) {
  const auto running =
      store.database().query("SELECT 1 FROM jobs WHERE submission = ? AND done = 0 AND worker IS NOT NULL", number);
  if (!running->next()) return;
  throw bad_input("submission {} is being judged; delete it when it has its verdict, or stop the worker first", number);
}

void delete_rows(Store& store, int64_t number) {
  Database& database = store.database();
  database.run("INSERT INTO deleted (submission, job) SELECT ?1, max(id) FROM jobs WHERE submission = ?1", number);
  for (const char* table : {"results", "stages"}) {
    database.run(std::string("DELETE FROM ") + table + " WHERE job IN (SELECT id FROM jobs WHERE submission = ?)",
                 number);
  }
  database.run("DELETE FROM jobs WHERE submission = ?", number);
  database.run("DELETE FROM submissions WHERE number = ?", number);
}

std::vector<Submission> delete_all(Store& store, const std::vector<int64_t>& numbers) {
  std::vector<Submission> deleted;
  for (const int64_t number : std::set(numbers.begin(), numbers.end())) {
    const std::vector<Submission> found = store.submissions({.number = number, .with_logs = false});
    if (found.empty()) throw bad_input("submission {} does not exist", number);
    require_idle(store, number);
    delete_rows(store, number);
    deleted.push_back(found.front());
  }
  return deleted;
}

/// Updates what students can read, and removes the files of deleted submissions.
void clean_up(const Folder& folder, const Settings& settings, Store& store, const std::vector<Submission>& deleted) {
  std::error_code error;
  std::set<int64_t> students;
  for (const Submission& each : deleted) {
    fs::remove_all(folder.file(each.number, each.file).parent_path(), error);
    students.insert(each.student.id);
    if (!each.student.secret.empty()) fs::remove(folder.answer(each.student.secret), error);  // published again below
  }
  publish(folder, settings, store, {students.begin(), students.end()});
  publish_rankings(folder, settings, store);
}

}  // namespace

std::vector<Submission> delete_submissions(const Folder& folder, const Settings& settings, Store& store,
                                           const std::vector<int64_t>& numbers) {
  Transaction transaction(store.database());
  std::vector<Submission> deleted = delete_all(store, numbers);
  transaction.commit();
  clean_up(folder, settings, store, deleted);
  return deleted;
}

std::vector<Submission> delete_student(const Folder& folder, const Settings& settings, Store& store,
                                       const std::string& name) {
  Transaction transaction(store.database());
  const Student student = require_student(store, name);
  const std::set<int64_t> numbers = store.numbers_of(student.id);
  std::vector<Submission> deleted = delete_all(store, {numbers.begin(), numbers.end()});
  store.database().run("DELETE FROM tokens WHERE student = ?", student.id);
  store.database().run("DELETE FROM students WHERE id = ?", student.id);
  transaction.commit();
  clean_up(folder, settings, store, deleted);
  return deleted;
}

}  // namespace convlab::classroom
