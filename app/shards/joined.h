#pragma once

#include <filesystem>
#include <vector>

#include "app/shards/merged.h"

namespace convlab::app {

/// Writes the outputs that the shares of an `infer` wrote into one .npy file, in the order of the images, a piece at a
/// time. Error(bad_input) where a share has no such file, or not the rows that its Record says; then nothing is
/// written.
void join_outputs(const std::vector<Part>& parts, const std::filesystem::path& path);

}  // namespace convlab::app
