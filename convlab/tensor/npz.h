#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/tensor/tensor.h"

namespace convlab {

/// An array of an archive. Its name is the member's name without ".npy".
struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// Parses a NumPy .npz file: a zip archive of .npy files, stored or deflated, as numpy.savez and savez_compressed write
/// it. Skips other members. Throws Error(bad_input) that names the archive and the member if sizes, checksums or the
/// two headers of a member disagree, if members overlap, or if a member is encrypted or larger than 4 GiB.
std::vector<NamedTensor> parse_npz(std::span<const uint8_t> bytes, std::string_view name);

/// Returns the bytes of an .npz file with stored (uncompressed) members. Throws Error(bad_input) if it would have 4 GiB
/// or more.
std::vector<uint8_t> to_npz(std::span<const NamedTensor> arrays);

}  // namespace convlab
