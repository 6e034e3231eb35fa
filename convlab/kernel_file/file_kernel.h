#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/device/device.h"
#include "convlab/kernel_file/library.h"
#include "convlab/kernel_file/source.h"

namespace convlab {

/// Loads a compiled kernel file into this process and registers its kernel under `name`. The kernel accepts fp32 nchw
/// images and, unless it is of convlab's own kind, only problems without padding, dilation and groups. For the course's
/// files, the output is filled with zeros before each call. A process loads at most kMostFiles files. Throws
/// Error(bad_input) if the file cannot be loaded, or registers no kernel for the device or more than one.
void load_kernel_file(const KernelSource& source, const std::filesystem::path& library, const std::string& name,
                      DeviceKind device);

inline constexpr int kMostFiles = 32;

/// Times of the prolog, call and epilog of a loaded file on one problem, per launch. Only the call counts as kernel
/// time.
struct FilePhases {
  std::string file, problem;
  std::vector<PhaseSeconds> launches;

  bool early() const { return launches.back().early; }
};

/// Returns the phases of all files with a prolog and an epilog on all problems, in order of first launch.
const std::vector<FilePhases>& file_phases();

/// Returns whether this kernel is a file whose output was already complete after its prolog, so that its call time is
/// meaningless.
bool computes_in_prolog(std::string_view kernel);

}  // namespace convlab
