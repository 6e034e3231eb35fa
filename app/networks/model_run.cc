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
  if (shapes.size() == 1 && !shapes[0].empty() && graph.outputs.size() == 1) {
    engine_ = std::make_unique<Engine>(std::move(graph), shapes[0], device, options);
  } else {
    executor_ = std::make_unique<Executor>(std::move(graph), shapes, device, options);
  }
}

std::vector<Tensor> ModelRun::run() {
  std::vector<Tensor> outputs = run(nullptr);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!is_real(output_types_[i])) outputs[i] = converted(outputs[i], output_types_[i]);
  }
  return outputs;
}

double ModelRun::time_once() {
  const Clock::time_point begin = Clock::now();
  run(nullptr);
  return seconds_since(begin);
}

std::vector<double> ModelRun::time_steps_once() {
  std::vector<double> seconds(plan().steps.size(), 0);
  run(&seconds);
  return seconds;
}

std::vector<Tensor> ModelRun::run(std::vector<double>* seconds) {
  if (executor_) return seconds != nullptr ? executor_->run_timed(inputs_, *seconds) : executor_->run(inputs_);
  std::vector<Tensor> outputs;
  if (seconds == nullptr) {
    outputs.push_back(engine_->run(inputs_[0]));
    return outputs;
  }
  run_to(outputs.emplace_back(ElementType::f32, engine_->output_shape(images())).values<float>().data(), seconds);
  return outputs;
}

void ModelRun::run_to(float* output, std::vector<double>* seconds) {
  if (seconds == nullptr) return engine_->run(inputs_[0].raw(), images(), output);
  *seconds = engine_->run_timed(inputs_[0].raw(), images(), output);
}

ModelRun::Times ModelRun::time(int64_t repeat) {
  const size_t steps = plan().steps.size();
  std::vector<double> network, on_device;
  std::vector<std::vector<double>> by_step(steps);
  // Waiting after each step takes time on a GPU, so the whole network is timed in a separate pass there.
  const bool one_pass = device_.caps().runs_on_host();
  std::optional<Tensor> output;
  Buffer locked_input, locked_output;
  if (engine_) {
    output.emplace(ElementType::f32, engine_->output_shape(images()));
    locked_input = device_.page_lock(inputs_[0].raw(), inputs_[0].bytes());
    locked_output = device_.page_lock(output->values<float>().data(), output->bytes());
  }
  const auto pass = [&](std::vector<double>* seconds) {
    if (engine_) return run_to(output->values<float>().data(), seconds);
    run(seconds);
  };
  for (int64_t i = 0; i < repeat; ++i) {
    std::vector<double> seconds(steps, 0);
    if (!one_pass) pass(&seconds);
    const Clock::time_point begin = Clock::now();
    pass(one_pass ? &seconds : nullptr);
    network.push_back(seconds_since(begin));
    if (!one_pass && engine_) {
      on_device.push_back(engine_->time_on_device(inputs_[0].raw(), images(), output->values<float>().data()));
    }
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
