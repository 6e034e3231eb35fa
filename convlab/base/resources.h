#pragma once

#include <filesystem>

namespace convlab {

/// Returns the path of a file or directory that is shipped with the program, such as "models/fa19.onnx" or "shapes".
/// Walks up from the directory of the program or library that contains this code and returns the first match there or
/// under share/convlab. This finds it from a build directory in the repository, next to the program, and in an
/// installation. Does not search the current directory, where anybody may have put a file of that name. Throws
/// Error(bad_input) with the directory where the search began.
std::filesystem::path find_resource(const std::filesystem::path& relative);

}  // namespace convlab
