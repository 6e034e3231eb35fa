#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/guests/guest.h"
#include "convlab/kernel_file/compiler.h"
#include "convlab/kernel_file/source.h"
#include "convlab/kernel_file/translation.h"

namespace convlab::app {

/// Returns the device for a file: `asked`; or, for "" and "auto", a GPU, otherwise simt, for CUDA files, and the CPU
/// for others. Throws Error(bad_input) if the file does not support `asked`.
std::string device_for(const KernelSource& source, const std::string& asked);

/// Returns the file of a kernel: `name` itself if it is a file, otherwise the source of this program's CUDA kernel of
/// that name. Throws Error if there is no such kernel.
std::string path_of_kernel(const std::string& name);

/// What a child process's kernels are compiled for.
enum class GuestWork {
  running,
  counting,  ///< on simt: see start_simt_counting()
};

/// Compiles a file for a device, with these macro definitions ("WITH_TILE=1"). Errors are those of
/// compile_kernel_file(); throws Error(unavailable) if the device is missing.
CompiledFile compile_for(const KernelSource& source, const std::string& device, GuestWork work = GuestWork::running,
                         const std::vector<std::string>& definitions = {});

/// A compiled kernel file for a child process, which registers its kernel under `name`.
struct GuestKernel {
  std::string device, library, path, name;
};

/// Stores main()'s arguments for run_in_guest(). In a child process, also loads the kernel files that its parent
/// compiled and registers them under the names that the user typed.
void begin_program(int argc, char** argv);

/// If some names of kernels are files, compiles them and runs the whole command again in a child process that has them
/// in its registry. Returns true when the child is done, and false if there are no files or if this is the child.
/// Throws ExitStatus if the child's exit status is not 0, and Error(wrong_result) if a file ends the child. For
/// GuestWork::counting, this program's own kernels among `kernels` are compiled, too, and replace those in the child's
/// registry.
bool run_in_guest(const std::vector<std::string>& kernels, const std::string& device,
                  GuestWork work = GuestWork::running);

/// Runs this program with these arguments, the first being its name, in a child process that has these kernels in its
/// registry. Returns when the child has finished its command; otherwise throws, as run_in_guest() does. `on_line`
/// receives the lines of results that the child reports.
void run_guest_with(const std::vector<GuestKernel>& kernels, std::vector<std::string> arguments,
                    const std::function<void(std::string_view line)>& on_line);

/// In a child process: reports the command's exit status to the parent, after everything else. Otherwise does nothing.
void end_program(int status);

}  // namespace convlab::app
