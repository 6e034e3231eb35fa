#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/results/output.h"
#include "convlab/kernels/kernel.h"
#include "convlab/tensor/shape.h"

namespace convlab::app {

/// One layer compared with its expected output. Errors are ||got - expected|| / ||expected||.
struct ComparedLayer {
  std::string name, value, op;  ///< of the node, of its output, of the operator
  Shape shape;
  std::optional<Math> math;    ///< in which it was computed from expected inputs
  std::optional<double> here;  ///< error when computed from expected inputs; nullopt if these are unknown
  double limit = 0;            ///< largest error of a correct layer
  double so_far = 0;           ///< error including those of all layers before
  int64_t worst = 0;           ///< index of the element that differs most
  double got = 0, expected = 0;
  std::string nan;     ///< "3 of 784 values are NaN", of the expected values; "" if none is
  std::string reason;  ///< why it is wrong; "" if it is not
};

/// Writes {"a", "b", "layers": [...], "first_wrong": name or null}.
void write_json(Output& output, const std::string& a, const std::string& b, const std::vector<ComparedLayer>& layers);

}  // namespace convlab::app
