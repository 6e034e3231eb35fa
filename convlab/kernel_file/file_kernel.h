#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/device/device.h"
#include "convlab/kernel_file/library.h"
#include "convlab/kernel_file/source.h"

namespace convlab {

/// Loads a compiled kernel file into this process and registers its kernel under `name`, as what it is to whoever asks
/// the registry: one that takes plain float32 images and, unless it is convlab's own kind, problems without padding,
/// dilation and groups. A course's file gets its output filled with zeros before each call. A process loads up to
/// kMostFiles. Error(bad_input) if it cannot be loaded or holds no kernel for the device, or several.
void load_kernel_file(const KernelSource& source, const std::filesystem::path& library, const std::string& name,
                      DeviceKind device);

inline constexpr int kMostFiles = 32;

/// What the prologs, calls and epilogs of a loaded file took on one problem, launch by launch. Only the calls are in
/// its kernel's times.
struct FilePhases {
  std::string file, problem;
  std::vector<PhaseSeconds> launches;

  bool early() const { return launches.back().early; }
};

/// Of all files that have a prolog and an epilog, and all problems, in the order of their first launches.
const std::vector<FilePhases>& file_phases();

/// Whether this kernel is a file whose output was there after its prolog, so that its call's time tells nothing.
bool computes_in_prolog(std::string_view kernel);

}  // namespace convlab
