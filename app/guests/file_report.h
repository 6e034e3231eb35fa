#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "app/guests/file_trial.h"
#include "app/results/output.h"
#include "convlab/diagnostics/finding.h"
#include "convlab/diagnostics/text_form.h"

namespace convlab::app {

/// What came of verifying one kernel file.
struct FileReport {
  std::string file, kind, semester;
  std::string device;    ///< "simt", "cuda:0", "cpu"; "" if it was not compiled
  double compile_s = 0;  ///< 0: the cache had it
  FileOutcome outcome = FileOutcome::refused;
  std::string reason;           ///< if there are no cases
  std::vector<Finding> causes;  ///< of that reason, and the compiler's warnings about a file that is wrong
  std::vector<std::string> notes;
  std::string printed;  ///< by the file itself
  std::vector<CaseReport> cases;
  std::vector<Finding> findings;  ///< of all that is above, for the user: findings_of()

  bool passed() const { return outcome == FileOutcome::passed; }
  bool has_semester_layers() const { return !semester.empty() && kind != "own" && kind != "function"; }
};

/// The different findings of all cases and the report's causes, errors first, each with the number of its cases; paths
/// as the user typed the file, or relative to the current folder, those without a place at the file; with columns, for
/// which it reads the sources.
std::vector<Finding> findings_of(const FileReport& report);

int64_t errors_in(const std::vector<Finding>& findings);

/// How much is printed.
struct ReportStyle {
  TextStyle text;
  bool verbose = false;  ///< a line for each of many cases
  bool all = false;      ///< all findings
  bool many_files = false;
};

/// Results first, then what is wrong: at most 25 lines unless the style asks for more.
void print_report(Output& output, const FileReport& report, const ReportStyle& style);

/// "2 files: 1 PASSED, 1 FAILED (3 findings). Try: convlab ...": the verdict, and the next command.
std::string verdict_line(const std::vector<FileReport>& reports);

Json to_json(const FileReport& report);

}  // namespace convlab::app
