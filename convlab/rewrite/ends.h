#pragma once

#include <cstdint>

#include "convlab/model/graph.h"

namespace convlab {

/// Puts a ScaleOp before a network: its input then takes images of the shape `input` (N C H W, any N) in place of
/// N C side side.
void scale_input(Graph& graph, const Shape& input, int64_t side);

/// Puts x * factor + offset before a network's first input.
void scale_values(Graph& graph, float factor, float offset);

/// Puts an ArgMaxOp after a network that takes images of the shape `input`: its output is then a label an image. Drops
/// the softmax that the network may end with.
void label_output(Graph& graph, const Shape& input);

}  // namespace convlab
