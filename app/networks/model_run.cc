// Runs and times a model on given arrays.

#include "app/networks/model_run.h"

#include <optional>
#include <utility>

#include "convlab/base/clock.h"
#include "convlab/measure/summary.h"

namespace convlab::app {
ModelRun::ModelRun(Graph graph, std::vector<Tensor> inputs, Device& device, EngineOptions options)
    : inputs_(std::move(inputs)), device_(device) {
  options.same_count = true;
  std::vector<Shape> shapes;
  for (const Tensor& input : inputs_) shapes.push_back(input.shape());
  for (const GraphOutput& output : graph.outputs) output_types_.push_back(output.type);
  engine_ = std::make_unique<Engine>(std::move(graph), shapes, device, options);
}

std::vector<Tensor> ModelRun::run() {
  std::vector<Tensor> outputs = engine_->run(inputs_);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!is_real(output_types_[i])) outputs[i] = converted(outputs[i], output_types_[i]);
  }
  return outputs;
}

double ModelRun::time_once() {
  const Clock::time_point begin = Clock::now();
  engine_->run(inputs_);
  return seconds_since(begin);
}

std::vector<double> ModelRun::time_steps_once() {
  std::vector<Tensor> outputs = make_outputs();
  return engine_->run_timed(input_addresses(inputs_), images(), output_addresses(outputs));
}

std::vector<Tensor> ModelRun::make_outputs() const {
  std::vector<Tensor> outputs;
  for (const Shape& shape : engine_->output_shapes(images())) outputs.emplace_back(ElementType::f32, shape);
  return outputs;
}

ModelRun::Times ModelRun::time(int64_t repeat) {
  const size_t steps = plan().steps.size();
  std::vector<double> network, on_device;
  std::vector<std::vector<double>> by_step(steps);
  // Waiting after each step takes time on a GPU, so the whole network is timed in a separate pass there.
  const bool one_pass = device_.caps().runs_on_host();
  std::vector<Tensor> outputs = make_outputs();
  std::vector<Buffer> locked;
  for (const std::vector<Tensor>* tensors : {&inputs_, &outputs}) {
    for (const Tensor& each : *tensors)
      locked.push_back(device_.page_lock(const_cast<void*>(each.raw()), each.bytes()));
  }
  const std::vector<const void*> from = input_addresses(inputs_);
  const std::vector<void*> to = output_addresses(outputs);
  for (int64_t i = 0; i < repeat; ++i) {
    std::vector<double> seconds;
    if (!one_pass) seconds = engine_->run_timed(from, images(), to);
    const Clock::time_point begin = Clock::now();
    if (one_pass) {
      seconds = engine_->run_timed(from, images(), to);
    } else {
      engine_->run(from, images(), to);
    }
    network.push_back(seconds_since(begin));
    if (!one_pass) on_device.push_back(engine_->time_on_device(from, images(), to));
    for (size_t step = 0; step < steps; ++step) by_step[step].push_back(seconds[step]);
  }
  Times times{.network_s = median(network)};
  times.device_network_s = on_device.empty() ? times.network_s : median(on_device);
  for (size_t step = 0; step < steps; ++step) {
    LayerResult layer = describe_layer(plan().steps[step], batch(), images(), 1);
    layer.seconds = median(by_step[step]);
    times.layers.push_back(std::move(layer));
  }
  return times;
}

}  // namespace convlab::app
