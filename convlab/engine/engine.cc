// Runs a graph on one device, batch by batch or at once.

#include "convlab/engine/engine.h"

#include <map>
#include <string>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/base/limits.h"
#include "convlab/base/text.h"
#include "convlab/engine/batched_graph.h"
#include "convlab/engine/pipeline.h"
#include "convlab/engine/plan_facts.h"
#include "convlab/engine/ready_plans.h"

namespace convlab {
namespace {

/// Makes the device current for the calling thread and returns a new stream on it.
std::unique_ptr<Stream> stream_on(Device& device) {
  device.make_current();
  return device.make_stream();
}

/// Returns, for each step of a batch's plan, the index of the full batch's step that computes its first node. For a
/// step that the full batch does not have, such as a conversion, the index of the previous step.
std::vector<size_t> places_in(const Plan& full, const Plan& plan) {
  std::vector<size_t> places;
  if (same_operators(full, plan)) {
    for (size_t i = 0; i < plan.steps.size(); ++i) places.push_back(i);
    return places;
  }
  std::map<std::string, size_t> step_of;
  for (size_t i = 0; i < full.steps.size(); ++i) {
    for (const std::string& node : split(full.steps[i].name, '+')) step_of.emplace(node, i);
  }
  size_t place = 0;
  for (const PlanStep& step : plan.steps) {
    const auto found = step_of.find(split(step.name, '+').front());
    if (found != step_of.end()) place = found->second;
    places.push_back(place);
  }
  return places;
}

}  // namespace

/// Members are in order of dependency: each may use those above it.
struct Engine::Parts {
  Parts(Graph model, InputShapes inputs, Device& on, const EngineOptions& wanted)
      : device(on),
        options(wanted),
        stream(stream_on(device)),
        graph(std::move(model), inputs, device.caps(), options),
        plans(graph, images_of(inputs), device, *stream, options),
        pipeline(graph, plans, device, *stream, options) {}

  Device& device;
  EngineOptions options;
  std::unique_ptr<Stream> stream;
  BatchedGraph graph;
  ReadyPlans plans;
  Pipeline pipeline;
};

Engine::Engine(Graph graph, InputShapes inputs, Device& device, const EngineOptions& options)
    : parts_(std::make_unique<Parts>(std::move(graph), inputs, device, options)) {
  parts_->graph.require_count(images_of(inputs), plan().outputs[0]);
}

Engine::~Engine() = default;

const Plan& Engine::plan() const { return parts_->plans.full(); }

int64_t Engine::batch() const { return parts_->graph.batch(); }

std::vector<int64_t> Engine::batches(int64_t n) const { return parts_->graph.batches(n); }

bool Engine::splits() const { return parts_->graph.splits(); }

const std::vector<Folding>& Engine::foldings() const { return parts_->graph.foldings(); }

void Engine::observe(StageObserver* observer) { parts_->options.observer = observer; }

Stream& Engine::stream() { return *parts_->stream; }

double Engine::prepare_seconds() const { return parts_->plans.prepare_seconds(); }

std::vector<Shape> Engine::output_shapes(int64_t n) const {
  parts_->graph.require_count(n, plan().outputs[0]);
  std::vector<Shape> shapes;
  for (const Shape& shape : plan().outputs) shapes.push_back(parts_->graph.of_images(shape, n));
  return shapes;
}

Shape Engine::output_shape(int64_t n) const { return output_shapes(n)[0]; }

Shape Engine::scores_shape(int64_t n) const {
  parts_->graph.require_count(n, plan().outputs[0]);
  return parts_->graph.of_images(parts_->options.labels ? plan().steps.back().what.inputs[0].shape : plan().outputs[0],
                                 n);
}

void Engine::run(InputArrays inputs, int64_t n, OutputArrays outputs) {
  for_each_batch(inputs, n, outputs, [&](const Batch& batch) { run_batch(batch, nullptr); });
}

void Engine::run_in_memory(InputArrays inputs, int64_t n, OutputArrays outputs) {
  if (parts_->device.caps().shares_host_memory()) return run(inputs, n, outputs);
  or_settle(
      [&] { give_batches(inputs, n, outputs, [&](const Batch& batch) { parts_->pipeline.run_in_memory(batch); }); });
}

std::vector<double> Engine::run_timed(InputArrays inputs, int64_t n, OutputArrays outputs) {
  std::vector<double> seconds(plan().steps.size(), 0);
  for_each_batch(inputs, n, outputs, [&](const Batch& batch) {
    const std::vector<size_t> places = places_in(plan(), parts_->plans.of(batch.images)->plan());
    std::vector<double> of_batch(places.size(), 0);
    run_batch(batch, &of_batch);
    for (size_t i = 0; i < places.size(); ++i) seconds[places[i]] += of_batch[i];
  });
  return seconds;
}

double Engine::time_on_device(InputArrays inputs, int64_t n, OutputArrays outputs) {
  double seconds = 0;
  for_each_batch(inputs, n, outputs, [&](const Batch& batch) {
    seconds += parts_->device.caps().shares_host_memory() ? stream().time([&] { run_batch(batch, nullptr); })
                                                          : parts_->pipeline.time(batch);
  });
  return seconds;
}

std::vector<Tensor> Engine::run(std::span<const Tensor> inputs) {
  const Graph& graph = parts_->graph.graph();
  const ElementType type = parts_->options.plan.input;
  const int64_t n = inputs.empty() ? 1 : images_of(inputs[0].shape());
  const std::vector<Shape> expected = parts_->graph.inputs_of(n);
  if (inputs.size() != expected.size()) {
    throw bad_input("{}: expected {} inputs, got {}", graph.name, expected.size(), inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].shape() == expected[i] && inputs[i].type() == type) continue;
    throw bad_input("{}: input '{}': expected {} {}, got {} {}", graph.name, graph.name_of(graph.inputs[i]),
                    name_of(type), to_text(expected[i]), name_of(inputs[i].type()), to_text(inputs[i].shape()));
  }
  std::vector<Tensor> outputs;
  for (const Shape& shape : output_shapes(n)) {
    require_memory(bytes_of(shape, ElementType::f32), fmt::format("{}: the output needs", graph.name),
                   "use fewer images");
    outputs.emplace_back(ElementType::f32, shape);
  }
  run(input_addresses(inputs), n, output_addresses(outputs));
  return outputs;
}

