// Times passes of a model and their steps.

#include "convlab/session/timing.h"

#include "convlab/base/clock.h"
#include "convlab/measure/summary.h"

namespace convlab {
namespace {

/// Returns the median of each step's seconds. `passes`: at least one, each with the same steps.
std::vector<double> medians(const std::vector<std::vector<double>>& passes) {
  std::vector<double> result;
  for (size_t step = 0; step < passes.front().size(); ++step) {
    std::vector<double> seconds;
    for (const std::vector<double>& pass : passes) seconds.push_back(pass[step]);
    result.push_back(median(seconds));
  }
  return result;
}

}  // namespace

PassTimes time_passes(const DeviceCaps& caps, int64_t repeat, const Pass& pass) {
  const bool on_host = caps.runs_on_host();
  std::vector<double> network, on_device;
  std::vector<std::vector<double>> steps(static_cast<size_t>(repeat));
  for (std::vector<double>& of_pass : steps) {
    if (!on_host) {
      pass.run(&of_pass);
      on_device.push_back(pass.on_device());
    }
    network.push_back(pass.run(on_host ? &of_pass : nullptr));
  }
  return {.network_s = median(network),
          .device_network_s = median(on_host ? network : on_device),
          .steps_s = medians(steps)};
}

PassTimes time_passes(ReadyModel& model, std::span<const Tensor> inputs, int64_t repeat) {
  const int64_t n = images_of(inputs[0].shape());
  std::vector<Tensor> outputs = model.make_outputs(n);
  std::vector<Buffer> locked;
  for (const Tensor& each : inputs) locked.push_back(model.page_lock(each.raw(), each.bytes()));
  for (const Tensor& each : outputs) locked.push_back(model.page_lock(std::as_const(each).raw(), each.bytes()));
  const std::vector<const void*> from = input_addresses(inputs);
  const std::vector<void*> to = output_addresses(outputs);
  const auto run = [&](std::vector<double>* steps) {
    const Clock::time_point begin = Clock::now();
    if (steps != nullptr) {
      *steps = model.run_timed(from, n, to);
    } else {
      model.run(from, n, to);
    }
    return seconds_since(begin);
  };
  return time_passes(model.caps(), repeat,
                     {.run = run, .on_device = [&] { return model.time_on_device(from, n, to); }});
}

std::vector<double> time_steps(ReadyModel& model, InputArrays inputs, int64_t n, int64_t repeat) {
  std::vector<Tensor> outputs = model.make_outputs(n);
  const std::vector<void*> to = output_addresses(outputs);
  model.run_timed(inputs, n, to);
  std::vector<std::vector<double>> passes(static_cast<size_t>(repeat));
  for (std::vector<double>& steps : passes) steps = model.run_timed(inputs, n, to);
  return medians(passes);
}

}  // namespace convlab
