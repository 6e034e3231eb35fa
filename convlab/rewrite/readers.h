#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "convlab/model/graph.h"

namespace convlab {

/// The consumers of each value of a graph, found once. It does not know values and nodes that are added later.
class Readers {
 public:
  explicit Readers(const Graph& graph);

  /// Returns the indices of the nodes that read a value, in graph order; a node that reads it twice is listed twice.
  std::span<const size_t> of(ValueId value) const;

  bool is_output(ValueId value) const { return is_output_[static_cast<size_t>(value)]; }

  /// Returns the index of the only node that reads a value, if it reads it once and the value is not an output of the
  /// graph.
  std::optional<size_t> only(ValueId value) const;

 private:
  std::vector<bool> is_output_;  ///< by value
  std::vector<size_t> begin_;    ///< by value: index of its first consumer in places_; one more entry for the end
  std::vector<size_t> places_;
};

/// Drops the constants that no node reads and that are not outputs.
void drop_unread_constants(Graph& graph);

/// Whether a plan has no step for the operator: it changes no element, and its output shares the array of its input.
bool is_alias(const Op& op);

/// Returns the value that owns the array in which a value is stored.
ValueId root_of(const Graph& graph, ValueId value);

}  // namespace convlab
