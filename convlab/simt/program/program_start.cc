// Part of the library that whole CUDA programs link: begins the report before the program's own code runs.

#include <cstdlib>
#include <string>
#include <string_view>

#include "convlab/simt/program/program_report.h"

/// Lines such as "CONVLAB_CHECK=none", in programs that were built with options of a run: see program_compiler.cc.
extern "C" [[gnu::weak]] const char convlab_program_settings[];

namespace {

/// The environment comes first.
void set_where_unset(std::string_view lines) {
  while (!lines.empty()) {
    const std::string line(lines.substr(0, lines.find('\n')));
    const size_t equals = line.find('=');
    ::setenv(line.substr(0, equals).c_str(), line.substr(equals + 1).c_str(), 0);
    lines.remove_prefix(line.size() + 1);
  }
}

[[gnu::constructor]] void begin_program() {
  if (convlab_program_settings != nullptr) set_where_unset(convlab_program_settings);
  convlab::simt::report_at_exit();
}

}  // namespace
