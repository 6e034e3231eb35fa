// Reads shape lists, and lists the steps to verify on each problem.

#include "convlab/verify/cases.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/resources.h"
#include "convlab/kernels/step_text.h"
#include "convlab/verify/pitched.h"

namespace convlab {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
  text.remove_suffix(text.size() - std::min(text.find_last_not_of(kBlank) + 1, text.size()));
  return text;
}

constexpr int64_t kMostBytes = 16 << 20;

/// Parses one problem per line; see parse_shapes().
template <class Problem, class Parse>
std::vector<Problem> parse_lines(std::string_view text, std::string_view name, const Parse& parse) {
  std::vector<Problem> problems;
  std::map<std::string, int> lines;  // by the problem's canonical text
  for (int line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view content = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    content = trimmed(content.substr(0, content.find('#')));
    if (content.empty()) continue;
    try {
      problems.push_back(parse(content));
    } catch (const Error& error) {
      throw bad_input("{}:{}: {}", name, line, error.what());
    }
    const auto [same, is_new] = lines.emplace(to_text(problems.back()), line);
    if (!is_new) {
      throw bad_input("{}:{}: duplicate problem {}; it is also in line {}", name, line, content, same->second);
    }
  }
  if (problems.empty()) throw bad_input("{}: no problems in the file", name);
  return problems;
}

constexpr Pool kMax2x2{.kind = PoolKind::max, .kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2};
constexpr Pool kAverage2x2{.kind = PoolKind::average, .kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2};
constexpr Pool kAverage3x3{.kind = PoolKind::average,
                           .kernel_h = 3,
                           .kernel_w = 3,
                           .stride_h = 1,
                           .stride_w = 2,
                           .pad_top = 1,
                           .pad_left = 1,
                           .pad_bottom = 1,
                           .pad_right = 1};
constexpr Pool kMax3x3Ceil{.kind = PoolKind::max,
                           .kernel_h = 3,
                           .kernel_w = 3,
                           .stride_h = 2,
                           .stride_w = 2,
                           .pad_top = 1,
                           .pad_left = 1,
                           .ceil_mode = true};

/// Returns steps with every part of an epilogue, alone and combined: the course's (max, tanh), common and unusual ones.
std::vector<ConvStep> steps_beyond_plain(const ConvProblem& problem) {
  const Activation relu{ActivationKind::relu}, tanh{ActivationKind::tanh}, sigmoid{ActivationKind::sigmoid};
  const Activation leaky{ActivationKind::leaky_relu, 0.1f}, clip{ActivationKind::clip, -0.5f, 0.75f};
  const std::vector<ConvStep> all{
      {problem, {.bias = true}},
      {problem, {.bias = true, .activation = relu}},
      {problem, {.activation = leaky}},
      {problem, {.bias = true, .pool = kMax2x2, .activation = tanh}},
      {problem, {.bias = true, .pool = kMax3x3Ceil, .activation = clip}},
      {problem, {.pool = kAverage2x2}},
      {problem, {.bias = true, .pool = kAverage3x3, .activation = sigmoid}},
      {problem, {}, kRawPixels},
      {problem, {.bias = true, .pool = kMax2x2, .activation = tanh}, kRawPixels},
  };
  std::vector<ConvStep> steps;  // without those whose pooling window is larger than the output
  std::copy_if(all.begin(), all.end(), std::back_inserter(steps), [](const ConvStep& step) {
    const Shape shape = step.output_shape();
    return shape[2] > 0 && shape[3] > 0;
  });
  return steps;
}

/// Returns the step with the arrays that may be parts of larger ones in such arrays; nullopt if there are none.
std::optional<ConvStep> in_larger_arrays(const ConvStep& step) {
  ConvStep parts = conv_step(with_pitches(step));
  return parts == step ? std::nullopt : std::optional(parts);
}

