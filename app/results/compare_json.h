#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/results/output.h"
#include "convlab/tensor/shape.h"

namespace convlab::app {

/// One layer beside what is expected of it. Errors are ||got - expected|| / ||expected||.
struct ComparedLayer {
  std::string name, value, op;  ///< the node's, its output's
  Shape shape;
  std::optional<double> here;  ///< given what is expected before it; none where that is not known
  double limit = 0;            ///< the most that a right one may have
  double so_far = 0;           ///< with all errors before it
  int64_t worst = 0;           ///< the element that differs most, and what it is
  double got = 0, expected = 0;
  std::string reason;  ///< why it is wrong; "": it is not
};

/// {"a", "b", "layers": [...], "first_wrong": name or null}
void write_json(Output& output, const std::string& a, const std::string& b, const std::vector<ComparedLayer>& layers);

}  // namespace convlab::app
