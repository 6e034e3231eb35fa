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

/// The device for a file: the one that is asked for, or, for "" and "auto", a GPU or simt for CUDA kernels, otherwise
/// the CPU. Error(bad_input) if the file is for another.
std::string device_for(const KernelSource& source, const std::string& asked);

/// The file of a kernel's name: itself, or that of a CUDA kernel of this program. Error where there is none of the
/// name.
std::string path_of_kernel(const std::string& name);

/// What a guest's kernels are compiled for.
enum class GuestWork {
  running,
  counting,  ///< on simt: see start_simt_counting()
};

/// Compiles a file for a device, with macros defined so ("WITH_TILE=1"). Error as of compile_kernel_file();
/// Error(unavailable) where the device is not there.
CompiledFile compile_for(const KernelSource& source, const std::string& device, GuestWork work = GuestWork::running,
                         const std::vector<std::string>& definitions = {});

/// A compiled file for a guest, which knows its kernel by `name`.
struct GuestKernel {
  std::string device, library, path, name;
};

/// Remembers main()'s arguments for run_in_guest(), and, in a guest, loads the kernel files that its host has compiled:
/// from then on they are in the registry under the names that the user typed.
void begin_program(int argc, char** argv);

/// If kernels' names are files: compiles them and does the whole command once more as a guest, where they are known.
/// True when the guest is done, false if there are no files, or if this is the guest. Throws ExitStatus if the guest's
/// exit status is not 0, and Error(wrong_result) where a file ends the guest. To count, the kernels of this program
/// among `kernels` are compiled, too, and take their own places in the guest.
bool run_in_guest(const std::vector<std::string>& kernels, const std::string& device,
                  GuestWork work = GuestWork::running);

/// Runs this program as a guest that has these kernels in its registry, with these arguments, the first being its name.
/// Returns when it has done its command, and throws otherwise, as run_in_guest() does. `on_line` gets what it tells its
/// host.
void run_guest_with(const std::vector<GuestKernel>& kernels, std::vector<std::string> arguments,
                    const std::function<void(std::string_view line)>& on_line);

/// In a guest: tells the host how the command ended, after all else. No effect elsewhere.
void end_program(int status);

}  // namespace convlab::app
