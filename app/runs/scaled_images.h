#pragma once

#include <cstdint>
#include <memory>

#include "convlab/device/thread_pool.h"
#include "convlab/tensor/tensor.h"

namespace convlab::app {

/// The images of a run, scaled to the network's side (see resized()). At most 64 MiB of them are scaled at once; more
/// stay unscaled, 6 times smaller, and are scaled when asked for, so that a run of any number of images takes little
/// more memory than one of few.
class ScaledImages {
 public:
  ScaledImages() = default;

  /// From originals, uint8, N x C x H x W. `all`: scales all at once, however many. Errors as resized().
  ScaledImages(Tensor originals, int64_t side, int threads, bool all);

  /// The shape of all images, scaled.
  const Shape& shape() const { return shape_; }
  int64_t count() const { return shape_[0]; }

  /// Whether all are scaled, and from() costs nothing.
  bool ready() const { return threads_ == nullptr; }

  /// `n` images from image `first` on. Unless all are ready(), they last until the next call. Error(bad_input) with the
  /// figure if they would take more memory than this process may use.
  const uint8_t* from(int64_t first, int64_t n);

 private:
  Shape shape_;
  Tensor images_;  ///< scaled if ready(), otherwise originals
  Tensor some_;    ///< scaled for from()
  std::unique_ptr<ThreadPool> threads_;
};

}  // namespace convlab::app
