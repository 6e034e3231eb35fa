// Implements Session: prepares a model for each input shape, runs it, and reports its plan.

#include "convlab/session/session.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/device/devices.h"
#include "convlab/kernels/step_work.h"
#include "convlab/model/formats/zoo.h"
#include "convlab/model/onnx/onnx_images.h"
#include "convlab/plan/plan_options.h"
#include "convlab/session/timing.h"

namespace convlab {
namespace {

/// The number of shapes that stay prepared.
constexpr size_t kKept = 4;

/// Compares all sizes except the number of images.
bool same_image(const Shape& one, const Shape& other) {
  return one.size() == other.size() && std::equal(one.begin() + 1, one.end(), other.begin() + 1);
}

Tensor copied(const ConstArray& array) {
  Tensor tensor(array.type, array.shape);
  if (tensor.bytes() > 0) std::memcpy(tensor.raw(), array.data, tensor.bytes());
  return tensor;
}

/// Returns the number of fork() calls between this process and its first ancestor that called this function. Each child
/// counts for itself.
int forks() {
  static std::atomic<int> count = [] {
    ::pthread_atfork(nullptr, nullptr, [] { ++count; });
    return 0;
  }();
  return count;
}

std::vector<Session::Step> steps_of(const Plan& plan) {
  std::vector<Session::Step> steps;
  for (const PlanStep& step : plan.steps) {
    steps.push_back({.name = step.name,
                     .op = step.op_name(),
                     .kernel = std::string(step.kernel->info.name),
                     .flops = flops(step.what)});
  }
  return steps;
}

}  // namespace

std::shared_ptr<const Session::Model> Session::Model::load(const std::string& name) {
  Model model{.weights = std::make_shared<SharedWeights>()};
  try {
    model.graph = load_model(name);
    model.graph.share_elements();
  } catch (const OpenSize&) {
    model.graph = load_interface(name);
    model.again = name;
  }
  return std::make_shared<const Model>(std::move(model));
}

Graph Session::Model::graph_for(const std::vector<Shape>& inputs) const {
  if (again.empty()) return graph.clone();
  std::map<std::string, Shape> shapes;
  for (size_t i = 0; i < inputs.size(); ++i) shapes[graph.name_of(graph.inputs[i])] = inputs[i];
  Graph result = load_model(again, shapes);
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const std::string& name = graph.name_of(graph.inputs[i]);
    if (i < result.inputs.size() && result.name_of(result.inputs[i]) == name) continue;
    throw bad_input("{}: no output depends on input '{}' for these shapes", graph.name, name);
  }
  return result;
}

Session::Session(const std::string& model, const SessionOptions& options) : Session(Model::load(model), options) {}

Session::Session(std::shared_ptr<const Model> shared, const SessionOptions& options)
    : options_(options),
      device_(open_device(options.device, {.threads = options.threads})),
      shared_(std::move(shared)),
      engine_options_{.plan = {.mode = parse_plan(options.plan, "plan"), .math = parse_math(options.math, "math")},
                      .weights = shared_->weights},
      forks_(forks()) {
  require_math(engine_options_.plan.math, device_->caps().kind, "math");
  if (options.batch_wait.count() < 0 || options.batch_images < 1) {
    throw bad_input("batch_wait_us must be >= 0 and batch_images >= 1; got {} and {}", options.batch_wait.count(),
                    options.batch_images);
  }
  for (const GraphInput& input : model().inputs) inputs_.push_back({model().name_of(input), input.type, input.shape});
  for (const GraphOutput& output : model().outputs) outputs_.push_back({model().name_of(output), output.type, {}});
  const bool any_count = shared_->again.empty() && inputs_.size() == 1 && outputs_.size() == 1;
  if (options.batch_wait.count() == 0 || !any_count) return;
  batcher_ = std::make_unique<Batcher>(options.batch_wait, options.batch_images, mutex_,
                                       [this](const ConstArray& input, const Array& output) {
                                         const Inputs given = inputs_of({&input, 1}, true);
                                         run_ready(ready_for(given), given, {&output, 1});
                                       });
}

Session Session::clone(const SessionOptions& options) const {
  require_own_process();
  return Session(shared_, options);
}

bool Session::is_forked_child() const { return forks_ != forks(); }

