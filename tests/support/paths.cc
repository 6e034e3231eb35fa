// Defines absolute paths. They are in one small file, so that all other tests compile to the same object in any
// checkout and ccache finds it.

#include "tests/support/paths.h"

namespace convlab {

std::filesystem::path source_folder() { return CONVLAB_SOURCE_DIR; }

std::filesystem::path convlab_program() { return CONVLAB_BINARY; }

}  // namespace convlab
