#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convlab/plan/plan.h"

namespace convlab {

/// The kernel of one convolution of a plan, and what was measured when it was chosen.
struct KernelChoice {
  std::string step;     ///< the PlanStep's name, printable
  std::string problem;  ///< as to_text() has it
  std::string kernel;
  double ms = 0;       ///< its time
  std::string next;    ///< the next best kernel; "": there is no other
  double next_ms = 0;  ///< that one's time
  std::string why;     ///< a word: see kChoiceReasons
  int line = 0;        ///< of the file
};

/// The convolutions of a plan for inputs of these shapes, in its order.
struct PlanChoice {
  std::vector<Shape> inputs;
  bool channel_lanes = false;  ///< see Plan
  std::vector<KernelChoice> kernels;
  int line = 0;  ///< of the file, where they begin
};

/// What make_plan() shall choose, for each number of images that a run computes together.
struct PlanChoices {
  std::string place;  ///< the file that says so, for messages
  std::vector<PlanChoice> plans;

  /// The one for these shapes. Error(bad_input) that names those there are.
  const PlanChoice& of(InputShapes inputs) const;

  /// "plan.txt: line 14", for messages.
  std::string at(int line) const;
};

}  // namespace convlab
