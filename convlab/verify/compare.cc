// Compares outputs with reference outputs within derived error bounds.

#include "convlab/verify/compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <mutex>

#include "convlab/base/error.h"
#include "convlab/device/thread_pool.h"
#include "convlab/verify/rounding.h"

namespace convlab {
namespace {

double pool_additions(const Epilogue& epilogue) {
  if (!epilogue.pool || epilogue.pool->kind == PoolKind::max) return 0;
  return static_cast<double>(epilogue.pool->kernel_h * epilogue.pool->kernel_w - 1);
}

/// Returns the roundings of the result: two for an average (reciprocal and product), and those of the activation.
double final_roundings(const Epilogue& epilogue) {
  return (pool_additions(epilogue) > 0 ? 2 : 0) + roundings_of(epilogue.activation);
}

/// Returns the roundings of an fp16 output. Integers have none, since their fill's limits keep them exact. An
/// elementary function as activation may add one.
double fp16_roundings(const ConvStep& step) {
  if (step.output_format != kNchw8cF16) return 0;
  const ActivationKind kind = step.epilogue.activation.kind;
  if (kind == ActivationKind::tanh || kind == ActivationKind::sigmoid) return 2;
  return final_roundings(step.epilogue) > 0 ? 1 : 0;
}

/// Returns the relative rounding error of a bf16 or fp16 output. In bf16 pairs, the activation may add a quarter of
/// that.
double rounding_of(Format format) {
  switch (format.type) {
    case ElementType::f16:
      return format == kNchw8cF16 ? 0 : 0x1p-11;  // see fp16_roundings()
    case ElementType::bf16:
      return format.order == Order::nchw16n2c ? 0x1p-8 + 0x1p-10 : 0x1p-8;
    case ElementType::bf16x2:
      return 0x1p-16;
    default:
      return 0;
  }
}

/// Accumulates the results of comparing elements. The batch's images may repeat the expected ones: `index` counts
/// expected elements, `image` the batch's images.
class Comparison {
 public:
  Comparison(const Expected& expected, const ErrorModel& model, double largest_scale)
      : expected_(expected),
        model_(model),
        largest_scale_(largest_scale),
        per_image_(expected.shape[1] * expected.shape[2] * expected.shape[3]),
        typical_per_scale_(model.slope / std::sqrt(model.terms)) {}

  void wrong(size_t index, int64_t image, float got, double tolerance) {
    const OutputElement element = at(index, image, got, tolerance);
    if (verdict_.wrong++ == 0) verdict_.first = verdict_.worst = element;
    if (badness(element) > badness(verdict_.worst)) verdict_.worst = element;
    if (std::bit_cast<uint32_t>(got) == kUninitialized) ++verdict_.uninitialized;
  }

  void number(size_t index, int64_t image, float got) {
    const double expected = expected_.value[index];
    const double scale = model_.shared_scale ? largest_scale_ : expected_.scale[index];
    const double tolerance = model_.tolerance(expected, scale), off = std::abs(got - expected);
    const bool right = off <= tolerance || (std::isinf(expected) && got == expected);
    if (!right) wrong(index, image, got, tolerance);
    if (std::isinf(expected)) return;
    const double typical = typical_per_scale_ * expected_.scale[index];
    square_error_ += off * off;
    square_expected_ += expected * expected;
    square_typical_ += typical * typical;
  }

  /// Compares all elements of one image; `at` is its index among the expected ones.
  void image(int64_t image, int64_t at, std::span<const float> got) {
    for (size_t i = 0; i < got.size(); ++i) number(static_cast<size_t>(at * per_image_) + i, image, got[i]);
    verdict_.count += per_image_;
  }

  void merge(const Comparison& other) {
    const Verdict& theirs = other.verdict_;
    if (theirs.wrong > 0 && (verdict_.wrong == 0 || theirs.first.n < verdict_.first.n)) verdict_.first = theirs.first;
    if (theirs.wrong > 0 && (verdict_.wrong == 0 || badness(theirs.worst) > badness(verdict_.worst))) {
      verdict_.worst = theirs.worst;
    }
    verdict_.count += theirs.count, verdict_.wrong += theirs.wrong, verdict_.uninitialized += theirs.uninitialized;
    square_error_ += other.square_error_;
    square_expected_ += other.square_expected_;
    square_typical_ += other.square_typical_;
  }

