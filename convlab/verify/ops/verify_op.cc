// Verifies kernels of operators other than convolutions.

#include "convlab/verify/ops/verify_op.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/device/simt.h"
#include "convlab/kernels/format_refusal.h"
#include "convlab/kernels/select.h"
#include "convlab/kernels/step_text.h"
#include "convlab/verify/diagnosis.h"
#include "convlab/verify/guards.h"
#include "convlab/verify/noticed.h"
#include "convlab/verify/ops/op_error.h"
#include "convlab/verify/ops/op_fills.h"
#include "convlab/verify/ops/op_oracle.h"
#include "convlab/verify/pitched.h"

namespace convlab {
namespace {

using Role = GuardedBuffer::Role;

/// One set of inputs on the device, with what the kernel prepared and the expected output.
struct InputSet {
  InputSet(const Kernel& kernel, const Step& step, Device& device, Stream& stream)
      : prepared(device, stream, "prepared", prepared_bytes(kernel, step, device.caps()), Role::output) {}

  std::vector<Tensor> host;
  std::vector<GuardedBuffer> arrays;
  GuardedBuffer prepared;
  Expected expected;
};

/// A step's arrays on a device.
class OpRig {
 public:
  OpRig(const Kernel& kernel, const Step& step, Device& device)
      : kernel_(kernel),
        step_(step),
        device_(device),
        stream_(device.make_stream()),
        y_(device, *stream_, "y", bytes_of(output()), Role::output),
        workspace_(device, *stream_, "workspace", workspace_bytes(kernel, step, device.caps()), Role::output) {
    for (int i = 0; i < 2; ++i) sets_.emplace_back(kernel, step, device, *stream_);
  }

  /// Fills and prepares an input set: 0 or 1.
  void load(size_t index, Fill fill) {
    InputSet& set = sets_[index];
    std::vector<Tensor> plain = fill_inputs(step_, fill, index, kernel_.info.math);
    set.expected = as_images(expected_output(step_, plain));
    set.host = packed_inputs(step_, std::move(plain));
    const bool is_new = set.arrays.empty();
    for (size_t i = 0; i < set.host.size(); ++i) {
      if (is_new) set.arrays.emplace_back(device_, *stream_, name_of_input(i), set.host[i].bytes(), Role::input);
      set.arrays[i].upload(*stream_, set.host[i].raw());
    }
    prepare(index);
  }

  void prepare(size_t index) {
    sets_[index].prepared.mark_uninitialized(*stream_);
    workspace_.mark_uninitialized(*stream_);
    if (kernel_.prepare == nullptr) return;
    std::vector<const void*> inputs;
    for (size_t i = 0; i < step_.inputs.size(); ++i) {
      inputs.push_back(step_.inputs[i].constant ? sets_[index].arrays[i].data() : nullptr);
    }
    call(kernel_.prepare, index, inputs, nullptr);
    check_memory("prepare");
  }

  std::vector<float> launch(size_t index) {
    y_.mark_uninitialized(*stream_);
    workspace_.mark_uninitialized(*stream_);
    std::vector<const void*> inputs;
    for (const GuardedBuffer& array : sets_[index].arrays) inputs.push_back(array.data());
    if (kernel_.packs_weights && inputs.size() > 1) inputs[1] = nullptr;
    call(kernel_.launch, index, inputs, y_.data());
    check_memory("launch");
    return download_operand(*stream_, y_.data(), output());
  }

  const Expected& expected(size_t index) const { return sets_[index].expected; }

 private:
  const Operand& output() const { return step_.outputs[0]; }

  /// As in the documentation of operators: "x" or "x1".
  std::string name_of_input(size_t i) const { return step_.inputs.size() == 1 ? "x" : fmt::format("input {}", i); }

  void call(void (*function)(const Args&, Stream&), size_t index, std::span<const void* const> inputs, void* y) {
    function({.step = step_,
              .inputs = inputs,
              .outputs = {&y, 1},
              .prepared = sets_[index].prepared.data(),
              .workspace = workspace_.data()},
             *stream_);
  }

  /// Checks the guards of all arrays, and that the inputs of both sets are unchanged.
  void check_memory(const std::string& culprit) const {
    stream_->synchronize();
    for (const GuardedBuffer* buffer : {&y_, &workspace_}) buffer->check_guards(*stream_, culprit);
    for (const InputSet& set : sets_) {
      set.prepared.check_guards(*stream_, culprit);
      for (size_t i = 0; i < set.arrays.size(); ++i) {
        set.arrays[i].check_guards(*stream_, culprit);
        set.arrays[i].check_unchanged(*stream_, set.host[i].raw(), culprit);
      }
    }
  }

