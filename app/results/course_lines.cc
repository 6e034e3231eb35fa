// Prints the lines of the course's scripts.

#include "app/results/course_lines.h"

#include <fmt/format.h>

#include "convlab/base/error.h"

namespace convlab::app {

std::string python_repr(double value) {
  std::string text = fmt::format("{}", value);  // the shortest that reads back as the same number, as in Python
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

void require_accuracy(double accuracy, const std::string& images, double expect) {
  if (accuracy >= expect) return;
  throw wrong_result("accuracy {} on {} is below --expect {}", python_repr(accuracy), images, python_repr(expect));
}

void print_op_times(Output& output, const Classification& result) {
  for (const LayerResult& layer : result.layers) {
    if (!layer.problem.empty()) output.print("Op Time: {:.6f}\n", layer.seconds);
  }
}

void print_correctness(Output& output, const Classification& result, const std::string& course_model) {
  output.print("Correctness: {} Model: {}\n", python_repr(result.accuracy), course_model);
}

void print_eval_metric(Output& output, const Classification& result) {
  output.print("EvalMetric: {{'accuracy': {}}}\n", python_repr(result.accuracy));
}

}  // namespace convlab::app
