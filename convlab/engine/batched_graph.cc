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

BatchedGraph::BatchedGraph(Graph graph, InputShapes inputs, const DeviceCaps& caps, const EngineOptions& options)
    : inputs_(inputs.copy()), type_(options.plan.input), scale_to_(options.scale_to), lanes_(!caps.runs_cuda()) {
  const bool streams = graph.inputs.size() == 1 && inputs_.size() == 1 && graph.outputs.size() == 1;
  at_once_ = options.at_once || !streams || inputs_[0].empty();
  if (!streams && (scale_to_ != 0 || options.labels || options.must_split)) {
    throw bad_input("{}: expected 1 input and 1 output, got {} and {}", graph.name, graph.inputs.size(),
                    graph.outputs.size());
  }
  if (options.batch < 0) throw bad_input("batch size must be 0 (automatic) or at least 1, got {}", options.batch);
  if (scale_to_ < 0 || (scale_to_ > 0 && (type_ != ElementType::u8 || inputs_[0].size() != 4))) {
    throw bad_input("{}: scaling images to {} requires uint8 pixels (N x C x H x W), got {} {}", graph.name, scale_to_,
                    name_of(type_), to_text(inputs_[0]));
  }
  const int64_t images = images_of(inputs_);
  if (images < 1)
    throw bad_input("{}: input shape {} must have a batch size of at least 1", graph.name, to_text(inputs_[0]));
  const Observed part(options.observer, {Stage::planning});
  if (at_once_) {
    why_not_split_ = "all images are run at once";
  } else {
    fold_constants(graph);
    open_batch_size(graph, options.must_split);
  }
  PlannedGraph planned = planned_graph(std::move(graph), network_inputs(), options.plan.mode, caps.threads);
  graph_ = std::move(planned.graph);
  foldings_ = std::move(planned.foldings);
  if (network_inputs() != inputs_) scale_input(graph_, inputs_[0], scale_to_);
  if (options.labels) label_output(graph_, inputs_[0]);
  choose_size(images, caps, options);
}

/// Makes the batch size variable (-1) if images are computed independently. Otherwise the graph keeps its batch size.
void BatchedGraph::open_batch_size(Graph& graph, bool must_split) {
  const Shape modeled = graph.inputs[0].shape;
  if (modeled.size() != inputs_[0].size()) {
    why_not_split_ = "the input shape differs from the model's";
    return;
  }
  // The file may fix a batch size, but if images are computed independently, any other size gives the same results.
  graph.inputs[0].shape[0] = -1;
  why_not_split_ = why_not_split(graph, network_inputs()[0]);
  if (splits()) return;
  if (must_split) {
    throw bad_input("{}: {}: a batch cannot be split across devices; use one device, for example cuda:0", graph.name,
                    *why_not_split_);
  }
  graph.inputs[0].shape[0] = modeled[0];
  fixed_batch_ = modeled[0] > 0;
  if (fixed_batch_) inputs_[0][0] = modeled[0];
}

void BatchedGraph::choose_size(int64_t images, const DeviceCaps& caps, const EngineOptions& options) {
  if (splits()) {
    batch_ = options.batch > 0 ? std::min(options.batch, images) : choose_batch(graph_, inputs_[0], caps, options.plan);
    return;
  }
  batch_ = fixed_batch_ ? inputs_[0][0] : images;
  if (options.batch > 0 && options.batch != batch_ && !at_once_) {
    throw bad_input("{}: batch size {} is not supported: {}; use a batch size of {}", graph_.name, options.batch,
                    *why_not_split_, batch_);
  }
}

/// Returns the input shapes of the model itself, after scaling.
std::vector<Shape> BatchedGraph::network_inputs() const {
  std::vector<Shape> shapes = inputs_;
  if (scale_to_ > 0) shapes[0][2] = shapes[0][3] = scale_to_;
  return shapes;
}

std::vector<Shape> BatchedGraph::inputs_of(int64_t n) const {
  std::vector<Shape> shapes = inputs_;
  if (!at_once_) shapes[0][0] = n;
  return shapes;
}

int64_t BatchedGraph::image_bytes() const { return bytes_of(inputs_of(batch_)[0], type_) / batch_; }

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
