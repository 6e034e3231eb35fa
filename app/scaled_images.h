#pragma once

#include <cstdint>
#include <memory>

#include "convlab/device/thread_pool.h"
#include "convlab/tensor/tensor.h"

namespace convlab::app {

/// The images of a run, scaled to the side that the network takes (see resized()). As many as take 64 MiB are scaled at
/// once; more are kept as they came, 6 times smaller, and scaled when they are asked for, so that a run of any number of
/// images takes little more memory than one of few.
class ScaledImages {
 public:
  ScaledImages() = default;

  /// Of originals, uint8, N x C x H x W. `all`: all are scaled at once, however many. Errors as resized().
  ScaledImages(Tensor originals, int64_t side, int threads, bool all);

  /// Of all images, scaled.
  const Shape& shape() const { return shape_; }
  int64_t count() const { return shape_[0]; }

  /// Whether all are scaled, and from() costs nothing.
  bool ready() const { return threads_ == nullptr; }

  /// `n` images from image `first` on. Unless all are ready(), they last until the next call. Error(bad_input) with the
  /// figure where they would take more memory than this process may use.
  const uint8_t* from(int64_t first, int64_t n);

 private:
  Shape shape_;
  Tensor images_;  ///< scaled if ready(), otherwise originals
  Tensor some_;    ///< scaled for from()
  std::unique_ptr<ThreadPool> threads_;
};

}  // namespace convlab::app
