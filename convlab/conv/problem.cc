// Validates, parses and prints convolution problems.

#include "convlab/conv/problem.h"

#include <vector>

#include "convlab/base/checked.h"
#include "convlab/base/error.h"
#include "convlab/base/text_reader.h"

namespace convlab {

void validate(const ConvProblem& problem) {
  const auto fail = [](std::string_view reason) { throw bad_input("convolution problem: {}", reason); };
  struct Named {
    const char* name;
    int64_t value;
    int64_t least;
  };
  // The upper limit keeps sums such as h + pads exact; real images are far below it.
  constexpr int64_t kMost = int64_t{1} << 31;
  for (const auto& [name, value, least] :
       {Named{"n", problem.n, 1}, Named{"c", problem.c, 1}, Named{"h", problem.h, 1}, Named{"w", problem.w, 1},
        Named{"k", problem.k, 1}, Named{"r", problem.r, 1}, Named{"s", problem.s, 1},
        Named{"padding", problem.pad_top, 0}, Named{"padding", problem.pad_left, 0},
        Named{"padding", problem.pad_bottom, 0}, Named{"padding", problem.pad_right, 0},
        Named{"stride", problem.stride_h, 1}, Named{"stride", problem.stride_w, 1},
        Named{"dilation", problem.dilation_h, 1}, Named{"dilation", problem.dilation_w, 1},
        Named{"groups", problem.groups, 1}}) {
    if (value < least || value > kMost)
      fail(fmt::format("{} must be between {} and {}, got {}", name, least, kMost, value));
  }
  if (problem.c % problem.groups != 0)
    fail(fmt::format("c ({}) must be a multiple of groups ({})", problem.c, problem.groups));
  if (problem.k % problem.groups != 0)
    fail(fmt::format("k ({}) must be a multiple of groups ({})", problem.k, problem.groups));
  const int64_t reach_h = checked_add(checked_mul(problem.r - 1, problem.dilation_h), 1);
  const int64_t reach_w = checked_add(checked_mul(problem.s - 1, problem.dilation_w), 1);
  if (reach_h > problem.h + problem.pad_top + problem.pad_bottom) fail("the filter is taller than the padded image");
  if (reach_w > problem.w + problem.pad_left + problem.pad_right) fail("the filter is wider than the padded image");
  // The size in bytes of a float64 copy must not overflow either.
  constexpr int64_t kElementBytes = 8;
  checked_product({kElementBytes, problem.n, problem.c, problem.h, problem.w});
  checked_product({kElementBytes, problem.k, problem.channels_per_group(), problem.r, problem.s});
  checked_product({kElementBytes, problem.n, problem.k, problem.p(), problem.q()});
  checked_product({kElementBytes, problem.n, problem.c, problem.h + problem.pad_top + problem.pad_bottom,
                   problem.w + problem.pad_left + problem.pad_right});
}

namespace {

void set_pair(TextReader& reader, int64_t& height, int64_t& width) {
  const std::vector<int64_t> values = reader.numbers();
  if (values.size() > 2) reader.fail("expected one or two numbers (height x width)");
  height = values.front();
  width = values.back();
}

void set_padding(TextReader& reader, ConvProblem& problem) {
  const std::vector<int64_t> values = reader.numbers();
  if (values.size() != 1 && values.size() != 4) {
    reader.fail("expected one or four numbers (top x left x bottom x right)");
  }
  problem.pad_top = values[0];
  problem.pad_left = values[values.size() == 4 ? 1 : 0];
  problem.pad_bottom = values[values.size() == 4 ? 2 : 0];
  problem.pad_right = values[values.size() == 4 ? 3 : 0];
}

}  // namespace

ConvProblem parse_problem(std::string_view text) {
  ConvProblem problem;
  TextReader reader(text, "convolution problem", "n10000_c12h33w33_k24r5s5_p1_st2");
  reader.accept("conv_");
  if (reader.accept("n")) {
    problem.n = reader.number();
    reader.expect("_");
  }
  reader.expect("c"), problem.c = reader.number();
  reader.expect("h"), problem.h = reader.number();
  reader.expect("w"), problem.w = reader.number();
  reader.expect("_k"), problem.k = reader.number();
  reader.expect("r"), problem.r = reader.number();
  reader.expect("s"), problem.s = reader.number();
  if (reader.accept("_p")) set_padding(reader, problem);
  if (reader.accept("_st")) set_pair(reader, problem.stride_h, problem.stride_w);
  if (reader.accept("_d")) set_pair(reader, problem.dilation_h, problem.dilation_w);
  if (reader.accept("_g")) problem.groups = reader.number();
  if (!reader.at_end()) reader.fail("expected the end, or _p, _st, _d, _g in this order,");
  validate(problem);
  return problem;
}

std::string to_text(const ConvProblem& problem) {
  std::string text = problem.n == 1 ? "" : fmt::format("n{}_", problem.n);
  text += fmt::format("c{}h{}w{}_k{}r{}s{}", problem.c, problem.h, problem.w, problem.k, problem.r, problem.s);
  const auto pair = [&](const char* key, int64_t height, int64_t width) {
    if (height == 1 && width == 1) return;
    text += height == width ? fmt::format("_{}{}", key, height) : fmt::format("_{}{}x{}", key, height, width);
  };
  if (problem.padded()) {
    const bool same = problem.pad_top == problem.pad_left && problem.pad_top == problem.pad_bottom &&
                      problem.pad_top == problem.pad_right;
    text +=
        same ? fmt::format("_p{}", problem.pad_top)
             : fmt::format("_p{}x{}x{}x{}", problem.pad_top, problem.pad_left, problem.pad_bottom, problem.pad_right);
  }
  pair("st", problem.stride_h, problem.stride_w);
  pair("d", problem.dilation_h, problem.dilation_w);
  if (problem.groups != 1) text += fmt::format("_g{}", problem.groups);
  return text;
}

std::string shape_text(const ConvProblem& problem) {
  std::string text = fmt::format("{}x{}x{}x{}, {} filter{} {}x{}", problem.n, problem.c, problem.h, problem.w,
                                 problem.k, problem.k == 1 ? "" : "s", problem.r, problem.s);
  const auto pair = [&](const char* what, int64_t height, int64_t width) {
    if (height == 1 && width == 1) return;
    text += height == width ? fmt::format(", {} {}", what, height) : fmt::format(", {} {}x{}", what, height, width);
  };
  pair("stride", problem.stride_h, problem.stride_w);
  if (problem.padded()) {
    const bool same = problem.pad_top == problem.pad_left && problem.pad_top == problem.pad_bottom &&
                      problem.pad_top == problem.pad_right;
    text += same ? fmt::format(", padding {}", problem.pad_top)
                 : fmt::format(", padding {} {} {} {}", problem.pad_top, problem.pad_left, problem.pad_bottom,
                               problem.pad_right);
  }
  pair("dilation", problem.dilation_h, problem.dilation_w);
  if (problem.groups != 1) text += fmt::format(", {} groups", problem.groups);
  return text;
}

}  // namespace convlab
