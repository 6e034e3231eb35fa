// How an engine has a plan on its device: memory and weights, once, then launch after launch.

#include <algorithm>
#include <utility>

#include "convlab/base/clock.h"
#include "convlab/base/error.h"
#include "convlab/engine/batch_size.h"
#include "convlab/engine/engine_parts.h"

namespace convlab {
namespace {

/// Plans kept besides the full batch's: a last batch's size comes again and again, and so do a batch's chunks.
constexpr size_t kPlansKept = 16;

bool same_steps(const Plan& a, const Plan& b) {
  return std::equal(
      a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(), [](const PlanStep& x, const PlanStep& y) {
        return x.name == y.name && x.conv == y.conv && x.op == y.op && x.prepared_bytes == y.prepared_bytes;
      });
}

}  // namespace

std::shared_ptr<Engine::Ready> Engine::ready_for(int64_t n) {
  for (const std::shared_ptr<Ready>& each : ready_) {
    if (each->n == n) return each;
  }
  auto ready = std::make_shared<Ready>();
  ready->n = n;
  {
    const Observed part(options_.observer, {Stage::planning});
    ready->plan = make_plan(graph_, with_images(n), device_.caps(), options_.plan);
  }
  const int64_t wanted = run_bytes(ready->plan);
  if (wanted > device_.caps().memory_bytes) {
    throw bad_input("{}: a batch of {} images needs {} bytes of memory, {} has {}{}", graph_.name, n, wanted,
                    device_.caps().description, device_.caps().memory_bytes,
                    n > 1 ? "; give a smaller --batch" : ", too little for a single image");
  }
  make_room(ready->plan);
  place_constants(ready->plan);
  if (!ready_.empty() && same_steps(ready_.front()->plan, ready->plan)) {
    ready->full = ready_.front().get();
  } else {
    prepare(*ready);
  }
  if (ready_.size() > kPlansKept) ready_.erase(ready_.begin() + 1);
  ready_.push_back(ready);
  return ready;
}

/// Memory for a run of the plan; what is there and large enough stays. What was recorded with an address that is no
/// more goes.
void Engine::make_room(const Plan& plan) {
  const Observed part(options_.observer, {Stage::memory});
  const auto grow = [&](Buffer& buffer, int64_t bytes) {
    if (static_cast<int64_t>(buffer.bytes()) >= bytes) return;
    schedules_.clear();
    buffer = {};
    buffer = device_.allocate(static_cast<size_t>(bytes));
  };
  grow(arena_, plan.arena_bytes);
  if (reads_host_memory(device_)) return;
  grow(feeds_[0].images, bytes_of(plan.input, options_.plan.input));
  grow(output_buffer_, bytes_of(plan.output, ElementType::f32));
}

void Engine::place_constants(const Plan& plan) {
  if (reads_host_memory(device_)) return;
  const Observed part(options_.observer, {Stage::weights});
  for (const PlanStep& step : plan.steps) {
    for (const Location& input : step.inputs) {
      const auto value = static_cast<ValueId>(input.at);
      if (input.place != Location::Place::constant || constants_.contains(value)) continue;
      const Tensor& tensor = graph_.constants.at(value);
      Buffer buffer = device_.allocate(tensor.bytes());
      stream_->upload(buffer.data(), tensor.raw(), tensor.bytes());
      constants_.emplace(value, std::move(buffer));
    }
  }
  stream_->synchronize();
}

void Engine::prepare(Ready& ready) {
  const Observed part(options_.observer, {Stage::weights});
  for (const PlanStep& step : ready.plan.steps) {
    ready.prepared.push_back(step.prepared_bytes > 0 ? device_.allocate(step.prepared_bytes) : Buffer());
  }
  const auto begin = Clock::now();
  for (size_t i = 0; i < ready.plan.steps.size(); ++i) {
    visit(
        ready, i, nullptr, nullptr,
        [&](const ConvKernel& kernel, const ConvArgs& args) {
          if (kernel.prepare != nullptr) kernel.prepare(args, *stream_);
        },
        [&](const OpKernel& kernel, const OpArgs& args) {
          if (kernel.prepare != nullptr) kernel.prepare(args, *stream_);
        });
  }
  stream_->synchronize();
  if (ready_.empty()) prepare_seconds_ = seconds_since(begin);
}

/// An array's address; null for those of a run when there is none yet, that is, when weights are prepared.
const void* Engine::address(const Location& location, const void* input, const void* output) const {
  switch (location.place) {
    case Location::Place::input:
      return input;
    case Location::Place::output:
      return output;
    case Location::Place::constant: {
      const auto value = static_cast<ValueId>(location.at);
      return reads_host_memory(device_) ? graph_.constants.at(value).raw() : constants_.at(value).data();
    }
    case Location::Place::arena:
      return input == nullptr ? nullptr : static_cast<const unsigned char*>(arena_.data()) + location.at;
  }
  return nullptr;
}

/// Calls the one that fits the step with its kernel and arguments.
template <class OnConv, class OnOp>
void Engine::visit(Ready& ready, size_t i, const void* input, void* output, OnConv on_conv, OnOp on_op) {
  const PlanStep& step = ready.plan.steps[i];
  ready.addresses.clear();
  for (const Location& each : step.inputs) {
    ready.addresses.push_back(static_cast<const float*>(address(each, input, output)));
  }
  auto* y = static_cast<float*>(const_cast<void*>(address(step.output, input, output)));
  void* workspace = step.workspace_bytes > 0 ? static_cast<unsigned char*>(arena_.data()) + step.workspace_at : nullptr;
  if (const ConvStep* conv = step.conv_step()) {
    const std::vector<const float*>& x_w_bias = ready.addresses;
    on_conv(*step.conv, ConvArgs{.step = *conv,
                                 .x = x_w_bias[0],
                                 .w = x_w_bias[1],
                                 .bias = x_w_bias.size() > 2 ? x_w_bias[2] : nullptr,
                                 .y = y,
                                 .prepared = ready.prepared_for(i),
                                 .workspace = workspace});
  } else {
    on_op(*step.op, OpArgs{.step = *step.op_step(),
                           .inputs = ready.addresses,
                           .output = y,
                           .prepared = ready.prepared_for(i),
                           .workspace = workspace,
                           .turn = ready.turn});
  }
}

void Engine::launch(Ready& ready, const void* input, void* output, std::vector<double>* seconds) {
  for (size_t i = 0; i < ready.plan.steps.size(); ++i) {
    if (seconds != nullptr) stream_->synchronize();
    const auto begin = Clock::now();
    const PlanStep& step = ready.plan.steps[i];
    const Observed part(options_.observer, {Stage::step, step.name, step.kernel_name()});
    visit(
        ready, i, input, output, [&](const ConvKernel& kernel, const ConvArgs& args) { kernel.launch(args, *stream_); },
        [&](const OpKernel& kernel, const OpArgs& args) { kernel.launch(args, *stream_); });
    if (seconds == nullptr) continue;
    stream_->synchronize();
    (*seconds)[i] += seconds_since(begin);
  }
  ++ready.turn;
}

}  // namespace convlab
