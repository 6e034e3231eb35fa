// Part of the library that whole CUDA programs link: begins the report before the program's own code runs.

#include "convlab/simt/program/program_report.h"

namespace {

[[gnu::constructor]] void begin_program() { convlab::simt::report_at_exit(); }

}  // namespace
