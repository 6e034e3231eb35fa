#pragma once

#include <filesystem>

namespace convlab {

/// The place of a file or folder that is shipped with the program, such as "models/fa19.onnx" or "shapes": the first
/// that exists when walking up from the executable's folder, then from the current folder (so that it is found from a
/// build folder inside the repository, and in a folder that holds the program beside its data).
/// Error(bad_input) with the places that were looked at.
std::filesystem::path find_resource(const std::filesystem::path& relative);

}  // namespace convlab
