#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "app/guests/file_trial.h"
#include "app/results/output.h"
#include "convlab/diagnostics/finding.h"
#include "convlab/diagnostics/text_form.h"

namespace convlab::app {

/// The result of verifying one kernel file.
struct FileReport {
  std::string file, kind, semester;
  std::string device;    ///< "simt", "cuda:0", "cpu"; "" if it was not compiled
  double compile_s = 0;  ///< 0 if the compiled file was cached
  FileOutcome outcome = FileOutcome::refused;
  bool not_verified = false;    ///< not a kernel file that can be read, or the device or compiler is missing
  std::string reason;           ///< why there are no verdicts of cases; "" otherwise
  std::vector<Finding> causes;  ///< findings behind `reason`, and compiler warnings if the file is wrong
  std::vector<std::string> notes;
  std::string printed;  ///< output of the file itself
  std::vector<CaseReport> cases;
  std::vector<Finding> findings;  ///< all of the above, for the user: findings_of()

  bool passed() const { return outcome == FileOutcome::passed; }
  bool has_semester_layers() const { return !semester.empty() && kind != "own" && kind != "function"; }
};

/// Returns the distinct findings of all cases and the report's causes, errors first, each with the number of cases that
/// have it. Paths are as the user typed the file, or relative to the current folder; a finding without a place is at
/// the file. Reads the source files to add columns.
std::vector<Finding> findings_of(const FileReport& report);

int64_t errors_in(const std::vector<Finding>& findings);

/// How much is printed, and how.
struct ReportStyle {
  TextStyle text;
  bool verbose = false;  ///< one line per case, even if there are many
  bool all = false;      ///< all findings
  bool many_files = false;
};

/// Prints results first, then findings: at most 25 lines unless the style asks for more.
void print_report(Output& output, const FileReport& report, const ReportStyle& style);

/// Returns the verdict and the next command to try: "2 files: 1 PASSED, 1 FAILED (3 findings). Try: convlab ...".
std::string verdict_line(const std::vector<FileReport>& reports);

Json to_json(const FileReport& report);

}  // namespace convlab::app
