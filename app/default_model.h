#pragma once

#include <string>
#include <vector>

namespace convlab::app {

/// Returns the shipped model whose convolutions a command runs if the user names none: that of the semester of the
/// first kernel file among `kernels` that has one, as `convlab verify FILE` does, otherwise fa19. Throws
/// Error(bad_input) if a file is not a kernel file.
std::string default_model(const std::vector<std::string>& kernels);

}  // namespace convlab::app
