#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "convlab/model/graph.h"

namespace convlab {

/// Imports an MXNet checkpoint: PREFIX-symbol.json (the network) and PREFIX-NNNN.params (the weights, all versions of
/// the format). Operators: New (the course's own convolution), Convolution, Activation, Pooling, Flatten,
/// FullyConnected, BatchNorm, Dropout, SoftmaxOutput (its label input is ignored), SoftmaxActivation, softmax. A symbol
/// does not contain the image size: the importer uses the smallest square, with the channels of the first convolution,
/// that gives the first fully connected layer its number of columns (dynamic, -1, if global average pooling precedes
/// that layer). Throws Error(bad_input) that names the file and the byte or the node.
Graph import_mxnet(std::span<const uint8_t> symbol, std::string_view symbol_name, std::span<const uint8_t> params,
                   std::string_view params_name);

}  // namespace convlab
