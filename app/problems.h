#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/option_parsers.h"
#include "convlab/kernels/step.h"

namespace convlab::app {

/// Explains problems of all operators in --help.
constexpr std::string_view kOperatorHelp =
    "one operator, such as matmul_m512n512k512, softmax_r64c1024 or a convolution, n2_c12h33w33_k24r5s5_p1_st2; "
    "docs/reference/problems.md lists all";

/// Explains convolutions' texts below or above a table that has them.
constexpr std::string_view kProblemLegend =
    "convolutions: n batch size (1 if omitted); c, h, w input channels, height, width; k, r, s output channels,\n"
    "  filter height, width; p padding, st stride, d dilation, g groups\n";

/// The problems of a command that runs kernels on them; at most one member is not empty.
struct ProblemOptions {
  std::string problem, shapes, model;
};

/// Adds --problem, --shapes and --model.
void add_problems(CLI::App& parser, ProblemOptions& options);

/// Returns the problems, in nchw and without an epilogue; if none were given, the convolutions of the model that
/// default_model() returns for the kernels. `images`: batch sizes for each convolution; if empty, the batch size of the
/// text, or `model_images`. Throws Error(bad_input) for batch sizes of other operators.
std::vector<Step> chosen_steps(const ProblemOptions& options, const std::vector<std::string>& kernels,
                               std::vector<int64_t> images, int64_t model_images);

}  // namespace convlab::app
