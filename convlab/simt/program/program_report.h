#pragma once

namespace convlab::simt {

/// From now on keeps what simt finds in this process, and prints it to standard error when the process ends: by exit(),
/// by a signal, or after the timeout. Settings come from the environment (program_settings.h). Then the exit status is
/// theirs if the program's own is 0 and an error was found.
void report_at_exit();

}  // namespace convlab::simt
