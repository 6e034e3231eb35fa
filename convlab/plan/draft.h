#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "convlab/plan/plan.h"
#include "convlab/plan/request.h"

namespace convlab {

/// An array of a run. Several values share one if a node only reshapes.
struct DraftArray {
  Location::Place place = Location::Place::arena;
  int64_t number = 0;  ///< constant: its ValueId; input, output: its index
  int64_t bytes = 0;   ///< in the arena
  Format format = kNchw;
  Shape written = {};           ///< the shape with which it was written; only for arrays in the arena
  std::optional<size_t> joint;  ///< the array that contains this one
  int64_t at = 0;               ///< offset of its first byte in `joint`
  int64_t pitch = 0;            ///< as in Operand
};

/// A step whose formats are final, before a kernel is chosen.
struct DraftStep {
  std::string name;  ///< the names of the nodes that it computes, joined by '+'
  Step what;
  std::vector<size_t> inputs;  ///< arrays, in the order of what.inputs
  size_t output = 0;
  std::vector<const Kernel*> kernels;  ///< all that can compute exactly this step, preferred ones first
};

/// The result of assign_formats(): all arrays of a run, and its steps in order.
struct Draft {
  std::vector<DraftArray> arrays;
  std::vector<DraftStep> steps;
};

/// Returns a line for each step: "conv1: nchw uint8 1x1x28x28 -> nchw16n 1x4x12x12, 3 kernels".
std::string to_text(const Draft& draft);

/// Adds arrays to a draft, and knows which values they hold.
class DraftArrays {
 public:
  DraftArrays(const PlanRequest& request, std::vector<DraftArray>& arrays);

  const DraftArray& operator[](size_t array) const { return arrays_[array]; }

  /// Whether the value has an array: it is an input of the run, a constant, or the output of an earlier step.
  bool has(ValueId value) const { return of_value_.contains(value) || request_.graph.constants.contains(value); }

  /// Returns the array of such a value.
  size_t of(ValueId value);

  /// Assign the value an array, or the array of another value.
  void put(ValueId value, size_t array) { of_value_[value] = array; }
  void share(ValueId value, ValueId other) { of_value_[value] = of(other); }

  /// Adds an array for a value that a step will write. It is an output of the run if the value is one and the format is
  /// one that outputs have.
  size_t add(ValueId value, Format format = kNchw);

  /// Adds an array of this shape that is part of `joint`: the channels from `first` on. `joint` has the format
  /// request.channels; `pitch` is that of its parts.
  size_t add_part(const Shape& shape, size_t joint, int64_t first, int64_t pitch);

  /// Adds scratch memory. With one pixel per image, nchw8c equals nchw, and the array counts as plain.
  size_t add_scratch(const Shape& shape, Format format = kNchw);
  size_t add_output(size_t number);

 private:
  size_t add_at(Location::Place place, int64_t number, Format format = kNchw);

  const PlanRequest& request_;
  std::vector<DraftArray>& arrays_;
  std::map<ValueId, size_t> output_of_root_;  ///< by root_of() the value: the first of the outputs that share its array
  std::map<ValueId, size_t> of_value_;
};

}  // namespace convlab
