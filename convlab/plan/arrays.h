#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "convlab/plan/request.h"

namespace convlab {

/// An array of a run. Several values share one where a node only reshapes.
struct PlanArray {
  Location location;  ///< the place is final; an arena's address is found when all steps are known
  int64_t bytes = 0;
  Layout layout = Layout::plain;
  Shape written = {};             ///< the shape when it was written; of arrays in the arena
  bool pixels = false;            ///< uint8: the run's input, or scaled from it
  int64_t first = -1, last = -1;  ///< the steps that write and last read it
  std::optional<size_t> joint;    ///< the array that it is a part of
  int64_t at = 0;                 ///< its first byte there
  int64_t step = 0;               ///< elements from image to image, as in ConvStep
};

/// All arrays of a run, while its steps are planned. They are numbered from 0.
class PlanArrays {
 public:
  explicit PlanArrays(const PlanRequest& request);

  const PlanArray& operator[](size_t array) const { return arrays_[array]; }

  /// Whether the value has an array: it is an input of the run, a constant, or written by an earlier step.
  bool has(ValueId value) const { return of_value_.contains(value) || request_.graph.constants.contains(value); }

  /// The array of a value: the run's input, a constant, or written by an earlier step.
  size_t of(ValueId value);

  /// Puts a value into an array, or into another one's.
  void put(ValueId value, size_t array) { of_value_[value] = array; }
  void share(ValueId value, ValueId other) { of_value_[value] = of(other); }

  /// An array for a value that a step will write: an output of the run, if the value is one and the layout is plain.
  size_t add(ValueId value, Layout layout = Layout::plain);

  /// The same for a value of pixels. The run's outputs are float32, hence never this one.
  size_t add_pixels(ValueId value);

  /// The part for this shape of `joint`, an array in request.channels of `channels` channels, from channel `first` on.
  size_t add_part(const Shape& shape, size_t joint, int64_t channels, int64_t first);

  /// With one pixel an image, Layout::channel_lanes is the plain order, and the array counts as plain.
  size_t add_scratch(const Shape& shape, Layout layout = Layout::plain);
  size_t add_output(size_t number);

  /// Notes that the next step of the plan reads `inputs` and writes `output`.
  void note_step(std::vector<size_t> inputs, size_t output);

  /// Gives every array and workspace its place in the arena, and the plan's steps, all noted, their locations.
  void place(Plan& plan);

 private:
  struct Use {
    std::vector<size_t> inputs;
    size_t output;
  };

  PlanArray& owner(size_t array);
  size_t add_at(Location::Place place, int64_t at);

  const PlanRequest& request_;
  std::map<ValueId, size_t> output_of_root_;  ///< of outputs that share an array, the first
  std::vector<PlanArray> arrays_;
  std::map<ValueId, size_t> of_value_;
  std::vector<Use> uses_;  ///< by step
};

}  // namespace convlab
