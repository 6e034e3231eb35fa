// Explains why a file does not compile.

#include "convlab/kernel_file/compile_failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/diagnostics/compiler_output.h"
#include "convlab/diagnostics/source_lines.h"
#include "convlab/diagnostics/text_form.h"
#include "convlab/kernel_file/braces.h"
#include "convlab/kernel_file/compile_help.h"
#include "convlab/kernel_file/kernel_binders.h"
#include "convlab/kernel_file/ptx_errors.h"

namespace convlab {
namespace fs = std::filesystem;
namespace {

/// Returns at most kMostLines of the compiler's lines, without those about the generated file `unit`, which the user
/// does not know.
std::string shown(const std::string& complaint, const std::string& unit) {
  constexpr size_t kMostLines = 40;
  std::vector<std::string> lines = split(complaint, '\n');
  std::erase_if(lines, [&](const std::string& line) {
    const bool of_option = line.find("note: disable pass") != std::string::npos;  // caused by kNoRuntimeUnrolling
    return line.empty() || of_option || line.find(unit) != std::string::npos;
  });
  std::string text;
  for (size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) text += "\n  " + printable(lines[i]);
  if (lines.size() > kMostLines) text += fmt::format("\n  and {} more lines", lines.size() - kMostLines);
  return text;
}

/// Returns the finding of an unbalanced brace and the compiler's errors before its line: later ones follow from it.
std::vector<Finding> with_cause(Finding brace, const std::vector<Finding>& errors) {
  const SourcePlace place = place_of(brace);
  std::vector<Finding> findings{std::move(brace)};
  std::ranges::copy_if(errors, std::back_inserter(findings), [&](const Finding& each) {
    return place_of(each).line < place.line && fs::absolute(place_of(each).file) == fs::absolute(place.file);
  });
  return findings;
}

}  // namespace

void throw_findings(const KernelSource& source, std::vector<Finding> findings) {
  SourceLines lines;
  lines.add(source.path.string(), source.text);
  std::string text = fmt::format("{} does not compile:", source.path.string());
  for (const Finding& each : findings) text += "\n" + text_form(each, lines, {});
  throw FindingError(ErrorKind::bad_input, text.substr(0, text.find_last_not_of('\n') + 1), std::move(findings));
}

void throw_compile_error(const KernelSource& source, const CompilerCommand& command, const ProcessRun& run) {
  const std::string file = source.path.string(), program = command.words.front();
  const std::string complaint = with_places_of_asm_statements(without_binders(run.complaint + run.output));
  if (run.out_of_time) throw bad_input("{}: {} did not finish within {:g} s", file, program, command.limit_s);
  constexpr int kSignals = 128, kMostSignal = 64;  // nvcc's own exit status may be 255
  if (run.status > kSignals && run.status <= kSignals + kMostSignal) {
    throw bad_input("{}: {} crashed (signal {}):{}", file, program, run.status - kSignals,
                    shown(complaint, command.text.string()));
  }
  std::vector<Finding> findings = findings_in(complaint);
  std::erase_if(findings, [](const Finding& each) { return each.severity != Severity::error; });
  if (std::optional<Finding> brace = unbalanced_brace(source.text, file)) {
    throw_findings(source, with_cause(std::move(*brace), findings));
  }
  const std::string hint = help_for(source, complaint, findings);
  throw FindingError(ErrorKind::bad_input,
                     fmt::format("{} does not compile:{}{}", file, shown(complaint, command.text.string()),
                                 hint.empty() ? "" : fmt::format("\n  help: {}", hint)),
                     std::move(findings));
}

}  // namespace convlab
