// Runs a graph with one input and one output on one device, batch by batch.

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
  Parts(Graph model, const Shape& input, Device& on, const EngineOptions& wanted)
      : device(on),
        options(wanted),
        stream(stream_on(device)),
        graph(std::move(model), input, device.caps(), options),
        plans(graph, input.empty() ? 1 : input[0], device, *stream, options),
        pipeline(graph, plans, device, *stream, options) {}

  Device& device;
  EngineOptions options;
  std::unique_ptr<Stream> stream;
  BatchedGraph graph;
  ReadyPlans plans;
  Pipeline pipeline;
};

Engine::Engine(Graph graph, const Shape& input, Device& device, const EngineOptions& options)
    : parts_(std::make_unique<Parts>(std::move(graph), input, device, options)) {
  parts_->graph.require_count(input.empty() ? 1 : input[0], plan().outputs[0]);
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

Shape Engine::output_shape(int64_t n) const {
  parts_->graph.require_count(n, plan().outputs[0]);
  return parts_->graph.of_images(plan().outputs[0], n);
}

Shape Engine::scores_shape(int64_t n) const {
  parts_->graph.require_count(n, plan().outputs[0]);
  return parts_->graph.of_images(parts_->options.labels ? plan().steps.back().what.inputs[0].shape : plan().outputs[0],
                                 n);
}

void Engine::run(const void* images, int64_t n, float* output) {
  for_each_batch(images, n, output, [&](const Batch& batch) { run_batch(batch, nullptr); });
}

void Engine::run_in_memory(const void* images, int64_t n, float* output) {
  if (parts_->device.caps().shares_host_memory()) return run(images, n, output);
  or_settle(
      [&] { give_batches(images, n, output, [&](const Batch& batch) { parts_->pipeline.run_in_memory(batch); }); });
}

std::vector<double> Engine::run_timed(const void* images, int64_t n, float* output) {
  std::vector<double> seconds(plan().steps.size(), 0);
  for_each_batch(images, n, output, [&](const Batch& batch) {
    const std::vector<size_t> places = places_in(plan(), parts_->plans.of(batch.images)->plan());
    std::vector<double> of_batch(places.size(), 0);
    run_batch(batch, &of_batch);
    for (size_t i = 0; i < places.size(); ++i) seconds[places[i]] += of_batch[i];
  });
  return seconds;
}

double Engine::time_on_device(const void* images, int64_t n, float* output) {
  double seconds = 0;
  for_each_batch(images, n, output, [&](const Batch& batch) {
    seconds += parts_->device.caps().shares_host_memory() ? stream().time([&] { run_batch(batch, nullptr); })
                                                          : parts_->pipeline.time(batch);
  });
  return seconds;
}

Tensor Engine::run(const Tensor& input) {
  const BatchedGraph& graph = parts_->graph;
  const ElementType type = parts_->options.plan.input;
  const int64_t n = input.shape().empty() ? 1 : input.shape()[0];
  if (input.shape() != graph.input_of(n) || input.type() != type) {
    throw bad_input("{}: expected an input of {} {}, got {} {}", graph.graph().name, name_of(type),
                    to_text(graph.input_of(n)), name_of(input.type()), to_text(input.shape()));
  }
  const Shape shape = output_shape(n);
  require_memory(bytes_of(shape, ElementType::f32), fmt::format("{}: the output needs", graph.graph().name),
                 "use fewer images");
  Tensor output(ElementType::f32, shape);
  run(input.raw(), n, output.values<float>().data());
  return output;
}

/// Calls work(batch) for each batch.
template <class Work>
void Engine::give_batches(const void* images, int64_t n, float* output, Work work) {
  const BatchedGraph& graph = parts_->graph;
  parts_->device.make_current();
  graph.require_count(n, plan().outputs[0]);
  const int64_t output_count = element_count(plan().outputs[0]);
  size_t index = 0;
  for (int64_t first = 0; first < n; first += graph.images_from(first, n)) {
    const int64_t full = graph.batch(), count = graph.images_from(first, n);
    work(Batch{.index = index++,
               .images = count,
               .from = static_cast<const unsigned char*>(images) + first * graph.image_bytes(),
               .to = output + first / full * output_count + first % full * (output_count / full),
               .alone = count == n});
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
void Engine::for_each_batch(const void* images, int64_t n, float* output, Work work) {
  or_settle([&] {
    give_batches(images, n, output, work);
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
