#pragma once

#include <filesystem>

namespace convlab {

/// The place of a file or folder that is shipped with the program, such as "models/fa19.onnx" or "shapes": the first
/// that exists when walking up from the folder of the program or library that holds this code, then from the current
/// folder: so it is found from a build folder inside the repository, in a folder that holds the program beside its
/// data, and under share/convlab where it is installed. Error(bad_input) with the places that were looked at.
std::filesystem::path find_resource(const std::filesystem::path& relative);

}  // namespace convlab
