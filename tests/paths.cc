// Absolute paths, in one small file: every other test compiles to the same object in any checkout, so ccache finds it.
#include "tests/paths.h"

namespace convlab {

std::filesystem::path source_folder() { return CONVLAB_SOURCE_DIR; }

std::filesystem::path convlab_program() { return CONVLAB_BINARY; }

}  // namespace convlab
