#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "convlab/kernels/conv_step.h"

namespace convlab {

/// Parses a shape list: one problem text per line (see parse_problem). `#` begins a comment; empty lines are skipped.
/// Throws Error(bad_input) with `name` and the line if a line is not a problem or repeats one, or if the list is empty.
std::vector<ConvProblem> parse_shapes(std::string_view text, std::string_view name);
std::vector<ConvProblem> read_shapes(const std::filesystem::path& path);

/// Same for problems of all operators: see parse_step().
std::vector<Step> read_steps(const std::filesystem::path& path);

/// The lists of convolutions that are verified by default, relative to the repository root.
constexpr std::string_view kDefaultShapes[] = {"shapes/edges.txt", "shapes/course.txt", "shapes/networks.txt",
                                               "shapes/channels.txt"};

/// Returns all of their problems. Throws Error(bad_input) if a list is not found.
std::vector<ConvProblem> default_problems();

/// The list of other operators that are verified by default.
constexpr std::string_view kOperatorList = "shapes/operators.txt";

/// Returns the problems of all default lists.
std::vector<Step> default_steps();

/// Returns the steps to verify of a kernel on a problem. The plain step is always one, so that an unsupported problem
/// is reported. If the kernel supports any of them, adds steps with an epilogue and with uint8 pixels, one of each
/// kind. If the kernel has a layout of its own (such as nchw16n or nchw8c), adds all steps that it supports from that
/// layout, to it, and both; those that add an array or have no epilogue also with arrays that are parts of larger ones.
std::vector<ConvStep> steps_to_verify(const Kernel& kernel, const ConvProblem& problem, const DeviceCaps& caps);

/// Returns "n2_c12h33w33_k24r5s5 bias+max2x2/2+tanh uint8".
std::string describe(const ConvStep& step);

}  // namespace convlab