/// Locks the session for the calling thread. Throws Error(unavailable) in a forked child.
std::unique_lock<std::mutex> Session::turn() const {
  require_own_process();
  return std::unique_lock(mutex_);
}

void Session::require_own_process() const {
  if (!is_forked_child()) return;
  throw unavailable("{}: the session was opened before this process was forked; open a new session in this process",
                    model().name);
}

bool Session::Ready::serves(const std::vector<Shape>& wanted, ElementType element) const {
  if (element != type) return false;
  if (wanted == shapes) return true;
  // A batch size is limited by the number of images it was made for, so it would be slow for more images.
  return any_count && same_image(wanted[0], shapes[0]) && wanted[0][0] <= shapes[0][0];
}

void Session::require_inputs(std::span<const ConstArray> inputs) const {
  if (inputs.size() == inputs_.size()) return;
  std::string names;
  for (const Value& value : inputs_) names += (names.empty() ? "'" : ", '") + value.name + "'";
  throw bad_input("{}: wrong number of inputs: expected {} ({}), got {}", model().name, inputs_.size(), names,
                  inputs.size());
}

Session::Inputs Session::inputs_of(std::span<const ConstArray> inputs, bool with_data) const {
  require_inputs(inputs);
  Inputs result{.type = input_type(inputs, &ConstArray::type), .on_device = !inputs.empty() && inputs[0].on_device};
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ConstArray& each = inputs[i];
    result.shapes.push_back(each.shape);
    if (!with_data) continue;
    if (each.data == nullptr && element_count(each.shape) > 0) {
      throw bad_input("{}: input '{}' has no data", model().name, inputs_[i].name);
    }
    if (each.on_device != result.on_device) {
      throw bad_input("{}: arrays must be all in host memory or all in GPU memory", model().name);
    }
    if (each.on_device) require_on_device(each.data, inputs_[i].name);
    if (each.type == result.type) {
      result.data.push_back(each.data);
    } else if (each.on_device) {
      throw bad_input("{}: input '{}' in GPU memory must be float32, or uint8 if all inputs are, got {}", model().name,
                      inputs_[i].name, name_of(each.type));
    } else {
      result.converted.push_back(convlab::converted(copied(each), result.type));
      result.data.push_back(result.converted.back().raw());
    }
  }
  return result;
}

Session::Ready& Session::ready_for(const Inputs& inputs) {
  device_->make_current();
  for (auto each = ready_.begin(); each != ready_.end(); ++each) {
    if (!each->serves(inputs.shapes, inputs.type)) continue;
    ready_.splice(ready_.begin(), ready_, each);
    return ready_.front();
  }
  EngineOptions options = engine_options_;
  options.plan.input = inputs.type;
  if (!shared_->again.empty()) options.weights = std::make_shared<SharedWeights>();  // a reread graph has new constants
  Ready ready{.shapes = inputs.shapes, .type = inputs.type, .model = {}};
  ready.model = std::make_unique<ReadyModel>(shared_->graph_for(inputs.shapes), inputs.shapes, *device_, options);
  ready.any_count = shared_->again.empty() && ready.model->splits();
  std::erase_if(ready_, [&](const Ready& other) {  // models for fewer images are no longer needed
    return ready.any_count && ready.serves(other.shapes, other.type);
  });
  ready_.push_front(std::move(ready));
  if (ready_.size() > kKept) ready_.pop_back();
  return ready_.front();
}

std::vector<Shape> Session::output_shapes(std::span<const ConstArray> inputs) {
  const auto lock = turn();
  const Inputs given = inputs_of(inputs, false);
  return ready_for(given).model->output_shapes(given.images());
}

void Session::require_on_device(const void* data, const std::string& name) const {
  if (device_->caps().shares_host_memory()) {
    throw bad_input("{}: array '{}' is in GPU memory, but the session runs on {}", model().name, name,
                    device_->caps().name);
  }
  if (!device_->reaches(data)) {
    throw bad_input("{}: array '{}' is not in the memory of {}", model().name, name, device_->caps().name);
  }
}

