#pragma once

#include <string>
#include <vector>

#include "convlab/diagnostics/finding.h"

namespace convlab {

// Findings for other programs. Set columns first with SourceLines::locate(): some programs need them.

/// Returns one line in the format of GCC's diagnostics: "conv.cu:31:5: error: data race on shared memory 'tile': thread
/// ...; thread ... [race-on-shared-memory]".
std::string gcc_form(const Finding& finding);

/// Returns a workflow command of GitHub Actions, which shows the finding at its line in a pull request:
/// "::error file=conv.cu,line=31,col=5,title=race on shared memory::...".
std::string github_form(const Finding& finding);

/// Returns a log in SARIF 2.1.0 (OASIS Standard, 2020), with one rule per kind: for GitHub code scanning, editors and
/// archives.
std::string sarif_form(const std::vector<Finding>& findings, const std::string& version);

}  // namespace convlab
