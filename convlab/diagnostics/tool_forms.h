#pragma once

#include <string>
#include <vector>

#include "convlab/diagnostics/finding.h"

namespace convlab {

// Findings for other programs. Columns are set first, by SourceLines::locate(): some readers need them.

/// One line, as GCC writes diagnostics: "conv.cu:31:5: error: data race on shared memory 'tile': thread ...; thread ...
/// [race-on-shared-memory]".
std::string gcc_form(const Finding& finding);

/// A workflow command of GitHub Actions, which shows the finding at its line in a pull request:
/// "::error file=conv.cu,line=31,col=5,title=race on shared memory::...".
std::string github_form(const Finding& finding);

/// A log in SARIF 2.1.0 (OASIS Standard, 2020), with a rule for each kind: for GitHub code scanning, editors and
/// archives.
std::string sarif_form(const std::vector<Finding>& findings, const std::string& version);

}  // namespace convlab
