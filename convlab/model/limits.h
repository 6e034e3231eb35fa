#pragma once

#include <cstddef>

namespace convlab {

/// The most nodes that importers take; large networks have thousands. Many more would cost gigabytes (the file's
/// messages, the graph, its plan and its engine keep something for each) for a file of megabytes.
inline constexpr size_t kMostNodes = 1 << 15;

/// The most dimensions that a value may have.
inline constexpr size_t kMostRank = 16;

}  // namespace convlab
