#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/base/entropy.h"
#include "convlab/conv/problem.h"

namespace convlab::classroom {

/// Data of an assignment that students must not know.
struct Secret {
  uint64_t seed = 0;                ///< of the class: for pseudonyms
  std::vector<ConvProblem> shapes;  ///< of an assignment: extra shapes to verify on

  bool operator==(const Secret&) const = default;
};

/// Returns random bytes as hexadecimal digits.
std::string random_hex(int bytes);

/// Size of secrets that identify a student or a browser: random_hex(kSecretBytes).
inline constexpr int kSecretBytes = 16;

/// Returns whether the text has the form of such a secret.
bool is_secret(std::string_view text);

/// Draws hidden shapes for each layer, see judge::hidden_shapes().
Secret make_secret(const std::vector<ConvProblem>& layers);

/// Writes the file with mode 0600.
void write_secret(const std::filesystem::path& path, const Secret& secret);
Secret read_secret(const std::filesystem::path& path);

}  // namespace convlab::classroom
