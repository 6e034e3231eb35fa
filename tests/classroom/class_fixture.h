#pragma once

#include <string>

#include "convlab/classroom/create.h"
#include "convlab/classroom/intake.h"
#include "convlab/classroom/spool.h"
#include "convlab/classroom/store.h"
#include "tests/support/temporary_folder.h"

namespace convlab::classroom {

/// A class in its own temporary folder, with helpers that submit on behalf of students.
class SomeClass {
 public:
  explicit SomeClass(Settings settings = {}) {
    if (settings.assignments.empty()) settings.assignments = {{.name = "fa19", .pack = "fa19", .images = 1}};
    settings.name = "some";
    create_class(root(), settings);
    folder.emplace(root());
    this->settings = read_settings(*folder);
    store.emplace(folder->database());
  }

  std::filesystem::path root() const { return temporary_.path() / "class"; }

  static SpoolEntry entry(const std::string& student, const std::string& source = "// nothing") {
    return {.assignment = "fa19",
            .as = student,
            .secret = "0123456789abcdef0123456789abcdef",
            .file = "new-forward.cuh",
            .source = source};
  }

  /// Writes a submission to the spool without running intake. Returns the receipt.
  std::string write(const std::string& student) { return write_entry(folder->spool(), entry(student)); }

  /// Writes a submission and runs intake. Returns its number, or 0 if it was set aside.
  int64_t submit(const std::string& student) { return take(write(student)); }

  int64_t take(const std::string& receipt) {
    take_in();
    const std::vector<Submission> found = store->submissions({.receipt = receipt});
    return found.empty() ? 0 : found.front().number;
  }

  void take_in() { classroom::take_in(*folder, settings, *store); }

  std::string integrity() {
    const auto rows = store->database().query("PRAGMA integrity_check");
    rows->next();
    const std::string found = rows->text(0);
    return store->database().query("PRAGMA foreign_key_check")->next() ? "a foreign key leads nowhere" : found;
  }

  std::optional<Folder> folder;
  Settings settings;
  std::optional<Store> store;

 private:
  TemporaryFolder temporary_;
};

}  // namespace convlab::classroom
