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
    const size_t of_weight = has_pixel_rows(conv->output_layout) ? size_in(conv->output_layout, conv->input) : 4;
    layer.bytes = batches * static_cast<double>(layout_bytes(problem.input_shape(), conv->input_layout, conv->input) +
                                                layout_bytes(conv->output_shape(), conv->output_layout)) +
                  static_cast<double>(of_weight) * copies * static_cast<double>(problem.filter_count());
    problem.n = images;
    layer.problem = to_text(problem);
    layer.math = step.conv->info.math;
  } else if (const OpStep* op = step.op_step()) {
    layer.math = step.op->info.math;
    const ElementType output = std::holds_alternative<ScaleOp>(op->op) ? ElementType::u8 : ElementType::f32;
    layer.bytes = batches * static_cast<double>(layout_bytes(op->output, op->output_layout, output));
    for (size_t i = 0; i < op->inputs.size(); ++i) {
      const bool constant = i < op->constant.size() && op->constant[i];
      const bool bytes_too = op->input_layout == Layout::channel_bytes && !constant;
      const bool plain = op->input_layout == Layout::plain || (i > 0 && !bytes_too);
      const auto bytes =
          static_cast<double>(plain ? layout_bytes(op->inputs[i], Layout::plain, i == 0 ? op->input : ElementType::f32)
                                    : layout_bytes(i == 0 ? op->written : op->inputs[i], op->input_layout));
      layer.bytes += bytes * (constant ? copies : batches);
    }
  }
  return layer;
}

}  // namespace convlab::app
