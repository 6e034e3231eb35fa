#pragma once

#include <cstddef>

namespace convlab {

/// The most nodes that importers accept; large networks have thousands. Many more would cost gigabytes for a file of
/// megabytes: protobuf messages, the graph, its plan and its engine store something for each node.
inline constexpr size_t kMostNodes = 1 << 15;

/// The most dimensions that a value may have.
inline constexpr size_t kMostRank = 16;

}  // namespace convlab