/// Adds steps from and to the kernel's own layout, all that the kernel supports. Always adds the convolution alone in
/// that layout from end to end, so that an unsupported problem is reported.
void add_steps_in_own_format(const Kernel& kernel, const ConvProblem& problem, const DeviceCaps& caps,
                             std::vector<ConvStep>& steps) {
  const Format own = kernel.format;
  const size_t first = steps.size();
  std::vector<ConvStep> all = steps_beyond_plain(problem);
  all.insert(all.begin(), {problem});
  const bool adds = own == kNchw8c || own.order == Order::nhwc;
  if (adds) {
    const Activation relu{ActivationKind::relu}, swish{ActivationKind::swish}, hard_swish{ActivationKind::hard_swish};
    all.push_back({.problem = problem, .epilogue = {.bias = true, .activation = swish}});
    all.push_back({.problem = problem, .epilogue = {.activation = hard_swish}, .adds = true});
    all.push_back({.problem = problem, .epilogue = {.bias = true, .activation = relu}, .adds = true});
  }
  for (ConvStep& step : all) {
    const bool pixels = step.input_format == kRawPixels;
    for (const auto& [input, output] : {std::pair{own, own}, {own, kNchw}, {kNchw, own}}) {
      if (input == own && pixels) continue;
      step.input_format = pixels ? kRawPixels : input;
      step.output_format = output;
      if (step.adds && output != own) continue;
      const bool refused = kernel.refuses(step, caps).has_value();
      if (steps.size() == first || !refused) steps.push_back(step);
      if (refused || !(step.adds || step.epilogue.empty())) continue;
      if (const std::optional<ConvStep> parts = in_larger_arrays(step)) steps.push_back(*parts);
    }
  }
}

}  // namespace

std::vector<ConvProblem> parse_shapes(std::string_view text, std::string_view name) {
  return parse_lines<ConvProblem>(text, name, parse_problem);
}

std::vector<ConvProblem> read_shapes(const std::filesystem::path& path) {
  return parse_shapes(read_text(path, kMostBytes), path.string());
}

std::vector<Step> read_steps(const std::filesystem::path& path) {
  return parse_lines<Step>(read_text(path, kMostBytes), path.string(), parse_step);
}

std::vector<Step> default_steps() {
  std::vector<Step> all;
  for (const ConvProblem& problem : default_problems()) all.push_back(ConvStep{.problem = problem});
  for (Step& step : read_steps(find_resource(kOperatorList))) all.push_back(std::move(step));
  return all;
}

std::vector<ConvProblem> default_problems() {
  std::vector<ConvProblem> all;
  for (const std::string_view list : kDefaultShapes) {
    for (const ConvProblem& problem : read_shapes(find_resource(list))) all.push_back(problem);
  }
  return all;
}

std::vector<ConvStep> steps_to_verify(const Kernel& kernel, const ConvProblem& problem, const DeviceCaps& caps) {
  std::vector<ConvStep> steps{{problem}};
  const std::vector<ConvStep> beyond = steps_beyond_plain(problem);
  if (std::any_of(beyond.begin(), beyond.end(), [&](const ConvStep& step) { return !kernel.refuses(step, caps); })) {
    steps.insert(steps.end(), beyond.begin(), beyond.end());
  }
  if (kernel.format.order != Order::nchw) add_steps_in_own_format(kernel, problem, caps, steps);
  return steps;
}

std::string describe(const ConvStep& step) {
  std::string text = to_text(step.problem);
  if (step.adds) text += " add";
  if (!step.epilogue.empty()) text += " " + to_text(step.epilogue);
  if (step.input_format == kRawPixels) text += fmt::format(" {}", name_of(step.input_format.type));
  if (step.input_format.order != Order::nchw) text += fmt::format(" from {}", name_of(step.input_format));
  if (step.output_format.order != Order::nchw) text += fmt::format(" to {}", name_of(step.output_format));
  if (step.input_step != 0 || step.output_step != 0) text += " with a pitch";
  return text;
}

}  // namespace convlab
