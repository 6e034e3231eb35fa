#pragma once

#include <filesystem>
#include <string>

/// What the program convlab-jail does inside of jails, in one process with untrusted code. Requests come from the judge
/// and are trusted. Answers are untrusted: code that has taken over the process may have written them.
namespace convlab::judge {

/// Handles a request, a JSON file, and writes the answer to the file that the request names as "answer". "processes"
/// limits the processes and threads of its user in the jail; 0: no limit.
///
///   read    parses and translates a kernel file as the judge does before compiling it. {"source"}. A trial: the judge
///           repeats it only if it finishes in time. The answer is {"bytes": size of the translated text} or
///           {"refused": why it is not a kernel file}.
///   record  records what a kernel file asks of the device for one problem. {"source", "library", "problem", "list"}:
///           paths, except for the problem. The list is written to `list`, see list_text(). The answer is {"recorded"},
///           {"refused": why it cannot be recorded}, {"misfit": why the kernel does not support the problem} or
///           {"threw": the file's exception}.
///   replay  replays a list on simt, and calls nothing of the file but its kernels. {"library", "list", "problem",
///           "lenient", "zeros", "counted", "threads", "inputs", "output"}: file `inputs` holds x and then w; y is
///           written to `output`, and starts as zeros or uninitialized. The answer is {"counts": [...]},
///           {"fault": kind, "text"} or {"threw"}.
///   run     calls a CPU kernel repeatedly. {"source", "library", "problem"}. Writes a byte to file descriptor 4 when
///           it is ready. Then, in a loop, reads a byte from file descriptor 3, computes y in the memory of file
///           descriptor 5, which holds x, w and y, and writes a byte to 4. If it cannot start or throws, the answer is
///           {"misfit"} or {"threw"}.
///
/// Throws Error(bad_input) for other work.
void work_inside(const std::string& work, const std::filesystem::path& request);

/// Returns the shared libraries that a jail must show: this program's, and those that kernel files may need, one per
/// line.
std::string libraries_of_program();

}  // namespace convlab::judge
