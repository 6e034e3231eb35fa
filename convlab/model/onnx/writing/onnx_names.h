#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "convlab/model/graph.h"

namespace convlab {

/// Names of which there is each only once.
class UniqueNames {
 public:
  /// `wanted`, or with a number after it.
  std::string fresh(const std::string& wanted);

 private:
  std::unordered_set<std::string> taken_;
};

/// Names for the values of a file: the graph's own, but each only once. (They repeat after Identity and the like are
/// removed, and ONNX names no value "".) Inputs and outputs come first: their names are what callers know.
class OnnxNames : public UniqueNames {
 public:
  explicit OnnxNames(const Graph& graph);
  const std::string& operator[](ValueId value) const { return names_[static_cast<size_t>(value)]; }

  /// The name of the graph's output of this place.
  const std::string& output(size_t place) const { return outputs_[place]; }

  /// The graph's output that the value itself is, rather than a copy of it; -1: none.
  int output_of(ValueId value) const { return output_of_[static_cast<size_t>(value)]; }

 private:
  std::vector<std::string> names_, outputs_;
  std::vector<int> output_of_;
};

}  // namespace convlab