  Verdict verdict() const {
    Verdict verdict = verdict_;
    const double size = std::sqrt(std::max(square_expected_, square_typical_));
    verdict.relative_l2 = square_error_ == 0 ? 0 : std::sqrt(square_error_) / size;
    verdict.relative_l2_limit = model_.relative_l2;
    return verdict;
  }

  int64_t per_image() const { return per_image_; }

 private:
  static double badness(const OutputElement& element) {
    const double off = std::abs(element.got - element.expected);
    return std::isnan(off) ? std::numeric_limits<double>::infinity() : off;
  }

  OutputElement at(size_t index, int64_t image, float got, double tolerance) const {
    const Shape& shape = expected_.shape;
    auto rest = static_cast<int64_t>(index);
    OutputElement element{.n = image, .expected = expected_.value[index], .got = got, .tolerance = tolerance};
    element.q = rest % shape[3], rest /= shape[3];
    element.p = rest % shape[2], rest /= shape[2];
    element.k = rest % shape[1];
    return element;
  }

  const Expected& expected_;
  const ErrorModel model_;
  double largest_scale_;
  int64_t per_image_;
  double typical_per_scale_;
  Verdict verdict_;
  double square_error_ = 0, square_expected_ = 0, square_typical_ = 0;
};

double largest_scale(const Expected& expected) {
  double largest = 0;
  for (const double scale : expected.scale) {
    if (std::isfinite(scale)) largest = std::max(largest, scale);
  }
  return largest;
}

void require_as_many(size_t got, int64_t expected) {
  if (static_cast<int64_t>(got) != expected) {
    throw bad_input("{} outputs to compare with {} expected ones", got, expected);
  }
}

}  // namespace

namespace {

/// Returns what an output is that has the bits of an uninitialized one.
std::string_view text_of(Origin origin) {
  switch (origin) {
    case Origin::unwritten:
      return "never written";
    case Origin::written:
      return "NaN";
    case Origin::unknown:
      break;
  }
  return "never written or NaN from uninitialized memory";
}

}  // namespace

std::string describe(const OutputElement& element, Origin origin) {
  const std::string place =
      fmt::format("image {}, output channel {}, row {}, column {}", element.n, element.k, element.p, element.q);
  if (std::bit_cast<uint32_t>(element.got) == kUninitialized && origin != Origin::written) {
    return fmt::format("{}: expected {:.6g}, {}", place, element.expected, text_of(origin));
  }
  const std::string tolerance = element.tolerance > 0 ? fmt::format(" (tolerance {:.3g})", element.tolerance) : "";
  const std::string got = std::isnan(element.got) ? "NaN" : fmt::format("{:.6g}", element.got);
  return fmt::format("{}: expected {:.6g}, got {}{}", place, element.expected, got, tolerance);
}

ErrorModel exact_model(const ConvStep& step) {
  ErrorModel model{.slope = slope_of(step.epilogue.activation)};
  constexpr double kFp16Unit = 0x1p-11;
  model.per_value = final_roundings(step.epilogue) * kFloatUnit + fp16_roundings(step) * kFp16Unit;
  const ElementaryErrors elementary = elementary_errors(step.epilogue.activation);
  model.absolute = elementary.absolute / model.slope;
  model.per_value += elementary.relative;
  model.per_scale = pool_additions(step.epilogue) * kFloatUnit;
  model.per_value += rounding_of(step.output_format);
  model.relative_l2 = std::numeric_limits<double>::infinity();
  return model;
}

ErrorModel rounding_model(const ConvStep& step, const KernelInfo& kernel) {
  const ClassErrors errors = errors_of(kernel.math);
  ErrorModel model = exact_model(step);
  model.terms = static_cast<double>(step.problem.terms() + (step.epilogue.bias ? 1 : 0) + (step.adds ? 1 : 0));
  // Transforms add, and multiply by constants, before and after the products. No theorem covers all of them: this
  // leaves room for 8-point transforms, and relative_l2 is the limit that binds.
  constexpr double kTransformSteps = 256;
  const double steps = model.terms + (kernel.sum == Sum::transform ? kTransformSteps : 0);
  model.per_scale += errors.product + steps * errors.addition;
  model.shared_scale = kernel.sum == Sum::transform;
  // Each operand loses 2^-22 when its low part is rounded, and 2^-22 with the product of the low parts. Tensor cores
  // truncate where fp32 would round: for each of a step's 24 products at most a unit of its sum.
  if (kernel.sum == Sum::split) model.per_scale += 3 * 0x1p-22 + 24 * 0x1p-23;
  constexpr double kLargestOperand = 256;
  model.absolute += model.terms * errors.subnormal * kLargestOperand;
  const auto outputs = static_cast<double>(element_count(step.output_shape()));
  model.relative_l2 = std::max(errors.relative_l2, error_of_random_sums(model.terms, outputs));
  return model;
}

Verdict compare(const Expected& expected, std::span<const float> got, const ErrorModel& model) {
  require_as_many(got.size(), element_count(expected.shape));
  Comparison comparison(expected, model, largest_scale(expected));
  const auto per_image = static_cast<size_t>(comparison.per_image());
  for (int64_t n = 0; n < expected.shape[0]; ++n) comparison.image(n, n, got.subspan(n * per_image, per_image));
  return comparison.verdict();
}

Verdict compare_nan(const Expected& expected, std::span<const float> got, const ErrorModel& model, bool may_spread) {
  require_as_many(got.size(), element_count(expected.shape));
  Comparison comparison(expected, model, largest_scale(expected));
  const int64_t per_image = comparison.per_image();
  int64_t image_of_nan = -1;
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(expected.value[i])) image_of_nan = static_cast<int64_t>(i) / per_image;
  }
  for (size_t i = 0; i < got.size(); ++i) {
    const bool is_uninitialized = std::bit_cast<uint32_t>(got[i]) == kUninitialized;
    const int64_t image = static_cast<int64_t>(i) / per_image;
    if (std::isnan(expected.value[i])) {
      if (!std::isnan(got[i]) || is_uninitialized) comparison.wrong(i, image, got[i], 0);
    } else if (!(may_spread && std::isnan(got[i]) && !is_uninitialized && image == image_of_nan)) {
      comparison.number(i, image, got[i]);
    }
  }
  Verdict verdict = comparison.verdict();
  verdict.count = static_cast<int64_t>(got.size());
  return verdict;
}

