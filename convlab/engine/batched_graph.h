#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convlab/device/device.h"
#include "convlab/engine/engine_options.h"
#include "convlab/model/graph.h"
#include "convlab/rewrite/fold.h"

namespace convlab {

/// Some of a run's images, computed together.
struct Batch {
  size_t index;  ///< the run's first is 0
  int64_t images;
  const unsigned char* from;  ///< on the host
  float* to;                  ///< on the host
  bool alone;                 ///< the run has no other
};

/// A graph as an engine runs it: simplified, folded and with the ends that its options ask for. It also splits a run's
/// images into batches, depending on whether the graph computes each image by itself.
class BatchedGraph {
 public:
  /// `input`: the shape of what runs will pass in. Errors as Engine().
  BatchedGraph(Graph graph, const Shape& input, const DeviceCaps& caps, const EngineOptions& options);

  const Graph& graph() const { return graph_; }
  Graph& graph() { return graph_; }
  const std::vector<Folding>& foldings() const { return foldings_; }

  /// Images in a full batch.
  int64_t batch() const { return batch_; }

  /// The shape of a run's input of n images.
  Shape input_of(int64_t n) const;

  /// Bytes of one such image.
  int64_t image_bytes() const;

  /// A full batch's shape, changed to n images.
  Shape of_images(Shape shape, int64_t n) const;

  /// Whether each image is computed by itself, so that batches may have any size.
  bool splits() const { return !why_not_split_; }

  /// Error(bad_input), with the reason, if n images cannot be run. `output`: the shape of a full batch's output.
  void require_count(int64_t n, const Shape& output) const;

  /// Images of the batch that begins with image `first` of n: a full one, or the rest. If the rest would leave many
  /// lanes of 16 without an image, the few images beyond whole sixteens become a batch of their own, without lanes.
  int64_t images_from(int64_t first, int64_t n) const;

  /// The numbers of images of all batches of a run of n, each number once.
  std::vector<int64_t> batches(int64_t n) const;

 private:
  Shape network_input() const;
  void open_batch_size(Graph& graph, bool must_split);
  void choose_size(int64_t images, const DeviceCaps& caps, const EngineOptions& options);

  Graph graph_;
  std::vector<Folding> foldings_;
  Shape input_;
  ElementType type_;
  int64_t scale_to_;
  bool lanes_;  ///< the device computes images in lanes
  std::optional<std::string> why_not_split_;
  bool fixed_batch_ = false;  ///< the model does not split, and takes batches of batch_ only
  int64_t batch_ = 0;
};

}  // namespace convlab
