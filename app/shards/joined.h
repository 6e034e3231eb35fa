#pragma once

#include <filesystem>
#include <vector>

#include "app/shards/merged.h"

namespace convlab::app {

/// Merges the outputs of all shares of an `infer` into one .npy file, in the order of the images, chunk by chunk.
/// Throws Error(bad_input) if a share has no such file, or not the rows that its Record says; then nothing is written.
void join_outputs(const std::vector<Part>& parts, const std::filesystem::path& path);

}  // namespace convlab::app
