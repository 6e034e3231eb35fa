#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "convlab/model/graph.h"

namespace convlab {

/// Makes names unique.
class UniqueNames {
 public:
  /// Returns `wanted`, or `wanted` with a number after it.
  std::string fresh(const std::string& wanted);

 private:
  std::unordered_set<std::string> taken_;
};

/// Unique names for the values of a file, made from the graph's own. (Those may repeat after Identity and the like are
/// removed, and ONNX does not allow the name "".) Inputs and outputs come first: callers know their names.
class OnnxNames : public UniqueNames {
 public:
  explicit OnnxNames(const Graph& graph);
  const std::string& operator[](ValueId value) const { return names_[static_cast<size_t>(value)]; }

  /// Returns the name of the graph's output with this index.
  const std::string& output(size_t place) const { return outputs_[place]; }

  /// Returns the index of the graph's output that is this value itself, not a copy of it; -1 if there is none.
  int output_of(ValueId value) const { return output_of_[static_cast<size_t>(value)]; }

 private:
  std::vector<std::string> names_, outputs_;
  std::vector<int> output_of_;
};

}  // namespace convlab
