// How an engine is made: from a graph to batches that run, and their shapes.

#include "convlab/engine/engine.h"

#include <algorithm>
#include <utility>

#include "convlab/base/checked.h"
#include "convlab/base/error.h"
#include "convlab/engine/batch_size.h"
#include "convlab/engine/engine_parts.h"
#include "convlab/rewrite/ends.h"
#include "convlab/rewrite/simplify.h"
#include "convlab/rewrite/split.h"

namespace convlab {

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
    if (why_not_split_ && options_.must_split) {
      throw bad_input(
          "{}: {}, so that its images cannot be shared out to several devices; give one, such as --device "
          "cuda:0",
          graph.name, *why_not_split_);
    }
  } else {
    why_not_split_ = "the input's shape is not the model's";
  }
  fixed_batch_ = why_not_split_ && ranks_agree && modelled[0] > 0;
  if (fixed_batch_) input_[0] = modelled[0];
  graph_ = simplified(std::move(graph), network_input(), options_.plan.mode != PlanMode::layers);
  if (options_.plan.mode == PlanMode::folded) {
    ThreadPool threads(device_.caps().threads);
    foldings_ = fold_linear(graph_, network_input(), threads);
  }
  if (network_input() != input_) scale_input(graph_, input_, options_.scale_to);
  if (options_.labels) label_output(graph_, input_);
  if (why_not_split_) {
    batch_ = fixed_batch_ ? modelled[0] : images;
    if (options_.batch > 0 && options_.batch != batch_) {
      throw bad_input("{}: a batch of {}: {}, so that it can only run in batches of {}", graph_.name, options_.batch,
                      *why_not_split_, batch_);
    }
  } else {
    batch_ = options_.batch > 0 ? std::min(options_.batch, images)
                                : choose_batch(graph_, input_, device_.caps(), options_.plan);
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

}  // namespace convlab
