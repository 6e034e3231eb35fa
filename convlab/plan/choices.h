#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convlab/model/graph.h"

namespace convlab {

/// The kernel chosen for one step of a plan, and the measurements behind the choice.
struct KernelChoice {
  std::string step;     ///< name of the PlanStep, printable
  std::string problem;  ///< see problem_text()
  std::string kernel;
  double ms = 0;       ///< time of `kernel`
  std::string next;    ///< the second fastest kernel; "" if there is no other
  double next_ms = 0;  ///< time of `next`
  std::string why;     ///< one of kChoiceReasons
  int line = 0;        ///< line number in the file
};

/// The choices of a plan for inputs of these shapes, in the plan's order.
struct PlanChoice {
  std::vector<Shape> inputs;
  bool channel_lanes = false;         ///< see Plan
  std::vector<KernelChoice> kernels;  ///< of all convolutions
  std::vector<KernelChoice> others;   ///< of all other steps that several kernels can compute
  int line = 0;                       ///< line number in the file where they begin
};

/// The choices for make_plan(), one PlanChoice for each batch size that a run computes.
struct PlanChoices {
  std::string place;  ///< the plan file, for messages
  std::vector<PlanChoice> plans;

  /// Returns the choice for these shapes. Throws Error(bad_input) that lists the available shapes.
  const PlanChoice& of(InputShapes inputs) const;

  /// Returns "plan.txt: line 14", for messages.
  std::string at(int line) const;
};

}  // namespace convlab
