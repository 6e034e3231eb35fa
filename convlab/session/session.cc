#include "convlab/session/session.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/measure/summary.h"
#include "convlab/model/formats/zoo.h"
#include "convlab/plan/words.h"

namespace convlab {
namespace {

/// Shapes that stay ready.
constexpr size_t kKept = 4;

/// All but the number of images.
bool same_image(const Shape& one, const Shape& other) {
  return one.size() == other.size() && std::equal(one.begin() + 1, one.end(), other.begin() + 1);
}

Tensor copied(const ConstArray& array) {
  Tensor tensor(array.type, array.shape);
  if (tensor.bytes() > 0) std::memcpy(tensor.raw(), array.data, tensor.bytes());
  return tensor;
}

void copy_to(const Tensor& from, const Array& to) {
  if (from.bytes() > 0) std::memcpy(to.data, from.raw(), from.bytes());
}

std::vector<Session::Step> steps_of(const Plan& plan) {
  std::vector<Session::Step> steps;
  for (const PlanStep& step : plan.steps) {
    steps.push_back(
        {.name = step.name, .op = step.op_name(), .kernel = std::string(step.kernel_name()), .flops = step.flops()});
  }
  return steps;
}

}  // namespace

Session::Session(const std::string& model, const SessionOptions& options)
    : device_(open_device(options.device, {.threads = options.threads})),
      model_(load_model(model)),
      engine_options_{.plan = {.mode = parse_plan(options.plan, "plan"), .math = parse_math(options.math, "math")}} {
  require_math(engine_options_.plan.math, device_->caps().kind, "math");
  for (const GraphInput& input : model_.inputs) inputs_.push_back({model_.name_of(input), input.type, input.shape});
  for (const GraphOutput& output : model_.outputs) outputs_.push_back({model_.name_of(output), output.type, {}});
}

bool Session::Ready::serves(const std::vector<Shape>& wanted, ElementType element) const {
  if (element != type) return false;
  if (wanted == shapes) return true;
  // Batches are as large as the first run allowed, so that an engine for few images would take many one by one.
  return engine && engine->splits() && same_image(wanted[0], shapes[0]) && wanted[0][0] <= shapes[0][0];
}

void Session::require_inputs(std::span<const ConstArray> inputs) const {
  if (inputs.size() == inputs_.size()) return;
  std::string names;
  for (const Value& value : inputs_) names += (names.empty() ? "'" : ", '") + value.name + "'";
  throw bad_input("{}: {} inputs are given; it takes {}: {}", model_.name, inputs.size(), inputs_.size(), names);
}

Session::Inputs Session::inputs_of(std::span<const ConstArray> inputs, bool with_data) const {
  require_inputs(inputs);
  const bool bytes = std::ranges::all_of(inputs, [](const ConstArray& each) { return each.type == ElementType::u8; });
  Inputs result{.type = bytes ? ElementType::u8 : ElementType::f32};
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ConstArray& each = inputs[i];
    result.shapes.push_back(each.shape);
    if (!with_data) continue;
    if (each.data == nullptr && element_count(each.shape) > 0) {
      throw bad_input("{}: '{}' has no data", model_.name, inputs_[i].name);
    }
    if (each.type == result.type) {
      result.data.push_back(each.data);
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
  Ready ready{.shapes = inputs.shapes, .type = inputs.type, .engine = {}, .executor = {}};
  if (inputs.shapes.size() == 1 && !inputs.shapes[0].empty() && outputs_.size() == 1) {
    ready.engine = std::make_unique<Engine>(model_.clone(), inputs.shapes[0], *device_, options);
    std::erase_if(ready_, [&](const Ready& other) {  // what serves fewer images is not needed any more
      return ready.engine->splits() && ready.serves(other.shapes, other.type);
    });
  } else {
    ready.executor = std::make_unique<Executor>(model_.clone(), inputs.shapes, *device_, options);
  }
  ready_.push_front(std::move(ready));
  if (ready_.size() > kKept) ready_.pop_back();
  return ready_.front();
}

std::vector<Shape> Session::output_shapes(const Ready& ready, int64_t images) const {
  if (ready.engine) return {ready.engine->output_shape(images)};
  return ready.executor->plan().outputs;
}

std::vector<Shape> Session::output_shapes(std::span<const ConstArray> inputs) {
  const std::lock_guard lock(mutex_);
  const Inputs given = inputs_of(inputs, false);
  return output_shapes(ready_for(given), given.images());
}

std::vector<Tensor> Session::run_executor(Ready& ready, const Inputs& inputs, std::vector<double>* seconds) const {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < inputs.data.size(); ++i) {
    tensors.push_back(copied({inputs.data[i], inputs.type, inputs.shapes[i]}));
  }
  return seconds != nullptr ? ready.executor->run_timed(tensors, *seconds) : ready.executor->run(tensors);
}

void Session::run(std::span<const ConstArray> inputs, std::span<const Array> outputs) {
  const std::lock_guard lock(mutex_);
  const Inputs given = inputs_of(inputs, true);
  Ready& ready = ready_for(given);
  const std::vector<Shape> shapes = output_shapes(ready, given.images());
  if (outputs.size() != outputs_.size()) {
    throw bad_input("{}: {} outputs are asked for; it gives {}", model_.name, outputs.size(), outputs_.size());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].shape != shapes[i] || outputs[i].type != outputs_[i].type) {
      throw bad_input("{}: the array for '{}' is {} {}; it gives {} {}", model_.name, outputs_[i].name,
                      name_of(outputs[i].type), to_text(outputs[i].shape), name_of(outputs_[i].type),
                      to_text(shapes[i]));
    }
    if (outputs[i].data == nullptr)
      throw bad_input("{}: the array for '{}' has no data", model_.name, outputs_[i].name);
  }
  if (ready.engine && outputs_[0].type == ElementType::f32) {
    return ready.engine->run(given.data[0], given.images(), static_cast<float*>(outputs[0].data));
  }
  std::vector<Tensor> results;
  if (ready.engine) {
    Tensor& result = results.emplace_back(ElementType::f32, shapes[0]);
    ready.engine->run(given.data[0], given.images(), result.values<float>().data());
  } else {
    results = run_executor(ready, given, nullptr);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const ElementType type = outputs_[i].type;
    if (type != ElementType::f32) results[i] = convlab::converted(results[i], type);
    copy_to(results[i], outputs[i]);
  }
}

