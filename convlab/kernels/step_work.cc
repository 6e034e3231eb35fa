// Counts the operations and the memory traffic of steps.

#include "convlab/kernels/step_work.h"

#include "convlab/base/overloaded.h"
#include "convlab/kernels/conv_step.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

/// `terms`: the products that each output sums.
double products(const Step& step, int64_t terms) {
  return 2 * static_cast<double>(element_count(step.outputs[0].shape)) * static_cast<double>(terms);
}

double conv_bytes(const ConvStep& step) {
  const auto bytes_per_input = static_cast<int64_t>(size_of(step.input_format.type));
  const auto bytes_per_output = static_cast<int64_t>(size_of(step.output_format.type));
  const int64_t pooled_away = step.problem.output_count() - element_count(step.output_shape());
  return step.problem.compulsory_bytes(bytes_per_input, bytes_per_output) -
         static_cast<double>(pooled_away * bytes_per_output);
}

}  // namespace

double operations(const Step& step) {
  const auto shape = [&](size_t input) -> const Shape& { return step.inputs[input].shape; };
  return std::visit(Overloaded{
                        [&](const ConvOp&) { return conv_step(step).problem.flops(); },
                        [&](const GemmOp& op) { return products(step, shape(0)[op.transpose_a ? 0 : 1]); },
                        [&](const MatMulOp&) { return products(step, shape(0).back()); },
                        [&](const MatMulIntegerOp&) { return products(step, shape(0).back()); },
                        [&](const QLinearMatMulOp&) { return products(step, shape(0).back()); },
                        [&](const ConvIntegerOp& op) { return conv_problem(op.conv, shape(0), shape(1)).flops(); },
                        [&](const QLinearConvOp& op) { return conv_problem(op.conv, shape(0), shape(3)).flops(); },
                        [&](const ByteConvOp& op) { return conv_problem(op.conv, shape(0), shape(1)).flops(); },
                        [](const auto&) { return 0.0; },
                    },
                    static_cast<const AnyOp&>(step.op));
}

double flops(const Step& step) {
  const bool is_float = std::holds_alternative<ConvOp>(step.op) || std::holds_alternative<GemmOp>(step.op) ||
                        std::holds_alternative<MatMulOp>(step.op);
  return is_float ? operations(step) : 0;
}

double compulsory_bytes(const Step& step) {
  if (is_conv(step)) return conv_bytes(conv_step(step));
  double bytes = 0;
  for (const Operand& each : step.inputs) {
    const bool int8_weights = std::holds_alternative<ByteConvOp>(step.op) && &each == &step.inputs[1];
    bytes +=
        static_cast<double>(int8_weights ? element_count(each.shape)
                                         : byte_count(each.written.empty() ? each.shape : each.written, each.format));
  }
  for (const Operand& each : step.outputs) bytes += static_cast<double>(byte_count(each.shape, each.format));
  return bytes;
}

}  // namespace convlab
