#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "convlab/tensor/tensor.h"

namespace convlab {

/// The arrays of an MXNet .params file by name ("arg:fc1_weight", "aux:bn_moving_mean"), in their own types. Dense
/// arrays of the formats V1, V2, V3 and the one before versions (NDArray::Load in MXNet's source). Error(bad_input)
/// with file and byte; nothing is allocated before the file is known to hold it.
std::map<std::string, Tensor> read_mxnet_params(std::span<const uint8_t> bytes, std::string_view name);

}  // namespace convlab