struct BatchComparison::State {
  const Expected& expected;
  const ErrorModel model;
  const double largest;
  Comparison all;
  std::mutex mutex;
};

BatchComparison::BatchComparison(const Expected& expected, const ErrorModel& model)
    : state_(new State{expected, model, largest_scale(expected), {expected, model, 0}, {}}) {}

BatchComparison::~BatchComparison() = default;

void BatchComparison::add(int64_t first, std::span<const int64_t> at, std::span<const float> got, ThreadPool& threads) {
  State& state = *state_;
  const int64_t per_image = state.all.per_image();
  require_as_many(got.size(), static_cast<int64_t>(at.size()) * per_image);
  threads.parallel_for(static_cast<int64_t>(at.size()), 1, [&](int64_t begin, int64_t end, int) {
    Comparison part(state.expected, state.model, state.largest);
    for (int64_t i = begin; i < end; ++i) {
      part.image(first + i, at[i], got.subspan(i * per_image, per_image));
    }
    const std::lock_guard lock(state.mutex);
    state.all.merge(part);
  });
}

Verdict BatchComparison::verdict() const { return state_->all.verdict(); }

std::string headline(const Verdict& verdict, Origin origin) {
  if (verdict.wrong == 0) {
    return fmt::format("the relative L2 error of all outputs is {:.2g}; the limit is {:.2g}", verdict.relative_l2,
                       verdict.relative_l2_limit);
  }
  std::string text =
      fmt::format("{} of {} outputs {} wrong", verdict.wrong, verdict.count, verdict.wrong == 1 ? "is" : "are");
  if (verdict.uninitialized > 0) text += fmt::format(", {} of them {}", verdict.uninitialized, text_of(origin));
  return text;
}

std::string describe(const Verdict& verdict) {
  if (verdict.wrong == 0) return headline(verdict);
  return fmt::format("{}; first: {}", headline(verdict), describe(verdict.first));
}

}  // namespace convlab
