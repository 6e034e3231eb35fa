#pragma once

#include <filesystem>

namespace convlab {

/// The place of a file or folder that is shipped with the program, such as "models/fa19.onnx" or "shapes": the first
/// that exists when walking up from the folder of the program or library that holds this code: so it is found from a
/// build folder inside the repository, in a folder that holds the program beside its data, and under share/convlab
/// where it is installed. Not from the current folder, where anybody may have put a file of that name. Error(bad_input)
/// with the place where it looked.
std::filesystem::path find_resource(const std::filesystem::path& relative);

}  // namespace convlab
