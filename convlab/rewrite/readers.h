#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "convlab/model/graph.h"

namespace convlab {

/// Who reads each value of a graph, found once. Values and nodes that are added later are not known to it.
class Readers {
 public:
  explicit Readers(const Graph& graph);

  /// The places of the nodes that read a value, in their order, each as often as it does.
  std::span<const size_t> of(ValueId value) const;

  bool is_output(ValueId value) const { return is_output_[static_cast<size_t>(value)]; }

  /// The place of the one node that reads a value, if it reads it once and the value is no output of the network.
  std::optional<size_t> only(ValueId value) const;

 private:
  std::vector<bool> is_output_;  ///< by value
  std::vector<size_t> begin_;    ///< by value: where its readers begin in places_; and where the last one's end
  std::vector<size_t> places_;
};

/// Drops the constants that no node reads, unless one is an output.
void drop_unread_constants(Graph& graph);

/// Whether a plan has no step for the operator, because its output lies where its input does: it moves and changes
/// nothing.
bool is_alias(const Op& op);

/// The value in whose array a value lives.
ValueId root_of(const Graph& graph, ValueId value);

}  // namespace convlab
