#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "convlab/model/graph.h"

namespace convlab {

/// The places of the nodes that read a value, each as often as it does.
std::vector<size_t> readers_of(const Graph& graph, ValueId value);

/// The place of the one node that reads a value, if it reads it once and the value is not the network's output.
std::optional<size_t> only_reader(const Graph& graph, ValueId value);

/// Whether a plan has no step for the operator, because its output lies where its input does: it moves and changes
/// nothing.
bool is_alias(const Op& op);

/// The value in whose array a value lives.
ValueId root_of(const Graph& graph, ValueId value);

}  // namespace convlab
