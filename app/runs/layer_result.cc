// Describes a step of a plan: its kernel, flops and bytes.

#include "app/runs/layer_result.h"

namespace convlab::app {

LayerResult describe_layer(const PlanStep& step, int64_t batch, int64_t images, size_t devices) {
  const auto copies = static_cast<double>(devices);  // each device has the constants
  const double batches = static_cast<double>(images) / static_cast<double>(batch);
  LayerResult layer{.name = step.name,
                    .op = step.op_name(),
                    .kernel = std::string(step.kernel_name()),
                    .flops = step.flops() * batches};
  if (const ConvStep* conv = step.conv_step()) {
    ConvProblem problem = conv->problem;
    const size_t of_weight = conv->output_format.order == Order::nhwc ? size_of(conv->output_format.type) : 4;
    layer.bytes = batches * static_cast<double>(byte_count(problem.input_shape(), conv->input_format) +
                                                byte_count(conv->output_shape(), conv->output_format)) +
                  static_cast<double>(of_weight) * copies * static_cast<double>(problem.filter_count());
    problem.n = images;
    layer.problem = to_text(problem);
    layer.math = step.conv->info.math;
  } else if (const OpStep* op = step.op_step()) {
    layer.math = step.op->info.math;
    layer.bytes = batches * static_cast<double>(byte_count(op->output, op->output_format));
    for (size_t i = 0; i < op->inputs.size(); ++i) {
      const bool constant = i < op->constant.size() && op->constant[i];
      const bool bytes_too = op->input_format == kNhwc4U8 && !constant;
      const bool plain = op->input_format.order == Order::nchw || (i > 0 && !bytes_too);
      const auto bytes =
          static_cast<double>(plain ? byte_count(op->inputs[i], i == 0 ? op->input_format : kNchw)
                                    : byte_count(i == 0 ? op->written : op->inputs[i], op->input_format));
      layer.bytes += bytes * (constant ? copies : batches);
    }
  }
  return layer;
}

}  // namespace convlab::app
