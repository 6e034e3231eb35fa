#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/tensor/tensor.h"

namespace convlab {

/// An array in an archive, under its name there without ".npy".
struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// NumPy's .npz: a zip archive of .npy files, stored or deflated, as numpy.savez and savez_compressed write it; members
/// of other kinds are passed over. Error(bad_input) that names archive and member: sizes, checksums and both of a
/// member's headers must agree, members must not overlap, and none is encrypted or larger than 4 GiB.
std::vector<NamedTensor> parse_npz(std::span<const uint8_t> bytes, std::string_view name);

/// The bytes of a .npz file whose members are stored. Error(bad_input) where they are 4 GiB or more.
std::vector<uint8_t> to_npz(std::span<const NamedTensor> arrays);

}  // namespace convlab
