// Prepares a graph for an engine and splits runs into batches.

#include "convlab/engine/batched_graph.h"

#include <algorithm>
#include <utility>

#include "convlab/base/checked.h"
#include "convlab/base/error.h"
#include "convlab/engine/batch_size.h"
#include "convlab/engine/plan_facts.h"
#include "convlab/plan/planned_graph.h"
#include "convlab/rewrite/ends.h"
#include "convlab/rewrite/simplify.h"
#include "convlab/rewrite/split.h"

namespace convlab {

BatchedGraph::BatchedGraph(Graph graph, const Shape& input, const DeviceCaps& caps, const EngineOptions& options)
    : input_(input), type_(options.plan.input), scale_to_(options.scale_to), lanes_(!caps.runs_cuda()) {
  if (graph.inputs.size() != 1 || graph.outputs.size() != 1) {
    throw bad_input("{}: expected 1 input and 1 output, got {} and {}", graph.name, graph.inputs.size(),
                    graph.outputs.size());
  }
  if (options.batch < 0) throw bad_input("batch size must be 0 (automatic) or at least 1, got {}", options.batch);
  if (scale_to_ < 0 || (scale_to_ > 0 && (type_ != ElementType::u8 || input.size() != 4))) {
    throw bad_input("{}: scaling images to {} requires uint8 pixels (N x C x H x W), got {} {}", graph.name, scale_to_,
                    name_of(type_), to_text(input));
  }
  const int64_t images = input.empty() ? 1 : input[0];
  if (images < 1)
    throw bad_input("{}: input shape {} must have a batch size of at least 1", graph.name, to_text(input));
  const Observed part(options.observer, {Stage::planning});
  fold_constants(graph);
  open_batch_size(graph, options.must_split);
  PlannedGraph planned = planned_graph(std::move(graph), network_input(), options.plan.mode, caps.threads);
  graph_ = std::move(planned.graph);
  foldings_ = std::move(planned.foldings);
  if (network_input() != input_) scale_input(graph_, input_, scale_to_);
  if (options.labels) label_output(graph_, input_);
  choose_size(images, caps, options);
}

/// Makes the batch size variable (-1) if images are computed independently. Otherwise the graph keeps its batch size.
void BatchedGraph::open_batch_size(Graph& graph, bool must_split) {
  const Shape modeled = graph.inputs[0].shape;
  if (input_.empty() || modeled.size() != input_.size()) {
    why_not_split_ = "the input shape differs from the model's";
    return;
  }
  // The file may fix a batch size, but if images are computed independently, any other size gives the same results.
  graph.inputs[0].shape[0] = -1;
  why_not_split_ = why_not_split(graph, network_input());
  if (splits()) return;
  if (must_split) {
    throw bad_input("{}: {}: a batch cannot be split across devices; use one device, for example cuda:0", graph.name,
                    *why_not_split_);
  }
  graph.inputs[0].shape[0] = modeled[0];
  fixed_batch_ = modeled[0] > 0;
  if (fixed_batch_) input_[0] = modeled[0];
}

void BatchedGraph::choose_size(int64_t images, const DeviceCaps& caps, const EngineOptions& options) {
  if (splits()) {
    batch_ = options.batch > 0 ? std::min(options.batch, images) : choose_batch(graph_, input_, caps, options.plan);
    return;
  }
  batch_ = fixed_batch_ ? input_[0] : images;
  if (options.batch > 0 && options.batch != batch_) {
    throw bad_input("{}: batch size {} is not supported: {}; use a batch size of {}", graph_.name, options.batch,
                    *why_not_split_, batch_);
  }
}

/// Returns the input shape of the model itself, after scaling.
Shape BatchedGraph::network_input() const {
  return scale_to_ > 0 ? Shape{input_[0], input_[1], scale_to_, scale_to_} : input_;
}

Shape BatchedGraph::input_of(int64_t n) const {
  Shape shape = input_;
  if (!shape.empty()) shape[0] = n;
  return shape;
}

int64_t BatchedGraph::image_bytes() const { return bytes_of(input_of(batch_), type_) / batch_; }

Shape BatchedGraph::of_images(Shape shape, int64_t n) const {
  if (!shape.empty()) shape[0] = checked_mul(shape[0], n) / batch_;
  return shape;
}

void BatchedGraph::require_count(int64_t n, const Shape& output) const {
  if (n < 1) throw bad_input("{}: number of images must be at least 1, got {}", graph_.name, n);
  if (splits() || n == batch_) return;
  if (fixed_batch_ && n % batch_ == 0 && !output.empty()) return;
  throw bad_input("{}: cannot run {} images in batches of {}: {}; use {}", graph_.name, n, batch_, *why_not_split_,
                  fixed_batch_ ? "a multiple of the batch size, or export the model with a dynamic batch size"
                               : "exactly one batch");
}

int64_t BatchedGraph::images_from(int64_t first, int64_t n) const {
  const int64_t count = std::min(batch_, n - first), beyond = count % kImageLanes;
  const bool apart = splits() && lanes_ && count > kImageLanes;
  return apart && beyond < kLeastImagesInLanes ? count - beyond : count;
}

std::vector<int64_t> BatchedGraph::batches(int64_t n) const {
  std::vector<int64_t> sizes;
  for (int64_t first = 0; first < n; first += images_from(first, n)) {
    const int64_t images = images_from(first, n);
    if (std::ranges::find(sizes, images) == sizes.end()) sizes.push_back(images);
  }
  return sizes;
}

}  // namespace convlab
