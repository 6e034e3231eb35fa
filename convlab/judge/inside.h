#pragma once

#include <filesystem>
#include <string>

/// What the program convlab-jail does inside of jails, beside somebody else's code. Requests come from the judge and
/// are right; answers may come from anybody who has taken the process over.
namespace convlab::judge {

/// Does what a request, a file of JSON, asks for, and writes an answer to the file that it names as "answer".
/// "processes" is how many processes and threads its user may have in the jail; 0: any number.
///
///   read    what the judge does with the text of a file before it is compiled. {"source"}. A trial: the judge does
///           it again if that ends in time. The answer is {"bytes": of what is compiled} or {"refused": why it is no
///           kernel file}.
///   record  what a kernel file asks of the device for one problem. {"source", "library", "problem", "list"}: paths,
///           but for the problem. `list` gets the list, see list_text(). The answer is {"recorded"}, {"refused": why
///           no list can say it}, {"misfit": why the kernel does not take the problem} or {"threw": what the file
///           throws}.
///   replay  carries a list out on simt, and calls nothing of the file but its kernels. {"library", "list",
///           "problem", "lenient", "zeros", "counted", "threads", "inputs", "output"}: `inputs` holds x and then w,
///           `output` gets y, which was filled with zeros or poison. The answer is {"counts": [...]}, {"fault":
///           kind, "text"} or {"threw"}.
///   run     calls a kernel of the CPU again and again. {"source", "library", "problem"}. It writes a byte to the
///           file with number 4 when it is ready, and then, again and again, waits for a byte from the file with
///           number 3, computes y in the memory of file 5, which holds x, w and y, and writes a byte to 4. The
///           answer is {"misfit"} or {"threw"} where it does not come to that.
///
/// Error(bad_input) for other work.
void work_inside(const std::string& work, const std::filesystem::path& request);

/// The libraries of this program, and those that files may want, one a line: what a jail must show.
std::string libraries_of_program();

}  // namespace convlab::judge
