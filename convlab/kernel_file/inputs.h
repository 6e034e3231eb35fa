#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/base/fingerprint.h"

namespace convlab {

/// Adds the content of all headers that the text includes, directly or not, and that are found in one of the folders.
/// The first folder is the one of the including file; the others are searched after it.
void add_headers(std::string_view text, const std::vector<std::filesystem::path>& folders, Fingerprint& fingerprint);

/// Adds a command's words, and the size and modification time of its program: an updated compiler is a different one.
void add_command(const std::vector<std::string>& command, Fingerprint& fingerprint);

}  // namespace convlab
