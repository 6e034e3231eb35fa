#pragma once

#include <string>
#include <vector>

#include "convlab/conv/problem.h"

namespace convlab::app {

/// Returns the distinct convolutions of a model, for one image. Throws Error(bad_input) if there are none.
std::vector<ConvProblem> problems_of_model(const std::string& name);

}  // namespace convlab::app
