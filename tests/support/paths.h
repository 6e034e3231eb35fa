#pragma once

#include <filesystem>

namespace convlab {

/// The root of the source tree. A function, so that initializers of globals in other files can use it.
std::filesystem::path source_folder();

/// The convlab program of this build.
std::filesystem::path convlab_program();

}  // namespace convlab