  const Kernel& kernel_;
  const Step& step_;
  Device& device_;
  std::unique_ptr<Stream> stream_;
  GuardedBuffer y_, workspace_;
  std::vector<InputSet> sets_;
};

/// Returns "y[1][5][0]: expected 5, got 7 (tolerance 0.1)". `shape`: of the output, whose as_images() the element
/// indexes.
std::string describe(const OutputElement& element, const Shape& shape) {
  const Shape images = as_images({.shape = shape, .value = {}, .scale = {}}).shape;
  int64_t flat = ((element.n * images[1] + element.k) * images[2] + element.p) * images[3] + element.q;
  std::string index;
  for (size_t i = shape.size(); i-- > 0; flat /= shape[i]) index.insert(0, fmt::format("[{}]", flat % shape[i]));
  if (std::bit_cast<uint32_t>(element.got) == kUninitialized) return fmt::format("y{} was never written", index);
  std::string text = fmt::format("y{}: expected {:.9g}, got {:.9g}", index, element.expected, element.got);
  return element.tolerance > 0 ? fmt::format("{} (tolerance {:.2g})", text, element.tolerance) : text;
}

Finding wrong(const Verdict& verdict, const Shape& shape) {
  Finding finding{.kind = std::string(kWrongOutput), .text = headline(verdict)};
  if (verdict.wrong == 0) return finding;
  finding.notes.push_back("first: " + describe(verdict.first, shape));
  finding.details.push_back("largest error: " + describe(verdict.worst, shape));
  return finding;
}

Verdict require_right(const OpRig& rig, size_t set, std::span<const float> got, const Step& step,
                      const ErrorModel& model) {
  const Verdict verdict = compare(rig.expected(set), got, model);
  if (verdict.passed()) return verdict;
  throw FindingError(ErrorKind::wrong_result, wrong(verdict, step.outputs[0].shape));
}

void check_integers(OpRig& rig, const Kernel& kernel, const Step& step) {
  const Fill bound = kernel.info.sum == Sum::transform ? Fill::reals : Fill::integers;
  const ErrorModel model = error_model(step, kernel.info, bound);
  for (const size_t set : {0, 1}) rig.load(set, Fill::integers);
  for (const size_t set : {0, 1, 0}) {
    const Verdict together = compare(rig.expected(set), rig.launch(set), model);
    if (together.passed()) continue;
    // Find out whether the other inputs caused it: prepare these again directly before their launch.
    rig.load(set, Fill::integers);
    require_right(rig, set, rig.launch(set), step, model);
    throw FindingError(
        ErrorKind::wrong_result,
        {.kind = "state between launches",
         .text = "right alone, but wrong when launches of two layers alternate",
         .notes = {"first: " + describe(together.first, step.outputs[0].shape)},
         .help = "keep no state between launches: static variables, or arrays that only the first launch fills"});
  }
}

/// Returns the relative L2 error.
double check_reals(OpRig& rig, const Kernel& kernel, const Step& step) {
  rig.load(0, Fill::reals);
  const std::vector<float> first = rig.launch(0);
  const Verdict verdict = require_right(rig, 0, first, step, error_model(step, kernel.info, Fill::reals));
  if (kernel.info.repeat != Repeat::order_dependent) require_same_bits(first, rig.launch(0));
  return verdict.relative_l2;
}

void check_nan(OpRig& rig, const Kernel& kernel, const Step& step) {
  rig.load(0, Fill::one_nan);
  const Verdict verdict = compare_nan(rig.expected(0), rig.launch(0), error_model(step, kernel.info, Fill::reals),
                                      kernel.info.sum == Sum::transform);
  if (verdict.passed()) return;
  throw FindingError(ErrorKind::wrong_result, wrong(verdict, step.outputs[0].shape));
}

/// Returns the host memory for values, tolerances and copies.
double host_bytes(const Step& step) {
  constexpr double kBytesPerInput = 16, kBytesPerOutput = 64;
  double bytes = kBytesPerOutput * static_cast<double>(element_count(step.outputs[0].shape));
  for (const Operand& each : step.inputs) bytes += kBytesPerInput * static_cast<double>(element_count(each.shape));
  return bytes;
}

}  // namespace

CaseResult verify_step(const Kernel& kernel, const Step& step, Device& device, Oracle& oracle) {
  return is_conv(step) ? verify_few(kernel, conv_step(step), device, oracle) : verify_op(kernel, step, device);
}

std::vector<Tensor> packed_inputs(const Step& step, std::vector<Tensor> plain) {
  for (size_t i = 0; i < plain.size(); ++i) {
    const Format format = step.inputs[i].format;
    if (format.order != Order::nchw) plain[i] = with_gaps(pack(plain[i], format), step.inputs[i]);
  }
  return plain;
}

std::string describe_wrong_output(const Verdict& verdict, const Shape& shape) {
  if (verdict.wrong == 0) return headline(verdict);
  return fmt::format("{}; first: {}", headline(verdict), describe(verdict.first, shape));
}

CaseResult verify_op(const Kernel& kernel, const Step& step, Device& device) {
  if (const Refusal refusal = refusal_of(kernel, step, device.caps())) {
    return {Outcome::skipped, refuse_in_all_formats(kernel, step, device.caps()).value_or(*refusal)};
  }
  require_host_memory(
      host_bytes(step), [&] { return to_text(step); }, "problem");
  std::optional<OpRig> rig;
  return verified_case([&] { rig.emplace(kernel, step, device); },
                       [&](std::string& check) {
                         set_simt_array_shapes({});  // those of an earlier convolution
                         check = "with integer inputs";
                         if (has_fill(step, Fill::integers)) check_integers(*rig, kernel, step);
                         check = "";
                         const double relative_l2 = check_reals(*rig, kernel, step);
                         check = "with one NaN among the inputs";
                         if (has_fill(step, Fill::one_nan)) check_nan(*rig, kernel, step);
                         return relative_l2;
                       });
}

}  // namespace convlab
