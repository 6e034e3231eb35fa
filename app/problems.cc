// Lists the convolutions of a model.

#include "app/problems.h"

#include <algorithm>

#include "convlab/base/error.h"
#include "convlab/device/device.h"
#include "convlab/model/formats/zoo.h"
#include "convlab/plan/planner.h"
#include "convlab/rewrite/simplify.h"

namespace convlab::app {

std::vector<ConvProblem> problems_of_model(const std::string& name) {
  Graph loaded = load_model(name);
  Shape input = loaded.inputs[0].shape;
  if (!input.empty()) input[0] = 1;  // otherwise a scalar, which no convolution accepts
  if (std::ranges::find(input, -1) != input.end()) {
    throw bad_input("--model {}: only the batch size may be dynamic, got input {}", name, to_text(loaded.inputs[0]));
  }
  const Graph graph = simplified(std::move(loaded), input, /*into_weights=*/false);
  std::vector<ConvProblem> problems;
  for (const PlanStep& step :
       make_plan(graph, input, open_device("cpu", {})->caps(), {.mode = PlanMode::layers}).steps) {
    if (!step.is_conv()) continue;
    const ConvProblem problem = conv_step(step.what).problem;
    if (std::ranges::find(problems, problem) == problems.end()) problems.push_back(problem);
  }
  if (problems.empty()) throw bad_input("--model {}: model has no convolutions", name);
  return problems;
}

}  // namespace convlab::app
