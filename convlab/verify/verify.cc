// Verifies one kernel on one step.

#include "convlab/verify/verify.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "convlab/base/error.h"
#include "convlab/diagnostics/finding.h"
#include "convlab/verify/cases.h"
#include "convlab/verify/compare.h"
#include "convlab/verify/diagnosis.h"
#include "convlab/verify/guards.h"
#include "convlab/verify/noticed.h"
#include "convlab/verify/pitched.h"

namespace convlab {
namespace {

using Role = GuardedBuffer::Role;

/// A layer's arrays on the device, and their values.
struct LayerMemory {
  GuardedBuffer w, prepared;
  std::optional<GuardedBuffer> bias, added;
  Tensor added_values;  ///< in the layout of `added`
  std::shared_ptr<const OracleLayer> values;
};

/// A kernel with guarded memory for two layers of the same step.
class Rig {
 public:
  Rig(const Kernel& kernel, const ConvStep& step, Device& device)
      : kernel_(kernel),
        step_(step),
        operands_(step),
        device_(device),
        stream_(device.make_stream()),
        x_(device, *stream_, "x", bytes_of(operands_.inputs[0]), Role::input),
        y_(device, *stream_, "y", bytes_of(operands_.outputs[0]), Role::output),
        workspace_(device, *stream_, "workspace", workspace_bytes(kernel, step, device.caps()), Role::output) {
    for (int layer = 0; layer < 2; ++layer) layers_.push_back(make_layer());
  }

  /// Uploads a layer's arrays and prepares it. x has the images of the layer that was loaded last.
  void load(int index, std::shared_ptr<const OracleLayer> values) {
    LayerMemory& layer = layers_[index];
    layer.values = std::move(values);
    images_ = with_gaps(pack(*layer.values->convolved->x, step_.input_format), operands_.inputs[0]);
    x_.upload(*stream_, images_.raw());
    layer.w.upload(*stream_, layer.values->convolved->w.raw());
    if (layer.bias) layer.bias->upload(*stream_, layer.values->bias.raw());
    if (layer.added) {
      layer.added_values = with_gaps(pack(layer.values->added, step_.output_format), operands_.inputs.back());
      layer.added->upload(*stream_, layer.added_values.raw());
    }
    layer.prepared.mark_uninitialized(*stream_);
    workspace_.mark_uninitialized(*stream_);
    if (kernel_.prepare == nullptr) return;
    call(kernel_.prepare, arguments(layer, nullptr), *stream_);
    check_memory("prepare");
  }

  std::vector<float> launch(int index) {
    y_.mark_uninitialized(*stream_);
    workspace_.mark_uninitialized(*stream_);
    call(kernel_.launch, arguments(layers_[index], static_cast<float*>(y_.data())), *stream_);
    check_memory("launch");
    return download_operand(*stream_, y_.data(), operands_.outputs[0]);
  }

  const OracleLayer& layer(int index) const { return *layers_[index].values; }
  const Expected& expected(int index) const { return layer(index).expected(); }

 private:
  LayerMemory make_layer() {
    const size_t prepared = prepared_bytes(kernel_, step_, device_.caps());
    LayerMemory layer{
        .w = {device_, *stream_, "w", static_cast<size_t>(step_.problem.filter_count()) * sizeof(float), Role::input},
        .prepared = {device_, *stream_, "prepared", prepared, Role::output}};
    if (step_.epilogue.bias) {
      layer.bias.emplace(device_, *stream_, "bias", static_cast<size_t>(step_.problem.k) * sizeof(float), Role::input);
    }
    if (step_.adds) layer.added.emplace(device_, *stream_, "added", bytes_of(operands_.inputs.back()), Role::input);
    return layer;
  }

  /// Returns the arguments of launch() or, without `y`, of prepare().
  ConvArgs arguments(const LayerMemory& layer, float* y) const {
    const bool packed = kernel_.packs_weights && y != nullptr;
    return {.step = step_,
            .x = x_.data(),
            .w = packed ? nullptr : static_cast<const float*>(layer.w.data()),
            .bias = layer.bias ? static_cast<const float*>(layer.bias->data()) : nullptr,
            .added = layer.added ? static_cast<const float*>(layer.added->data()) : nullptr,
            .y = y,
            .prepared = layer.prepared.data(),
            .workspace = workspace_.data()};
  }

  /// Checks the guards of all arrays, and that the inputs of both layers are unchanged.
  void check_memory(const std::string& culprit) const {
    stream_->synchronize();
    for (const GuardedBuffer* buffer : {&y_, &workspace_, &x_}) buffer->check_guards(*stream_, culprit);
    x_.check_unchanged(*stream_, images_.raw(), culprit);
    for (const LayerMemory& layer : layers_) {
      layer.w.check_guards(*stream_, culprit);
      layer.prepared.check_guards(*stream_, culprit);
      if (layer.bias) layer.bias->check_guards(*stream_, culprit);
      if (layer.added) layer.added->check_guards(*stream_, culprit);
      if (!layer.values) continue;
      layer.w.check_unchanged(*stream_, layer.values->convolved->w.raw(), culprit);
      if (layer.bias) layer.bias->check_unchanged(*stream_, layer.values->bias.raw(), culprit);
      if (layer.added) layer.added->check_unchanged(*stream_, layer.added_values.raw(), culprit);
    }
  }

