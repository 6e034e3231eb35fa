// Describes a step of a plan: its kernel, flops and bytes.

#include "app/runs/layer_result.h"

#include "convlab/kernels/step_work.h"

namespace convlab::app {

LayerResult describe_layer(const PlanStep& step, int64_t batch, int64_t images, size_t devices) {
  const auto copies = static_cast<double>(devices);  // each device has the constants
  const double batches = static_cast<double>(images) / static_cast<double>(batch);
  LayerResult layer{.name = step.name,
                    .op = step.op_name(),
                    .kernel = std::string(step.kernel->info.name),
                    .math = step.kernel->info.math,
                    .flops = flops(step.what) * batches};
  if (step.is_conv()) {
    const ConvStep conv = conv_step(step.what);
    ConvProblem problem = conv.problem;
    const size_t of_weight = conv.output_format.order == Order::nhwc ? size_of(conv.output_format.type) : 4;
    layer.bytes = batches * static_cast<double>(byte_count(problem.input_shape(), conv.input_format) +
                                                byte_count(conv.output_shape(), conv.output_format)) +
                  static_cast<double>(of_weight) * copies * static_cast<double>(problem.filter_count());
    problem.n = images;
    layer.problem = to_text(problem);
  } else {
    for (const Operand& each : step.what.outputs)
      layer.bytes += batches * static_cast<double>(byte_count(each.shape, each.format));
    for (const Operand& each : step.what.inputs) {
      const Shape& shape = each.written.empty() ? each.shape : each.written;
      layer.bytes += static_cast<double>(byte_count(shape, each.format)) * (each.constant ? copies : batches);
    }
  }
  return layer;
}

std::vector<LayerResult> describe_layers(const ReadyModel& model, int64_t images, const std::vector<double>& seconds) {
  const size_t devices = model.shares(images).size();
  std::vector<LayerResult> layers;
  for (const PlanStep& step : model.plan().steps) {
    layers.push_back(describe_layer(step, model.batch(), images, devices));
    layers.back().seconds = seconds[layers.size() - 1];
  }
  return layers;
}

}  // namespace convlab::app
