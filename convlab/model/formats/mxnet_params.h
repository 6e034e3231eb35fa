#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "convlab/tensor/tensor.h"

namespace convlab {

/// Reads the arrays of an MXNet .params file by name ("arg:fc1_weight", "aux:bn_moving_mean"), in their own types:
/// dense arrays of the formats V1, V2, V3 and the unversioned one before (NDArray::Load in MXNet's source). Throws
/// Error(bad_input) with file and byte. Allocates an array only after checking that the file holds it.
std::map<std::string, Tensor> read_mxnet_params(std::span<const uint8_t> bytes, std::string_view name);

}  // namespace convlab
