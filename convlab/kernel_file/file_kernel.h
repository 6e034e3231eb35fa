#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "convlab/device/device.h"
#include "convlab/kernel_file/source.h"

namespace convlab {

/// Loads a compiled kernel file into this process and registers its kernel under `name`, as what it is to whoever asks
/// the registry: one that takes plain float32 images and, unless it is convlab's own kind, problems without padding,
/// dilation and groups. A course's file gets its output filled with zeros before each call. A process loads up to
/// kMostFiles. Error(bad_input) if it cannot be loaded or holds no kernel for the device, or several.
void load_kernel_file(const KernelSource& source, const std::filesystem::path& library, const std::string& name,
                      DeviceKind device);

inline constexpr int kMostFiles = 32;

/// What the loaded files' prologs, calls and epilogs took so far: only the calls are in their kernels' times.
struct FilePhases {
  int64_t calls = 0;
  double prolog_s = 0, call_s = 0, epilog_s = 0;
};
const FilePhases& file_phases();

}  // namespace convlab
