#pragma once

#include <filesystem>

namespace convlab {

/// The root of the source tree. A function, so that constants of other files may be made with it.
std::filesystem::path source_folder();

/// The convlab program of this build.
std::filesystem::path convlab_program();

}  // namespace convlab
