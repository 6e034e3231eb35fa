// Predicts the effect of replacing one kernel by another.

#include "convlab/predict/step.h"

#include <fmt/format.h>

#include <utility>

#include "convlab/predict/amount.h"

namespace convlab {
namespace {

Prediction predicted(const GpuRates& rates, KernelWork work) {
  KernelTime time = time_of(work, rates);
  return {.work = std::move(work), .time = std::move(time)};
}

/// Returns the amount of the limiting resource: per multiply-add if it is in warp instructions or wavefronts, so that
/// it does not depend on the problem's size.
std::string amount_of_limit(const Prediction& prediction) {
  const Resource& limit = prediction.limit();
  if (limit.unit != "warp instructions" && limit.unit != "wavefronts") {
    return fmt::format("{} {}", amount(limit.count), limit.unit);
  }
  return fmt::format("{:.3g} {} per multiply-add of a warp", limit.count / prediction.work.warp_multiply_adds(),
                     limit.unit);
}

}  // namespace

LadderStep predict_step(const GpuRates& rates, KernelWork before, KernelWork after) {
  return {.rates = rates, .before = predicted(rates, std::move(before)), .after = predicted(rates, std::move(after))};
}

std::string_view change_of(double ratio) {
  if (ratio < 1 - kSame) return "faster";
  return ratio <= 1 + kSame ? "the same" : "slower";
}

std::string reason(const Prediction& prediction) {
  const Resource& limit = prediction.limit();
  return fmt::format("{}: {}", limit.name, arithmetic(limit));
}

std::string claim(const LadderStep& step) {
  return fmt::format(
      "{} should take {:.2f} times as long as {} ({} instead of {}); limited by {} ({}), before by {} ({})",
      step.after.work.kernel, step.ratio(), step.before.work.kernel, milliseconds(step.after.time.seconds()),
      milliseconds(step.before.time.seconds()), step.after.limit().name, amount_of_limit(step.after),
      step.before.limit().name, amount_of_limit(step.before));
}

}  // namespace convlab
