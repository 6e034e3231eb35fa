#pragma once

namespace convlab::judge {

/// A file without a name that holds, as bubblewrap reads it, the kernel's filter of system calls: a process that makes
/// one that no jailed process needs is ended by SIGSYS. Only a compiler starts processes. The caller closes the file.
/// Error(unavailable) if it cannot be made.
int system_call_filter(bool starts_processes);

/// From here on this process, which such a filter without processes holds, starts no other program in its own place.
/// bubblewrap cannot forbid it, as it starts this one after it has loaded its filter. Error(unavailable).
void start_no_programs();

}  // namespace convlab::judge
