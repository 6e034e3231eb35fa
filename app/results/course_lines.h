#pragma once

#include <string>
#include <string_view>

#include "app/results/output.h"
#include "app/runs/classification.h"

namespace convlab::app {

/// Formats a fraction as Python prints it: "0.77", "0.7653", "1.0".
std::string python_repr(double value);

/// Throws Error(wrong_result) if the accuracy on `images`, for example "1000 images", is below --expect.
void require_accuracy(double accuracy, const std::string& images, double expect);

// The lines that the course's scripts print; `run` prints those for convlab's own convolution, too.

inline constexpr std::string_view kLoadingData = "Loading fashion-mnist data... done\n";
inline constexpr std::string_view kLoadingModel = "Loading model... done\n";
inline constexpr std::string_view kNewInference = "New Inference\n";

/// Prints "Op Time: 10.906517", in seconds, for each convolution of the plan.
void print_op_times(Output& output, const Classification& result);

/// Prints "Correctness: 0.7653 Model: ece408".
void print_correctness(Output& output, const Classification& result, const std::string& course_model);

/// Prints "EvalMetric: {'accuracy': 0.8154}".
void print_eval_metric(Output& output, const Classification& result);

}  // namespace convlab::app
