#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convlab/conv/problem.h"

namespace convlab::app {

/// Explains a convolution's text in --help.
constexpr std::string_view kProblemHelp =
    "one convolution: n2_c12h33w33_k24r5s5_p1_st2_d1_g1 is batch size; input channels, height and width; output "
    "channels "
    "and filter; padding, stride, dilation, groups";

/// Explains problems of all operators in --help.
constexpr std::string_view kOperatorHelp =
    "one operator, such as matmul_m512n512k512, softmax_r64c1024 or a convolution, n2_c12h33w33_k24r5s5_p1_st2; "
    "docs/reference/problems.md lists all";

/// Explains convolutions' texts below or above a table that has them.
constexpr std::string_view kProblemLegend =
    "convolutions: n batch size (1 if omitted); c, h, w input channels, height, width; k, r, s output channels,\n"
    "  filter height, width; p padding, st stride, d dilation, g groups\n";

/// Returns the distinct convolutions of a model, for one image. Throws Error(bad_input) if there are none.
std::vector<ConvProblem> problems_of_model(const std::string& name);

}  // namespace convlab::app
