#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/base/fingerprint.h"

namespace convlab {

/// Adds the contents of all headers that the text includes, directly or indirectly, and that are found in `folders`.
/// The first folder is the including file's own; the others are searched after it.
void add_headers(std::string_view text, const std::vector<std::filesystem::path>& folders, Fingerprint& fingerprint);

/// Returns these headers, in the order in which they are included first.
std::vector<std::filesystem::path> included_headers(std::string_view text,
                                                    const std::vector<std::filesystem::path>& folders);

/// Adds a command's words, and the size and modification time of its program, so that a compiler update changes the
/// fingerprint.
void add_command(const std::vector<std::string>& command, Fingerprint& fingerprint);

}  // namespace convlab
