#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/base/entropy.h"
#include "convlab/conv/problem.h"

namespace convlab::classroom {

/// What students must not know of an assignment.
struct Secret {
  uint64_t seed = 0;                ///< the class's: of made-up names
  std::vector<ConvProblem> shapes;  ///< an assignment's: on which submissions must be right, too

  bool operator==(const Secret&) const = default;
};

/// So many random bytes as hexadecimal digits.
std::string random_hex(int bytes);

/// Of what tells a student, or a browser, from others: random_hex(kSecretBytes).
inline constexpr int kSecretBytes = 16;

/// Whether the text has the form of one.
bool is_secret(std::string_view text);

/// A hidden shape of each layer, see judge::hidden_shapes().
Secret make_secret(const std::vector<ConvProblem>& layers);

/// 0600.
void write_secret(const std::filesystem::path& path, const Secret& secret);
Secret read_secret(const std::filesystem::path& path);

}  // namespace convlab::classroom
