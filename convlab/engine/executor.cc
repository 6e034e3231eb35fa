// Runs a graph with any number of inputs and outputs on one device, for inputs of fixed shapes.

#include "convlab/engine/executor.h"

#include <utility>

#include "convlab/base/error.h"
#include "convlab/engine/device_constants.h"
#include "convlab/engine/plan_facts.h"
#include "convlab/engine/ready_plan.h"
#include "convlab/engine/run_memory.h"
#include "convlab/plan/planned_graph.h"
#include "convlab/plan/planner.h"

namespace convlab {
namespace {

std::vector<void*> addresses_of(const std::vector<Buffer>& buffers) {
  std::vector<void*> addresses;
  for (const Buffer& buffer : buffers) addresses.push_back(buffer.data());
  return addresses;
}

}  // namespace

/// Members are in order of dependency: each may use those above it.
struct Executor::Parts {
  Parts(Graph model, InputShapes inputs, Device& on, const EngineOptions& wanted)
      : device(on),
        options(wanted),
        stream((device.make_current(), device.make_stream())),
        graph(planned_graph(std::move(model), inputs, options.plan.mode, device.caps().threads).graph),
        constants(graph, device, *stream),
        memory(device),
        plan(make_plan(graph, inputs, device.caps(), options.plan), constants, memory) {
    constants.expect(plan.plan(), true);
    if (options.weights && !device.caps().shares_host_memory()) options.weights->unify(graph);
    memory.make_room(plan.plan(), options.observer);
    SharedWeights own;
    const auto seconds = plan.prepare(device, *stream, options.weights ? *options.weights : own, options.observer);
    prepare_seconds = seconds.value_or(0);
    if (seconds) return;
    for (const PlanStep& step : plan.plan().steps) constants.note_packed(step);
  }

  Device& device;
  EngineOptions options;
  std::unique_ptr<Stream> stream;
  Graph graph;
  DeviceConstants constants;
  RunMemory memory;
  ReadyPlan plan;
  double prepare_seconds = 0;
};

Executor::Executor(Graph graph, InputShapes inputs, Device& device, const EngineOptions& options)
    : parts_(std::make_unique<Parts>(std::move(graph), inputs, device, options)) {}

Executor::~Executor() = default;

const Graph& Executor::graph() const { return parts_->graph; }
const Plan& Executor::plan() const { return parts_->plan.plan(); }
double Executor::prepare_seconds() const { return parts_->prepare_seconds; }
Stream& Executor::stream() { return *parts_->stream; }

std::vector<Tensor> Executor::run(std::span<const Tensor> inputs) { return run(inputs, nullptr); }

std::vector<Tensor> Executor::run_timed(std::span<const Tensor> inputs, std::vector<double>& seconds) {
  seconds.resize(plan().steps.size());
  return run(inputs, &seconds);
}

std::vector<Tensor> Executor::run(std::span<const Tensor> inputs, std::vector<double>* seconds) {
  const Graph& graph = parts_->graph;
  const Plan& plan = this->plan();
  if (inputs.size() != plan.inputs.size()) {
    throw bad_input("{}: expected {} inputs, got {}", graph.name, plan.inputs.size(), inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].shape() == plan.inputs[i] && inputs[i].type() == plan.options.input) continue;
    throw bad_input("{}: input '{}': expected {} {}, got {} {}", graph.name, graph.name_of(graph.inputs[i]),
                    name_of(plan.options.input), to_text(plan.inputs[i]), name_of(inputs[i].type()),
                    to_text(inputs[i].shape()));
  }
  std::vector<const void*> from;
  for (const Tensor& input : inputs) from.push_back(input.raw());
  std::vector<Tensor> outputs;
  std::vector<void*> to;
  for (const Shape& shape : plan.outputs) to.push_back(outputs.emplace_back(ElementType::f32, shape).raw());
  run(from, to, seconds);
  return outputs;
}

void Executor::run(std::span<const void* const> inputs, std::span<void* const> outputs, std::vector<double>* seconds) {
  const RunMemory& memory = parts_->memory;
  parts_->device.make_current();
  Stream& stream = *parts_->stream;
  if (parts_->device.caps().shares_host_memory()) {
    parts_->plan.launch(stream, inputs, outputs, parts_->options.observer, seconds);
    return stream.synchronize();
  }
  for (size_t i = 0; i < inputs.size(); ++i) stream.upload(memory.inputs()[i].data(), inputs[i], input_bytes(i));
  parts_->plan.launch(stream, addresses_of(memory.inputs()), addresses_of(memory.outputs()), parts_->options.observer,
                      seconds);
  for (size_t i = 0; i < outputs.size(); ++i) stream.download(outputs[i], memory.outputs()[i].data(), output_bytes(i));
  stream.synchronize();
}

void Executor::run_in_memory(std::span<const void* const> inputs, std::span<void* const> outputs) {
  const RunMemory& memory = parts_->memory;
  parts_->device.make_current();
  Stream& stream = *parts_->stream;
  const auto aligned = [](const void* address) { return reinterpret_cast<uintptr_t>(address) % kGpuAlignment == 0; };
  std::vector<const void*> from(inputs.begin(), inputs.end());
  std::vector<void*> to(outputs.begin(), outputs.end());
  for (size_t i = 0; i < from.size(); ++i) {
    if (aligned(from[i])) continue;
    from[i] = memory.inputs()[i].data();
    stream.copy(memory.inputs()[i].data(), inputs[i], input_bytes(i));
  }
  for (size_t i = 0; i < to.size(); ++i) {
    if (!aligned(to[i])) to[i] = memory.outputs()[i].data();
  }
  parts_->plan.launch(stream, from, to, parts_->options.observer, nullptr);
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i] != outputs[i]) stream.copy(outputs[i], to[i], output_bytes(i));
  }
}

size_t Executor::input_bytes(size_t index) const {
  return static_cast<size_t>(bytes_of(plan().inputs[index], plan().options.input));
}

size_t Executor::output_bytes(size_t index) const {
  return static_cast<size_t>(bytes_of(plan().outputs[index], ElementType::f32));
}

}  // namespace convlab
