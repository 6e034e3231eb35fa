#pragma once

#include <filesystem>
#include <string>

/// The sources of kernels, as far as they are installed.
namespace convlab::simt::internal {

/// Returns the path of a source file from the path that the compiler was given: absolute, or relative to a build folder
/// in the repository. Returns "" if the sources are not installed.
std::filesystem::path source_file(const std::filesystem::path& path);

/// Returns the file's text; "" if it cannot be read.
std::string source_text(const std::filesystem::path& path);

/// Returns one of its lines, from 1; "" if there is none.
std::string source_line(const std::filesystem::path& path, int line);

}  // namespace convlab::simt::internal