std::vector<Session::Step> Session::plan(std::span<const ConstArray> inputs) {
  const std::lock_guard lock(mutex_);
  return steps_of(ready_for(inputs_of(inputs, false)).plan());
}

std::vector<Session::Step> Session::profile(std::span<const ConstArray> inputs, int repeat) {
  if (repeat < 1) throw bad_input("a profile takes at least one run, not {}", repeat);
  const std::lock_guard lock(mutex_);
  const Inputs given = inputs_of(inputs, true);
  Ready& ready = ready_for(given);
  std::vector<Step> steps = steps_of(ready.plan());
  std::vector<std::vector<double>> by_step(steps.size());
  for (int i = 0; i <= repeat; ++i) {
    std::vector<double> seconds(steps.size(), 0);
    if (ready.engine) {
      Tensor result(ElementType::f32, ready.engine->output_shape(given.images()));
      seconds = ready.engine->run_timed(given.data[0], given.images(), result.values<float>().data());
    } else {
      run_executor(ready, given, &seconds);
    }
    for (size_t step = 0; i > 0 && step < steps.size(); ++step) by_step[step].push_back(seconds[step]);
  }
  for (size_t step = 0; step < steps.size(); ++step) steps[step].seconds = median(by_step[step]);
  return steps;
}

}  // namespace convlab
