#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "convlab/kernels/kernel.h"

namespace convlab {

/// The problems of a shape list: one problem text a line (see parse_problem); `#` begins a comment, empty lines are
/// skipped. Error(bad_input) with `name` and the line if it is no problem or repeats one; also for an empty list.
std::vector<ConvProblem> parse_shapes(std::string_view text, std::string_view name);
std::vector<ConvProblem> read_shapes(const std::filesystem::path& path);

/// The shape lists that are verified by default, relative to the repository's root.
constexpr std::string_view kDefaultShapes[] = {"shapes/edges.txt", "shapes/course.txt", "shapes/networks.txt",
                                               "shapes/channels.txt"};

/// All of their problems. Error(bad_input) where they are not found.
std::vector<ConvProblem> default_problems();

/// What to verify of a kernel on a problem: always the plain step, so that a refusal shows; where the kernel takes any
/// of them, also steps with an epilogue and with uint8 pixels, one of each kind; and, where it has a layout of its own
/// (images in lanes, channels in blocks), all of these that it takes from that layout, to it, and both.
std::vector<ConvStep> steps_to_verify(const ConvKernel& kernel, const ConvProblem& problem, const DeviceCaps& caps);

/// "n2_c12h33w33_k24r5s5 bias+max2x2/2+tanh uint8".
std::string describe(const ConvStep& step);

}  // namespace convlab
