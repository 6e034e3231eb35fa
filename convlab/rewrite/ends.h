#pragma once

#include <cstdint>

#include "convlab/model/graph.h"

namespace convlab {

/// Inserts a ScaleOp before a network: its input then accepts images of shape `input` (N C H W, any N) instead of N C
/// side side.
void scale_input(Graph& graph, const Shape& input, int64_t side);

/// Inserts x * factor + offset before a network's first input.
void scale_values(Graph& graph, float factor, float offset);

/// Appends an ArgMaxOp to a network that accepts images of shape `input`: its output is then one label per image. Drops
/// a softmax at the network's end.
void label_output(Graph& graph, const Shape& input);

}  // namespace convlab
