#include "convlab/engine/executor.h"

#include <utility>

#include "convlab/base/error.h"
#include "convlab/engine/device_constants.h"
#include "convlab/engine/plan_facts.h"
#include "convlab/engine/ready_plan.h"
#include "convlab/engine/run_memory.h"
#include "convlab/plan/planned_graph.h"

namespace convlab {
/// In the order in which they depend on each other.
struct Executor::Parts {
  Parts(Graph model, InputShapes inputs, Device& on, const EngineOptions& wanted)
      : device(on),
        options(wanted),
        stream((device.make_current(), device.make_stream())),
        graph(planned_graph(std::move(model), inputs, options.plan.mode, device.caps().threads).graph),
        constants(graph, device, *stream),
        memory(device),
        plan(make_plan(graph, inputs, device.caps(), options.plan), constants, memory, nullptr) {
    constants.place(plan.plan(), options.observer);
    constants.expect(plan.plan(), true);
    memory.make_room(plan.plan(), options.observer);
    prepare_seconds = plan.prepare(device, *stream);
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

std::vector<Tensor> Executor::run(std::span<const Tensor> inputs) { return run(inputs, nullptr); }

std::vector<Tensor> Executor::run_timed(std::span<const Tensor> inputs, std::vector<double>& seconds) {
  seconds.resize(plan().steps.size());
  return run(inputs, &seconds);
}

std::vector<Tensor> Executor::run(std::span<const Tensor> inputs, std::vector<double>* seconds) {
  const Graph& graph = parts_->graph;
  const Plan& plan = this->plan();
  if (inputs.size() != plan.inputs.size()) {
    throw bad_input("{}: {} inputs are given; it takes {}", graph.name, inputs.size(), plan.inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].shape() == plan.inputs[i] && inputs[i].type() == plan.options.input) continue;
    throw bad_input("{}: '{}' is given {} {}; {} {} is wanted", graph.name, graph.name_of(graph.inputs[i]),
                    name_of(inputs[i].type()), to_text(inputs[i].shape()), name_of(plan.options.input),
                    to_text(plan.inputs[i]));
  }
  std::vector<Tensor> outputs;
  for (const Shape& shape : plan.outputs) outputs.emplace_back(ElementType::f32, shape);

  parts_->device.make_current();
  Stream& stream = *parts_->stream;
  std::vector<const void*> from;
  std::vector<void*> to;
  const bool in_place = reads_host_memory(parts_->device);
  const RunMemory& memory = parts_->memory;
  for (size_t i = 0; i < inputs.size(); ++i) {
    from.push_back(in_place ? inputs[i].raw() : memory.inputs()[i].data());
    if (!in_place) stream.upload(memory.inputs()[i].data(), inputs[i].raw(), inputs[i].bytes());
  }
  for (size_t i = 0; i < outputs.size(); ++i) to.push_back(in_place ? outputs[i].raw() : memory.outputs()[i].data());
  parts_->plan.launch(stream, from, to, parts_->options.observer, seconds);
  for (size_t i = 0; i < outputs.size() && !in_place; ++i) {
    stream.download(outputs[i].raw(), memory.outputs()[i].data(), outputs[i].bytes());
  }
  stream.synchronize();
  return outputs;
}

}  // namespace convlab
