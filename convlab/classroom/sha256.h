#pragma once

#include <string>
#include <string_view>

namespace convlab::classroom {

/// Returns the SHA-256 of a text as 64 hexadecimal digits (FIPS 180-4).
std::string sha256(std::string_view text);

}  // namespace convlab::classroom
