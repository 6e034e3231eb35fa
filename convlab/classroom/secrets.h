#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/conv/problem.h"

namespace convlab::classroom {

/// What students must not know of an assignment.
struct Secret {
  uint64_t seed = 0;                ///< the data's
  std::vector<ConvProblem> shapes;  ///< on which submissions must be right, too

  bool operator==(const Secret&) const = default;
};

/// 64 bits of the system's entropy.
uint64_t entropy();

/// So many random bytes as hexadecimal digits.
std::string random_hex(int bytes);

/// Of what tells a student, or a browser, from others: random_hex(kSecretBytes).
inline constexpr int kSecretBytes = 16;

/// Whether the text has the form of one.
bool is_secret(std::string_view text);

/// Shapes drawn by the seed: one to three images, square, of at most 40 pixels a side and not larger than the layers in
/// channels, maps and filters, so that a file whose arrays suffice for the layers can be right on them.
Secret make_secret(uint64_t seed, const std::vector<ConvProblem>& layers);

/// 0600.
void write_secret(const std::filesystem::path& path, const Secret& secret);
Secret read_secret(const std::filesystem::path& path);

}  // namespace convlab::classroom
