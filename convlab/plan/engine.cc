#include "convlab/plan/engine.h"

#include <algorithm>
#include <utility>

#include "convlab/base/checked.h"
#include "convlab/base/clock.h"
#include "convlab/base/error.h"
#include "convlab/plan/ends.h"
#include "convlab/plan/engine_parts.h"
#include "convlab/plan/simplify.h"
#include "convlab/plan/split.h"

namespace convlab {
namespace {

/// A batch's arrays on a CPU: large enough that weights read once serve many images, small beside any machine's memory.
/// Processor time of fa19, two threads, by batch: 128 images 100 %, 256 90 %, 512 85 %, 1000 84 %; fa18's falls by 5 %.
constexpr int64_t kHostArenaBytes = int64_t{128} << 20;
constexpr int64_t kMostHostImages = 1024;

/// Plans kept besides the full batch's: a last batch's size comes again and again, and so do a batch's chunks.
constexpr size_t kPlansKept = 16;

/// Bytes that a plan's run takes on the device, besides the weights.
int64_t run_bytes(const Plan& plan) {
  return checked_add(plan.arena_bytes,
                     checked_add(bytes_of(plan.input, plan.options.input), bytes_of(plan.output, ElementType::f32)));
}

bool same_steps(const Plan& a, const Plan& b) {
  return std::equal(
      a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(), [](const PlanStep& x, const PlanStep& y) {
        return x.name == y.name && x.conv == y.conv && x.op == y.op && x.prepared_bytes == y.prepared_bytes;
      });
}

}  // namespace

Engine::Engine(Graph graph, const Shape& input, Device& device, const EngineOptions& options)
    : device_(device), options_(options), input_(input) {
  device.make_current();
  stream_ = device.make_stream();
  if (options.batch < 0) throw bad_input("a batch of {} images; it must be 1 or more, or 0 to choose", options.batch);
  if (options.scale_to < 0 || (options.scale_to > 0 && (options.plan.input != ElementType::u8 || input.size() != 4))) {
    throw bad_input("{}: images scaled to a side of {} must be pixels (uint8, N x C x H x W), not {} {}", graph.name,
                    options.scale_to, name_of(options.plan.input), to_text(input));
  }
  const int64_t images = input.empty() ? 1 : input[0];
  if (images < 1) throw bad_input("{}: an input of shape {} has no images", graph.name, to_text(input));
  plan_batches(std::move(graph), images);
  ready_for(batch_);
  if (fixed_batch_) check_count(images);
}

Engine::~Engine() = default;

void Engine::plan_batches(Graph graph, int64_t images) {
  const Observed part(options_.observer, {Stage::planning});
  fold_constants(graph);
  const Shape modelled = graph.input_shape;
  const bool ranks_agree = !input_.empty() && modelled.size() == input_.size();
  if (ranks_agree) {
    // Whatever batch the file was made for: if images are computed one by one, any other gives the same.
    graph.input_shape[0] = -1;
    why_not_split_ = why_not_split(graph, network_input());
    if (why_not_split_) graph.input_shape[0] = modelled[0];
  } else {
    why_not_split_ = "the input's shape is not the model's";
  }
  fixed_batch_ = why_not_split_ && ranks_agree && modelled[0] > 0;
  if (fixed_batch_) input_[0] = modelled[0];
  graph_ = simplified(std::move(graph), network_input(), options_.plan.mode);
  if (options_.plan.mode == PlanMode::folded) {
    ThreadPool threads(device_.caps().threads);
    foldings_ = fold_linear(graph_, network_input(), threads);
  }
  if (network_input() != input_) scale_input(graph_, input_, options_.scale_to);
  if (options_.labels) label_output(graph_);
  if (why_not_split_) {
    batch_ = fixed_batch_ ? modelled[0] : images;
    if (options_.batch > 0 && options_.batch != batch_) {
      throw bad_input("{}: a batch of {}: {}, so that it can only run in batches of {}", graph_.name, options_.batch,
                      *why_not_split_, batch_);
    }
  } else {
    batch_ = options_.batch > 0 ? std::min(options_.batch, images) : choose_batch(images);
  }
}

const Plan& Engine::plan() const { return ready_.front()->plan; }

Shape Engine::with_images(int64_t n) const {
  Shape shape = input_;
  if (!shape.empty()) shape[0] = n;
  return shape;
}

/// What the model itself is given.
Shape Engine::network_input() const {
  const int64_t side = options_.scale_to;
  return side > 0 ? Shape{input_[0], input_[1], side, side} : input_;
}

void Engine::check_count(int64_t n) const {
  if (n < 1) throw bad_input("{}: {} images; there must be at least one", graph_.name, n);
  if (!why_not_split_ || n == batch_) return;
  if (fixed_batch_ && n % batch_ == 0 && !plan().output.empty()) return;
  throw bad_input("{}: {} images in batches of {}: {}, so that they cannot be run in batches of another size; give {}",
                  graph_.name, n, batch_, *why_not_split_,
                  fixed_batch_ ? "a multiple of that, or export the model with an open batch size" : "as many");
}

int64_t Engine::choose_batch(int64_t most) const {
  const DeviceCaps& caps = device_.caps();
  const bool host = caps.kind != DeviceKind::cuda;
  const int64_t limit = host ? kHostArenaBytes : caps.memory_bytes / 2;
  const auto fits = [&](int64_t n) {
    const Plan plan = make_plan(graph_, with_images(n), caps, options_.plan);
    return (host ? plan.arena_bytes : run_bytes(plan)) <= limit;
  };
  constexpr int64_t kRound = 16;  // images that fill vector registers, if lanes are images
  int64_t batch = host ? std::min(most, kMostHostImages) : most;
  while (batch > 1 && !fits(batch)) {
    batch = ceil_div(batch, 2);
    if (batch > kRound) batch = round_up(batch, kRound);
  }
  // As many batches, but of one size, so that the last one is not a small rest.
  const int64_t even = ceil_div(most, ceil_div(most, batch));
  return std::min(batch, round_up(even, kRound));
}

Shape Engine::output_shape(int64_t n) const {
  check_count(n);
  return of_images(plan().output, n);
}

Shape Engine::scores_shape(int64_t n) const {
  check_count(n);
  return of_images(options_.labels ? plan().steps.back().op_step()->inputs[0] : plan().output, n);
}

/// A full batch's shape for n images.
Shape Engine::of_images(Shape shape, int64_t n) const {
  if (!shape.empty()) shape[0] = checked_mul(shape[0], n) / batch_;
  return shape;
}

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
    throw unavailable("{}: a batch of {} images needs {} bytes of memory, {} has {}; give a smaller --batch",
                      graph_.name, n, wanted, device_.caps().description, device_.caps().memory_bytes);
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
