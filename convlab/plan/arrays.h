#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
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
};

/// All arrays of a run, while its steps are planned. They are numbered from 0.
class PlanArrays {
 public:
  explicit PlanArrays(const PlanRequest& request);

  const PlanArray& operator[](size_t array) const { return arrays_[array]; }

  /// The array of a value: the run's input, a constant, or written by an earlier step.
  size_t of(ValueId value);

  /// Puts a value into another one's array.
  void share(ValueId value, ValueId other) { of_value_[value] = of(other); }

  /// An array for a value that a step will write: the run's output, if the value is that.
  size_t add(ValueId value, Layout layout = Layout::plain);

  /// The same for a value of pixels. The run's output is float32, hence never this one.
  size_t add_pixels(ValueId value);

  size_t add_scratch(const Shape& shape, Layout layout = Layout::plain);
  size_t add_output();

  /// Notes that the next step of the plan reads `inputs` and writes `output`.
  void note_step(std::vector<size_t> inputs, size_t output);

  /// Gives every array and workspace its place in the arena, and the plan's steps, all noted, their locations.
  void place(Plan& plan);

 private:
  struct Use {
    std::vector<size_t> inputs;
    size_t output;
  };

  size_t add_at(Location::Place place, int64_t at);

  const PlanRequest& request_;
  ValueId output_root_;
  std::vector<PlanArray> arrays_;
  std::map<ValueId, size_t> of_value_;
  std::vector<Use> uses_;  ///< by step
};

}  // namespace convlab
