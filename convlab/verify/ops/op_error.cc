// Derives error bounds of operators' kernels.

#include "convlab/verify/ops/op_error.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "convlab/verify/ops/op_check.h"
#include "convlab/verify/rounding.h"

namespace convlab {
namespace {

/// The largest real in a fill of an operator with a sigmoid.
constexpr double kLargestReal = 8;

bool quick_sigmoid(const Activation& activation) {
  return activation.kind == ActivationKind::sigmoid || activation.kind == ActivationKind::swish;
}

/// Whether the kernel may approximate a sigmoid that the step computes.
bool approximates_sigmoid(const Step& step, Math math) {
  if (math != Math::fp16 && math != Math::tf32) return false;
  if (const auto* op = std::get_if<ActivationOp>(&step.op)) return quick_sigmoid(op->activation);
  if (const auto* op = std::get_if<SqueezeExciteOp>(&step.op)) {
    return quick_sigmoid(op->squeeze) || quick_sigmoid(op->excite);
  }
  return quick_sigmoid(step.epilogue.activation);
}

/// Adds the rounding of the output to the format's type.
void add_output_rounding(Format format, ErrorModel& model) {
  switch (format.type) {
    case ElementType::f16:
      model.per_value += 0x1p-11;
      model.absolute += 0x1p-25 / model.slope;
      return;
    case ElementType::bf16:
      // In pairs, the activation may add a quarter: see compare.cc.
      model.per_value += format.order == Order::nchw16n2c ? 0x1p-8 + 0x1p-10 : 0x1p-8;
      return;
    case ElementType::bf16x2:
      model.per_value += 0x1p-16;
      return;
    default:
      return;
  }
}

/// Whether the output may have a number of the operator itself, which is not in the output's type: a bound of a clip,
/// or the value of a padding.
bool has_own_number(const Step& step) {
  if (step.epilogue.activation.kind == ActivationKind::clip) return true;
  if (const auto* op = std::get_if<ActivationOp>(&step.op)) return op->activation.kind == ActivationKind::clip;
  return std::holds_alternative<PadOp>(step.op);
}

/// Whether rounding to the output's type changes nothing: an operator that moves elements of that type only, or
/// integers within the fill's limits.
bool keeps_type(const Step& step, Arithmetic arithmetic, Fill fill) {
  if (arithmetic == Arithmetic::quantized) return true;
  if (has_own_number(step)) return false;
  const ActivationKind activation = step.epilogue.activation.kind;
  const bool exact = activation == ActivationKind::none || activation == ActivationKind::relu;
  if (fill == Fill::integers) return exact && arithmetic != Arithmetic::averages;
  const ElementType type = step.outputs[0].format.type;
  const auto is_of_type = [type](const Operand& input) { return input.format.type == type; };
  return arithmetic == Arithmetic::exact && std::ranges::all_of(step.inputs, is_of_type);
}

ErrorModel model_of_product(const Step& step, const KernelInfo& kernel, Fill fill) {
  const Activation& activation = step.epilogue.activation;
  ErrorModel model{.slope = slope_of(activation)};
  model.relative_l2 = std::numeric_limits<double>::infinity();
  const ElementaryErrors elementary = elementary_errors(activation);
  model.absolute = elementary.absolute / model.slope;
  model.per_value = elementary.relative + roundings_of(activation) * kFloatUnit;
  if (fill == Fill::integers && kernel.sum != Sum::transform) return model;
  const ClassErrors errors = errors_of(kernel.math);
  model.terms = product_terms(step);
  const auto* gemm = std::get_if<GemmOp>(&step.op);
  const double factors = gemm == nullptr ? 0 : (gemm->alpha != 1) + (gemm->beta != 1);
  constexpr double kTransformSteps = 256;  // see rounding_model()
  const double steps = model.terms + (kernel.sum == Sum::transform ? kTransformSteps : 0);
  model.per_scale = errors.product + steps * errors.addition + factors * kFloatUnit;
  if (kernel.sum == Sum::split) model.per_scale += 3 * 0x1p-22 + 24 * 0x1p-23;
  model.shared_scale = kernel.sum == Sum::transform;
  constexpr double kLargestOperand = 256;
  model.absolute += model.terms * errors.subnormal * kLargestOperand;
  if (approximates_sigmoid(step, kernel.math)) model.absolute += 0x1p-20 * kLargestReal / model.slope;
  const auto outputs = static_cast<double>(element_count(step.outputs[0].shape));
  model.relative_l2 = std::max(errors.relative_l2, error_of_random_sums(model.terms, outputs));
  return model;
}

}  // namespace

ErrorModel error_model(const Step& step, const KernelInfo& kernel, Fill fill) {
  constexpr double kRounding = kFloatUnit * (1 + 0x1p-6), kUnderflow = 0x1p-125;
  const Arithmetic arithmetic = arithmetic_of(step);
  const bool integers = fill == Fill::integers;
  ErrorModel model{.relative_l2 = std::numeric_limits<double>::infinity()};
  switch (arithmetic) {
    case Arithmetic::exact:
      break;
    case Arithmetic::product:
      model = model_of_product(step, kernel, fill);
      break;
    case Arithmetic::quantized:
      model.per_scale = 1;
      break;
    case Arithmetic::averages:
      if (integers) {
        model.per_value = 2 * kFloatUnit;
        break;
      }
      [[fallthrough]];
    case Arithmetic::sums:
      if (integers) break;
      [[fallthrough]];
    case Arithmetic::real:
      model.per_scale = kRounding;
      model.absolute = kUnderflow;
      if (approximates_sigmoid(step, kernel.math)) model.absolute += 0x1p-20 * kLargestReal;
      break;
  }
  if (!keeps_type(step, arithmetic, fill)) add_output_rounding(step.outputs[0].format, model);
  return model;
}

}  // namespace convlab
