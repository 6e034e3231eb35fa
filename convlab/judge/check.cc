// Checks a submission's output against a direct reference computation.

#include "convlab/judge/check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

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

ErrorModel model_of(const ConvStep& step, Fill fill, const Class& each) {
  // fp32 sums these integers exactly, so any other arithmetic shows, unless it is a transform.
  const bool exact = fill == Fill::integers && each.math == Math::fp32 && each.sum == Sum::direct;
  return exact ? exact_model(step) : rounding_model(step, {.math = each.math, .sum = each.sum});
}

convlab::Verdict compared(Fill fill, const Expected& expected, std::span<const float> got, const ErrorModel& model,
                          Sum sum) {
  if (fill == Fill::one_nan) return compare_nan(expected, got, model, sum == Sum::transform);
  return compare(expected, got, model);
}

/// Returns the probe as a layer that refers to its images.
OracleLayer layer_of(const Probe& probe, Expected expected) {
  const auto no_owner = std::shared_ptr<const Tensor>();
  return {.convolved =
              std::make_shared<const Convolved>(Convolved{{no_owner, &probe.x}, probe.w.clone(), std::move(expected)})};
}

/// Returns what is wrong with an output that meets none of the models. They are tried from the most exact one on,
/// because a mistake shows only with error bounds that fit the submission's arithmetic, which is unknown.
Finding finding_on(const Probe& probe, const OracleLayer& layer, std::span<const float> got,
                   std::span<const ErrorModel> models) {
  const ConvStep step{.problem = probe.problem};
  std::vector<int64_t> at(static_cast<size_t>(probe.problem.n));
  std::iota(at.begin(), at.end(), 0);
  for (const ErrorModel& model : models) {
    const WrongOutput wrong{step, layer, at, got, model};
    const Cause cause = likely_cause(wrong);
    if (cause.kind != Cause::Kind::unknown) return wrong_output(compare(layer.expected(), got, model), wrong, cause);
  }
  const WrongOutput wrong{step, layer, at, got, models.back()};
  return wrong_output(compare(layer.expected(), got, models.back()), wrong, {});
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
  Expected expected = convolve(step, probe.x, probe.w, threads);
  std::vector<ErrorModel> models;
  for (const Class& each : kClasses) {
    models.push_back(model_of(step, probe.fill, each));
    if (compared(probe.fill, expected, got, models.back(), each.sum).passed()) return {true, each.math};
  }
  if (probe.fill == Fill::one_nan) {
    const ErrorModel strictest = rounding_model(step, {.math = Math::fp16});
    return {.wrong = misplaced_nan(compare_nan(expected, got, strictest, false))};
  }
  if (course_tolerance > 0) {
    models = {{.absolute = course_tolerance * largest_of(expected.value), .relative_l2 = INFINITY}};
    if (compare(expected, got, models.back()).passed()) return {true, Math::bf16};
  }
  return {.wrong = finding_on(probe, layer_of(probe, std::move(expected)), got, models)};
}

}  // namespace convlab::judge
