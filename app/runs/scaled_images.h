#pragma once

#include <cstdint>
#include <memory>

#include "convlab/device/thread_pool.h"
#include "convlab/tensor/tensor.h"

namespace convlab::app {

/// The images of a run, scaled to the network's side length (see resized()). Up to 64 MiB are scaled in advance.
/// Otherwise all stay unscaled, 6 times smaller, and are scaled on demand, so that a run of any number of images needs
/// little more memory than one of few.
class ScaledImages {
 public:
  ScaledImages() = default;

  /// `originals`: uint8, N x C x H x W. `all`: scales all in advance, however many. Errors are those of resized().
  ScaledImages(Tensor originals, int64_t side, int threads, bool all);

  /// The shape of all images, scaled.
  const Shape& shape() const { return shape_; }
  int64_t count() const { return shape_[0]; }

  /// Whether all are scaled, so that from() only returns a pointer.
  bool ready() const { return threads_ == nullptr; }

  /// Returns `n` images from image `first` on. Unless ready(), they are valid until the next call. Throws
  /// Error(bad_input), with the size, if they would need more memory than this process may use.
  const uint8_t* from(int64_t first, int64_t n);

 private:
  Shape shape_;
  Tensor images_;  ///< scaled if ready(), otherwise originals
  Tensor some_;    ///< scaled for from()
  std::unique_ptr<ThreadPool> threads_;
};

}  // namespace convlab::app
