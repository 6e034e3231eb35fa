#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convlab/device/device.h"
#include "convlab/engine/engine_options.h"
#include "convlab/engine/run_arrays.h"
#include "convlab/model/graph.h"
#include "convlab/rewrite/fold.h"

namespace convlab {

/// Images of a run that are computed together.
struct Batch {
  size_t index;  ///< the run's first batch is 0
  int64_t images;
  InputArrays from;  ///< of the batch's first image
  OutputArrays to;
  bool alone;  ///< the only batch of the run
};

/// A graph as an engine runs it: simplified, folded, and with the input scaling and label output that its options
/// request. Also splits a run's images into batches of sizes that the graph allows.
class BatchedGraph {
 public:
  /// `inputs`: the shapes of the runs' inputs. Errors as in Engine().
  BatchedGraph(Graph graph, InputShapes inputs, const DeviceCaps& caps, const EngineOptions& options);

  const Graph& graph() const { return graph_; }
  Graph& graph() { return graph_; }
  const std::vector<Folding>& foldings() const { return foldings_; }

  /// Images in a full batch.
  int64_t batch() const { return batch_; }

  /// Whether each run is one batch with exactly the inputs' shapes.
  bool at_once() const { return at_once_; }

  /// The shapes of the inputs for n images.
  std::vector<Shape> inputs_of(int64_t n) const;

  /// Bytes of one image of the only input.
  int64_t image_bytes() const;

  /// Returns a full batch's shape with its first size scaled to n images.
  Shape of_images(Shape shape, int64_t n) const;

  /// Whether each image is computed independently, so that batches may have any size.
  bool splits() const { return !why_not_split_; }

  /// Throws Error(bad_input) with the reason if n images cannot be run. `output`: the shape of a full batch's output.
  void require_count(int64_t n, const Shape& output) const;

  /// Returns the size of the batch that begins with image `first` of n: a full batch, or the remaining images. If the
  /// images beyond a multiple of 16 would leave many lanes of nchw16n empty, they become a separate batch in another
  /// layout.
  int64_t images_from(int64_t first, int64_t n) const;

  /// Returns the distinct batch sizes of a run of n images.
  std::vector<int64_t> batches(int64_t n) const;

 private:
  std::vector<Shape> network_inputs() const;
  void open_batch_size(Graph& graph, bool must_split);
  void choose_size(int64_t images, const DeviceCaps& caps, const EngineOptions& options);

  Graph graph_;
  std::vector<Folding> foldings_;
  std::vector<Shape> inputs_;
  bool at_once_;
  ElementType type_;
  int64_t scale_to_;
  bool lanes_;  ///< the device has kernels for nchw16n
  std::optional<std::string> why_not_split_;
  bool fixed_batch_ = false;  ///< the model does not split, and accepts only batches of batch_ images
  int64_t batch_ = 0;
};

}  // namespace convlab
