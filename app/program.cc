// Runs a program's command and turns failures into messages and exit statuses.

#include "app/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/command_line.h"
#include "app/guests/guest_kernels.h"
#include "app/results/output_streams.h"
#include "app/usage.h"
#include "convlab/base/error.h"
#include "convlab/diagnostics/finding.h"
#include "convlab/diagnostics/source_lines.h"
#include "convlab/diagnostics/text_form.h"
#include "convlab/diagnostics/text_style.h"

namespace convlab::app {
namespace {

/// A closed standard stream would pass its number to the first opened file, and messages would end up in that file.
void open_standard_streams() {
  for (int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) == -1 && ::open("/dev/null", O_RDWR) != descriptor) std::abort();
  }
}

int print_error(const std::string& text, ErrorKind kind) {
  std::fflush(results_stream());
  std::fputs(text.c_str(), messages_stream());
  return static_cast<int>(kind);
}

/// "convlab: error: ...", and the exit status.
int complain(const char* message, ErrorKind kind) {
  const TextStyle style = text_style(messages_stream(), "auto");
  return print_error(fmt::format("convlab: {} {}\n", severity_text(Severity::error, style), message), kind);
}

/// Prints the findings as compilers do: "net.onnx: error: ...".
int complain(const FindingError& error) {
  constexpr size_t kMost = 5;
  const std::vector<Finding>& findings = error.findings();
  if (findings.empty()) return complain(error.what(), error.kind());
  const TextStyle style = text_style(messages_stream(), "auto");
  SourceLines lines;
  std::string text;
  for (const Finding& finding : std::span(findings).first(std::min(findings.size(), kMost)))
    text += text_form(finding, lines, style);
  if (findings.size() > kMost) text += fmt::format("{} more errors\n", findings.size() - kMost);
  return print_error(text, error.kind());
}

/// Returns the arguments and a nullptr, with 'convlab help COMMAND' rewritten as 'convlab COMMAND --help'.
std::vector<char*> arguments_of(int argc, char** argv) {
  static char help[] = "--help";
  std::vector<char*> arguments(argv, argv + argc);
  if (argc > 1 && std::string_view(argv[1]) == "help") {
    arguments.erase(arguments.begin() + 1);
    arguments.push_back(help);
  }
  arguments.push_back(nullptr);
  return arguments;
}

}  // namespace

int run_program(const ProgramInfo& program, std::span<const Command> commands, int argc, char** argv) {
  start_usage_clock();
  open_standard_streams();
  try {
    std::vector<char*> arguments = arguments_of(argc, argv);
    const int count = static_cast<int>(arguments.size()) - 1;
    if (program.begin != nullptr) program.begin(count, arguments.data());
    run_command_line(program, commands, count, arguments.data());
    return 0;
  } catch (const ExitStatus& exit) {
    return exit.status;
  } catch (const FindingError& error) {
    return complain(error);
  } catch (const Error& error) {
    return complain(error.what(), error.kind());
  } catch (const std::bad_alloc&) {
    return complain("out of memory; use a smaller --batch, fewer images or a smaller model", ErrorKind::bad_input);
  } catch (const std::exception& error) {
    return complain(error.what(), ErrorKind::bad_input);
  }
}

}  // namespace convlab::app
