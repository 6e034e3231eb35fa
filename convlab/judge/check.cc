// Checks a submission's output against a direct reference computation.

#include "convlab/judge/check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "convlab/verify/compare.h"
#include "convlab/verify/diagnosis.h"
#include "convlab/verify/oracle.h"

namespace convlab::judge {
namespace {

/// Arithmetic classes from the most exact on. An fp32 transform has larger errors than fp32 sums.
struct Class {
  Math math;
  Sum sum;
};
constexpr std::array kClasses{Class{Math::fp32, Sum::direct},    Class{Math::fp32, Sum::split},
                              Class{Math::fp32, Sum::transform}, Class{Math::bf16x2, Sum::direct},
                              Class{Math::tf32, Sum::direct},    Class{Math::fp16, Sum::direct},
                              Class{Math::bf16, Sum::direct}};

double largest_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0,
                         [](double a, double b) { return std::max(a, std::abs(b)); });
}

convlab::Verdict compared(const Probe& probe, const Expected& expected, std::span<const float> got,
                          const ErrorModel& model, Sum sum) {
  if (probe.fill == Fill::one_nan) return compare_nan(expected, got, model, sum == Sum::transform);
  return compare(expected, got, model);
}

IntegerLimits limits_of(const ConvProblem& problem, Fill fill, Math math) {
  if (fill != Fill::integers) return {};
  // Classes coarser than bf16x2 may compute in fp16, whose range is the smallest.
  return integer_limits({.problem = problem}, std::min(math, Math::tf32) == Math::tf32 ? Math::fp16 : math);
}

}  // namespace

double direct_bound_s(const ConvProblem& problem, const Ceilings& ceilings, Math math) {
  constexpr int kFloat = sizeof(float);
  return ceilings.bound(problem.flops(), problem.compulsory_bytes(kFloat, kFloat), math).seconds;
}

Probe::Probe(const ConvProblem& problem_, Fill fill_, Math math, uint64_t seed)
    : problem(problem_),
      fill(fill_),
      x(fill_images({.problem = problem_}, fill_, limits_of(problem_, fill_, math), seed)),
      w(fill_filters({.problem = problem_}, fill_, limits_of(problem_, fill_, math), 0, seed)) {}

Checked check_output(const Probe& probe, std::span<const float> got, double course_tolerance, ThreadPool& threads) {
  const ConvStep step{.problem = probe.problem};
  const Expected expected = convolve(step, probe.x, probe.w, threads);
  for (const Class& each : kClasses) {
    // fp32 sums these integers exactly, so any other arithmetic shows, unless it is a transform.
    const bool exact = probe.fill == Fill::integers && each.math == Math::fp32 && each.sum == Sum::direct;
    const ErrorModel model = exact ? exact_model(step) : rounding_model(step, {.math = each.math, .sum = each.sum});
    if (compared(probe, expected, got, model, each.sum).passed()) return {true, each.math, ""};
  }
  const ErrorModel strictest = rounding_model(step, {.math = Math::fp16});
  const convlab::Verdict wrong = compared(probe, expected, got, strictest, Sum::direct);
  if (course_tolerance > 0 && probe.fill != Fill::one_nan) {
    const ErrorModel course{.absolute = course_tolerance * largest_of(expected.value), .relative_l2 = INFINITY};
    if (compare(expected, got, course).passed()) return {true, Math::bf16, ""};
  }
  return {false, Math::fp32, describe(wrong)};
}

}  // namespace convlab::judge
