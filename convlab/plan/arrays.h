#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "convlab/plan/plan.h"
#include "convlab/plan/request.h"

namespace convlab {

/// An array of a run. Several values share one if a node only reshapes.
struct PlanArray {
  Location location;  ///< `place` is final; PlanArrays::place() sets the arena offset
  int64_t bytes = 0;
  Format format = kNchw;
  Shape written = {};             ///< the shape with which it was written; only for arrays in the arena
  int64_t first = -1, last = -1;  ///< the steps that write it and that read it last
  std::optional<size_t> joint;    ///< the array that contains this one
  int64_t at = 0;                 ///< offset of its first byte in `joint`
  int64_t step = 0;               ///< image stride in elements, as in ConvStep
};

/// All arrays of a run, numbered from 0, while its steps are planned.
class PlanArrays {
 public:
  explicit PlanArrays(const PlanRequest& request);

  const PlanArray& operator[](size_t array) const { return arrays_[array]; }

  /// Whether the value has an array: it is an input of the run, a constant, or the output of an earlier step.
  bool has(ValueId value) const { return of_value_.contains(value) || request_.graph.constants.contains(value); }

  /// Returns the array of a value: an input of the run, a constant, or the output of an earlier step.
  size_t of(ValueId value);

  /// Assign the value an array, or the array of another value.
  void put(ValueId value, size_t array) { of_value_[value] = array; }
  void share(ValueId value, ValueId other) { of_value_[value] = of(other); }

  /// Adds an array for a value that a step will write. It is an output of the run if the value is one and the layout is
  /// plain.
  size_t add(ValueId value, Format format = kNchw);

  /// Adds an array for a value of uint8 pixels. The run's outputs are float32, so it is never an output.
  size_t add_pixels(ValueId value);

  /// Adds an array of this shape that is part of `joint`: the channels from `first` on. `joint` has `channels` channels
  /// and the layout request.channels.
  size_t add_part(const Shape& shape, size_t joint, int64_t channels, int64_t first);

  /// Adds scratch memory. With one pixel per image, nchw8c equals nchw, and the array counts as plain.
  size_t add_scratch(const Shape& shape, Format format = kNchw);
  size_t add_output(size_t number);

  /// Records that the next step of the plan reads `inputs` and writes `output`.
  void note_step(std::vector<size_t> inputs, size_t output);

  /// Assigns arena offsets to all arrays and workspaces, and sets the locations in the plan's steps. Every step must
  /// have been noted.
  void place(Plan& plan);

 private:
  struct Use {
    std::vector<size_t> inputs;
    size_t output;
  };

  PlanArray& owner(size_t array);
  size_t add_at(Location::Place place, int64_t at);

  const PlanRequest& request_;
  std::map<ValueId, size_t> output_of_root_;  ///< by root_of() the value: the first of the outputs that share its array
  std::vector<PlanArray> arrays_;
  std::map<ValueId, size_t> of_value_;
  std::vector<Use> uses_;  ///< by step
};

}  // namespace convlab
