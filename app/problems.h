#pragma once

#include <string>
#include <vector>

#include "convlab/conv/problem.h"

namespace convlab::app {

/// The convolutions of a model, each once, for one image.
std::vector<ConvProblem> problems_of_model(const std::string& name);

}  // namespace convlab::app
