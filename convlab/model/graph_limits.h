#pragma once

#include <cstddef>
#include <cstdint>

namespace convlab {

/// The most nodes that importers accept; large networks have thousands. Many more would cost gigabytes for a file of
/// megabytes: protobuf messages, the graph, its plan and its engine store something for each node.
inline constexpr size_t kMostNodes = 1 << 15;

/// The most dimensions that a value may have.
inline constexpr size_t kMostRank = 16;

/// Bounds strides, kernels and paddings so that sums of a few of them stay exact; ConvProblem has the same limit.
inline constexpr int64_t kMostSize = int64_t{1} << 31;

}  // namespace convlab