void Session::require_outputs(std::span<const Array> outputs, const std::vector<Shape>& shapes, bool on_device) const {
  if (outputs.size() != outputs_.size()) {
    throw bad_input("{}: wrong number of outputs: expected {}, got {}", model().name, outputs_.size(), outputs.size());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto& [name, type, unused] = outputs_[i];
    if (outputs[i].shape != shapes[i] || outputs[i].type != type) {
      throw bad_input("{}: output '{}' must be {} {}, got {} {}", model().name, name, name_of(type), to_text(shapes[i]),
                      name_of(outputs[i].type), to_text(outputs[i].shape));
    }
    if (outputs[i].data == nullptr) throw bad_input("{}: output '{}' has no data", model().name, name);
    if (outputs[i].on_device != on_device) {
      throw bad_input("{}: arrays must be all in host memory or all in GPU memory", model().name);
    }
    if (!on_device) continue;
    require_on_device(outputs[i].data, name);
    if (type != ElementType::f32) {
      throw bad_input("{}: output '{}' is {}, which is not supported in GPU memory; pass arrays in host memory",
                      model().name, name, name_of(type));
    }
  }
}

void Session::run(std::span<const ConstArray> inputs, std::span<const Array> outputs, void* stream) {
  require_own_process();
  if (batcher_ && inputs.size() == 1 && outputs.size() == 1 && batcher_->run(inputs[0], outputs[0])) return;
  const auto lock = turn();
  const Inputs given = inputs_of(inputs, true);
  if (stream != nullptr && !given.on_device) {
    throw bad_input("{}: with a stream, arrays must be in GPU memory", model().name);
  }
  Ready& ready = ready_for(given);
  require_outputs(outputs, ready.model->output_shapes(given.images()), given.on_device);
  if (given.on_device) return run_on_device(ready, given, outputs, stream);
  run_ready(ready, given, outputs);
  if (batcher_ && !batcher_->learned() && ready.model->splits()) learn(inputs[0], outputs[0]);
}

/// Batches calls with arrays like these from now on, and prepares the model for a full batch.
void Session::learn(const ConstArray& input, const Array& output) {
  const bool converted = input.type != ElementType::f32 && input.type != ElementType::u8;
  if (converted || output.type != ElementType::f32) return;
  ConstArray most = input;
  most.shape[0] = batcher_->most();
  ready_for(inputs_of({&most, 1}, false));
  batcher_->learn(input, output);
}

void Session::run_ready(Ready& ready, const Inputs& inputs, std::span<const Array> outputs) const {
  std::vector<Tensor> results;  // float32 results of the outputs that have another type
  std::vector<void*> to;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const bool direct = outputs[i].type == ElementType::f32;
    if (!direct) results.emplace_back(ElementType::f32, outputs[i].shape);
    to.push_back(direct ? outputs[i].data : results.back().raw());
  }
  ready.model->run(inputs.data, inputs.images(), to);
  size_t next = 0;
  for (const Array& output : outputs) {
    if (output.type == ElementType::f32) continue;
    const Tensor result = convlab::converted(results[next++], output.type);
    if (result.bytes() > 0) std::memcpy(output.data, result.raw(), result.bytes());
  }
}

void Session::run_on_device(Ready& ready, const Inputs& inputs, std::span<const Array> outputs, void* stream) const {
  Stream& own = ready.model->stream();
  if (stream != nullptr) own.wait_for_native(stream);
  std::vector<void*> to;
  for (const Array& output : outputs) to.push_back(output.data);
  ready.model->run_in_memory(inputs.data, inputs.images(), to);
  if (stream != nullptr) return own.hold_native(stream);
  own.synchronize();
}

std::vector<Session::Step> Session::plan(std::span<const ConstArray> inputs) {
  const auto lock = turn();
  return steps_of(ready_for(inputs_of(inputs, false)).model->plan());
}

std::vector<Session::Step> Session::profile(std::span<const ConstArray> inputs, int repeat) {
  if (repeat < 1) throw bad_input("repeat must be at least 1, got {}", repeat);
  const auto lock = turn();
  const Inputs given = inputs_of(inputs, true);
  if (given.on_device)
    throw bad_input("{}: profiling is not supported for arrays in GPU memory; pass arrays in host memory",
                    model().name);
  Ready& ready = ready_for(given);
  std::vector<Step> steps = steps_of(ready.model->plan());
  const std::vector<double> seconds = time_steps(*ready.model, given.data, given.images(), repeat);
  for (size_t step = 0; step < steps.size(); ++step) steps[step].seconds = seconds[step];
  return steps;
}

}  // namespace convlab
