#pragma once

namespace convlab::judge {

/// Returns an anonymous file with a seccomp filter in bubblewrap's format. A process that makes a system call that no
/// jailed process needs is killed by SIGSYS. Only compilers may start processes. The caller closes the file. Throws
/// Error(unavailable) if it cannot be created.
int system_call_filter(bool starts_processes);

/// Forbids execve in this process, which runs under a filter without processes. bubblewrap's filter cannot forbid it,
/// because bubblewrap starts this program after it loads the filter. Throws Error(unavailable) if the filter cannot be
/// loaded.
void start_no_programs();

}  // namespace convlab::judge