/// Calls work(batch) for each batch.
template <class Work>
void Engine::give_batches(InputArrays inputs, int64_t n, OutputArrays outputs, Work work) {
  const BatchedGraph& graph = parts_->graph;
  parts_->device.make_current();
  graph.require_count(n, plan().outputs[0]);
  if (graph.at_once()) {
    return work(Batch{.index = 0, .images = n, .from = inputs, .to = outputs, .alone = true});
  }
  const int64_t output_count = element_count(plan().outputs[0]);
  size_t index = 0;
  for (int64_t first = 0; first < n; first += graph.images_from(first, n)) {
    const int64_t full = graph.batch(), count = graph.images_from(first, n);
    const void* const from = static_cast<const unsigned char*>(inputs[0]) + first * graph.image_bytes();
    void* const to =
        static_cast<float*>(outputs[0]) + first / full * output_count + first % full * (output_count / full);
    work(Batch{.index = index++, .images = count, .from = from, .to = to, .alone = count == n});
  }
}

/// If work() throws, waits for everything enqueued before rethrowing, so that the caller may free the arrays.
template <class Work>
void Engine::or_settle(Work work) {
  try {
    work();
  } catch (...) {
    parts_->pipeline.settle();
    throw;
  }
}

/// Calls work(batch) for each batch and waits for all of them.
template <class Work>
void Engine::for_each_batch(InputArrays inputs, int64_t n, OutputArrays outputs, Work work) {
  or_settle([&] {
    give_batches(inputs, n, outputs, work);
    stream().synchronize();
  });
}

/// On a host, kernels read and write the caller's arrays directly. With `seconds` (by step; may be null), upload, steps
/// and download run serially.
void Engine::run_batch(const Batch& batch, std::vector<double>* seconds) {
  if (parts_->device.caps().shares_host_memory()) {
    parts_->plans.of(batch.images)->launch(stream(), batch.from, batch.to, parts_->options.observer, seconds);
  } else if (seconds != nullptr) {
    parts_->pipeline.run_plainly(batch, seconds);
  } else {
    parts_->pipeline.run(batch);
  }
}

}  // namespace convlab