  const Kernel& kernel_;
  const ConvStep& step_;
  const Step operands_;
  Device& device_;
  std::unique_ptr<Stream> stream_;
  GuardedBuffer x_, y_, workspace_;
  std::vector<LayerMemory> layers_;
  Tensor images_;  ///< in the layout of x
};

/// Compares a launch's output with the layer's. If it is wrong, throws FindingError(wrong_result) with the likely
/// cause.
Verdict require_right(Rig& rig, int layer, std::span<const float> got, const ConvStep& step, const ErrorModel& model) {
  const Verdict verdict = compare(rig.expected(layer), got, model);
  if (verdict.passed()) return verdict;
  std::vector<int64_t> at(static_cast<size_t>(step.problem.n));
  std::iota(at.begin(), at.end(), 0);
  const WrongOutput wrong{step, rig.layer(layer), at, got, model};
  throw FindingError(ErrorKind::wrong_result, wrong_output(verdict, wrong, likely_cause(wrong)));
}

void check_integers(Rig& rig, const Kernel& kernel, const ConvStep& step, Oracle& oracle) {
  const IntegerLimits limits = integer_limits(step, kernel.info.math);
  const ErrorModel model = kernel.info.sum == Sum::transform ? rounding_model(step, kernel.info) : exact_model(step);
  for (int layer : {0, 1}) rig.load(layer, oracle.layer(step, Fill::integers, limits, layer));
  for (int layer : {0, 1, 0}) {
    const Verdict together = compare(rig.expected(layer), rig.launch(layer), model);
    if (together.passed()) continue;
    // Find out whether the other layer caused it: prepare this layer again directly before its launch.
    rig.load(layer, oracle.layer(step, Fill::integers, limits, layer));
    require_right(rig, layer, rig.launch(layer), step, model);
    throw FindingError(
        ErrorKind::wrong_result,
        {.kind = "state between launches",
         .text = "right alone, but wrong when launches of two layers alternate",
         .notes = {describe(together)},
         .help = "keep no state between launches: static variables, or arrays that only the first launch fills"});
  }
}

/// Returns the relative L2 error.
double check_reals(Rig& rig, const Kernel& kernel, const ConvStep& step, Oracle& oracle) {
  rig.load(0, oracle.layer(step, Fill::reals, {}, 0));
  const std::vector<float> first = rig.launch(0);
  const Verdict verdict = require_right(rig, 0, first, step, rounding_model(step, kernel.info));
  if (kernel.info.repeat != Repeat::order_dependent) require_same_bits(first, rig.launch(0));
  return verdict.relative_l2;
}

void check_nan(Rig& rig, const Kernel& kernel, const ConvStep& step, Oracle& oracle) {
  if (step.input_format == kRawPixels) return;
  rig.load(0, oracle.layer(step, Fill::one_nan, {}, 0));
  const Verdict verdict =
      compare_nan(rig.expected(0), rig.launch(0), rounding_model(step, kernel.info), kernel.info.sum == Sum::transform);
  if (verdict.passed()) return;
  throw FindingError(ErrorKind::wrong_result, misplaced_nan(verdict));
}

/// Returns the host memory for values, tolerances and copies.
double host_bytes(const ConvStep& step) {
  constexpr double kBytesPerInput = 12, kBytesPerOutput = 64;
  return kBytesPerInput * static_cast<double>(step.problem.input_count() + step.problem.filter_count()) +
         kBytesPerOutput * static_cast<double>(step.problem.output_count());
}

}  // namespace

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::passed:
      return "PASSED";
    case Outcome::failed:
      return "FAILED";
    case Outcome::skipped:
      return "SKIPPED";
  }
  return "?";
}

CaseResult verify_kernel(const Kernel& kernel, const ConvStep& step, Device& device, Oracle& oracle) {
  if (const Refusal refusal = kernel.refuses(step, device.caps())) return {Outcome::skipped, *refusal};
  require_host_memory(
      host_bytes(step), [&] { return to_text(step.problem); }, "n");
  std::optional<Rig> memory;
  return verified_case([&] { memory.emplace(kernel, step, device); },
                       [&](std::string& check) {
                         name_elements_of(step);
                         check = "with integer inputs";
                         check_integers(*memory, kernel, step, oracle);
                         check = "";
                         const double relative_l2 = check_reals(*memory, kernel, step, oracle);
                         check = "with one NaN among the inputs";
                         check_nan(*memory, kernel, step, oracle);
                         return relative_l2;
                       });
}

CaseResult verify_few(const Kernel& kernel, const ConvStep& step, Device& device, Oracle& oracle) {
  if (const Refusal refusal = kernel.refuses(step, device.caps())) return {Outcome::skipped, *refusal};
  if (kernel.info.library) return {Outcome::passed, ""};
  ConvStep few = step;
  few.problem.n = std::min<int64_t>(few.problem.n, 2);
  CaseResult result = verify_kernel(kernel, few, device, oracle);
  if (result.outcome != Outcome::passed) result.reason = fmt::format("{}: {}", describe(few), result.reason);
  return result;
}

}  // namespace convlab
