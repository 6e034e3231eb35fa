// Predicts the effect of replacing one kernel by another.

#include "convlab/predict/predicted_step.h"

#include <fmt/format.h>

#include <utility>

#include "convlab/predict/amount.h"

namespace convlab {
namespace {

/// Returns the amount of the limiting resource: per multiply-add if it is in warp instructions or wavefronts, so that
/// it does not depend on the problem's size.
std::string amount_of_limit(const Prediction& prediction) {
  const Resource& limit = prediction.limit();
  const double multiply_adds = prediction.work.warp_multiply_adds();
  if ((limit.unit != "warp instructions" && limit.unit != "wavefronts") || multiply_adds == 0) {
    return fmt::format("{} {}", amount(limit.count), limit.unit);
  }
  return fmt::format("{:.3g} {} per multiply-add of a warp", limit.count / multiply_adds, limit.unit);
}

}  // namespace

Prediction predict(const GpuRates& rates, KernelWork work) {
  KernelTime time = time_of(work, rates);
  return {.work = std::move(work), .time = std::move(time)};
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
  const std::string& kernel = step.after.work.kernel;
  const std::string time = milliseconds(step.after.time.seconds());
  const std::string limit = fmt::format("limited by {} ({})", step.after.limit().name, amount_of_limit(step.after));
  if (!step.before) return fmt::format("{} should take {}; {}", kernel, time, limit);
  return fmt::format("{} should take {:.2f} times as long as {} ({} instead of {}); {}, before by {} ({})", kernel,
                     step.ratio(), step.before->work.kernel, time, milliseconds(step.before->time.seconds()), limit,
                     step.before->limit().name, amount_of_limit(*step.before));
}

}  // namespace convlab
