// Converts between steps and the convolutions that they describe.

#include "convlab/kernels/conv_step.h"

#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include "convlab/model/shapes.h"

namespace convlab {

Shape ConvStep::output_shape() const {
  Shape all = problem.output_shape();
  if (!epilogue.pool) return all;
  return {all[0], all[1], epilogue.pool->output_h(all[2]), epilogue.pool->output_w(all[3])};
}

ConvStep::operator Step() const {
  const auto array = [](Shape shape, Format format, int64_t pitch) {
    Operand operand{.shape = std::move(shape), .format = format, .pitch = pitch};
    if (format.order != Order::nchw) operand.written = operand.shape;
    return operand;
  };
  Step step{.op = ConvOp{.stride_h = problem.stride_h,
                         .stride_w = problem.stride_w,
                         .dilation_h = problem.dilation_h,
                         .dilation_w = problem.dilation_w,
                         .pad_top = problem.pad_top,
                         .pad_left = problem.pad_left,
                         .pad_bottom = problem.pad_bottom,
                         .pad_right = problem.pad_right,
                         .groups = problem.groups},
            .inputs = {array(problem.input_shape(), input_format, input_step),
                       {.shape = problem.filter_shape(), .constant = true}},
            .outputs = {{.shape = output_shape(), .format = output_format, .pitch = output_step}},
            .epilogue = epilogue};
  if (epilogue.bias) step.inputs.push_back({.shape = {problem.k}, .constant = true});
  if (adds) step.inputs.push_back(array(output_shape(), output_format, added_step));
  return step;
}

bool is_conv(const Step& step) { return std::holds_alternative<ConvOp>(step.op); }

ConvStep conv_step(const Step& step) {
  const Operand& x = step.inputs[0];
  const Operand& y = step.outputs[0];
  ConvStep conv{.problem = conv_problem(std::get<ConvOp>(step.op), x.shape, step.inputs[1].shape),
                .epilogue = step.epilogue,
                .input_format = x.format,
                .output_format = y.format,
                .adds = step.inputs.size() > (step.epilogue.bias ? 3 : 2),
                .input_step = x.pitch,
                .output_step = y.pitch};
  if (conv.adds) conv.added_step = step.inputs.back().pitch;
  return conv;
}

ConvArgs conv_args(const Args& args, const ConvStep& step) {
  return {.step = step,
          .x = args.inputs[0],
          .w = args.input(1),
          .bias = step.epilogue.bias ? args.input(2) : nullptr,
          .added = step.adds ? args.input(step.epilogue.bias ? 3 : 2) : nullptr,
          .y = args.output(),
          .prepared = args.prepared,
          .workspace = args.workspace,
          .prefetch = args.prefetch,
          .tuning = args.tuning};
}

void call(void (*function)(const Args&, Stream&), const ConvArgs& args, Stream& stream) {
  if (function == nullptr) return;
  const Step step = args.step;
  std::vector<const void*> inputs{args.x, args.w};
  if (args.step.epilogue.bias) inputs.push_back(args.bias);
  if (args.step.adds) inputs.push_back(args.added);
  void* const output = args.y;
  function({.step = step,
            .inputs = inputs,
            .outputs = {&output, 1},
            .prepared = args.prepared,
            .workspace = args.workspace,
            .prefetch = args.prefetch,
            .tuning = args.tuning},
           stream);
}

Refusal refuse_unless_plain(const ConvStep& step) {
  if (!step.epilogue.empty()) {
    return fmt::format("fusing {} is not supported", to_text(step.epilogue));
  }
  if (step.input_format == kRawPixels)
    return fmt::format("input must be float32, got {}", name_of(step.input_format.type));
  return std::nullopt;
}

}  // namespace convlab
