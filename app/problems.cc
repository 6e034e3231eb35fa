// Lists the problems that a command runs kernels on.

#include "app/problems.h"

#include <algorithm>
#include <utility>

#include "app/default_model.h"
#include "convlab/base/error.h"
#include "convlab/device/device.h"
#include "convlab/device/devices.h"
#include "convlab/kernels/step_text.h"
#include "convlab/model/formats/zoo.h"
#include "convlab/plan/planner.h"
#include "convlab/rewrite/simplify.h"
#include "convlab/verify/cases.h"

namespace convlab::app {
namespace {

/// Returns the distinct convolutions of a model, for one image. Throws Error(bad_input) if there are none.
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

}  // namespace

void add_problems(CLI::App& parser, ProblemOptions& options) {
  CLI::Option* problem = add_text(parser, "--problem", options.problem, "TEXT", std::string(kOperatorHelp));
  CLI::Option* model =
      add_text(parser, "--model", options.model, "NAME",
               "the convolutions of this model (default: that of a kernel file's semester, otherwise fa19)");
  CLI::Option* shapes =
      add_text(parser, "--shapes", options.shapes, "FILE",
               "file with one problem per line; shapes/layers has the convolutions of well-known networks");
  exclude(model, problem);
  exclude(shapes, problem);
  exclude(shapes, model);
}

std::vector<Step> chosen_steps(const ProblemOptions& options, const std::vector<std::string>& kernels,
                               std::vector<int64_t> images, int64_t model_images) {
  std::vector<Step> given;
  if (!options.problem.empty()) {
    given = {parse_step(options.problem)};
  } else if (!options.shapes.empty()) {
    given = read_steps(options.shapes);
  } else {
    for (const ConvProblem& each : problems_of_model(options.model.empty() ? default_model(kernels) : options.model)) {
      given.push_back(ConvStep{.problem = each});
    }
    if (images.empty()) images = {model_images};
  }
  std::vector<Step> steps;
  for (Step& step : given) {
    if (!is_conv(step)) {
      if (!images.empty()) throw bad_input("-n: only for convolutions, got {}", to_text(step));
      steps.push_back(std::move(step));
      continue;
    }
    ConvProblem problem = conv_step(step).problem;
    for (const int64_t n : images.empty() ? std::vector{problem.n} : images) {
      problem.n = n;
      validate(problem);
      steps.push_back(ConvStep{.problem = problem});
    }
  }
  return steps;
}

}  // namespace convlab::app
