#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "convlab/session/array.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// Batches concurrent calls with few images. The first call waits for others until there are enough images, or until
/// its time is up and the device is free. Its thread then computes the whole batch.
///
/// Only images of the shape set by learn() are batched. The model must have one input (float32 or uint8) and one
/// float32 output, and compute each image independently.
class Batcher {
 public:
  /// Computes the input's images into `output`. Called with the mutex `turn` held.
  using Compute = std::function<void(const ConstArray& input, const Array& output)>;

  /// `turn`: the mutex that is held while anything is computed. `most`: the maximum number of images in a batch.
  Batcher(std::chrono::microseconds wait, int64_t most, std::mutex& turn, Compute compute)
      : wait_(wait), most_(most), turn_(turn), compute_(std::move(compute)) {}

  int64_t most() const { return most_; }

  /// Returns whether learn() has been called.
  bool learned();

  /// Batches arrays of these types and shapes from now on, with any number of images. Call it once, with `turn` held.
  void learn(const ConstArray& input, const Array& output);

  /// Computes a call as part of a batch and returns true when its output is complete. Returns false and does nothing if
  /// the arrays do not match learn(), or have more than half the images of a full batch. An exception of the batch is
  /// rethrown from each of its calls.
  bool run(const ConstArray& input, const Array& output);

 private:
  using Clock = std::chrono::steady_clock;

  struct Call {
    const ConstArray& input;
    const Array& output;
    Clock::time_point came;
    bool taken = false, done = false;
    std::exception_ptr error;

    int64_t images() const { return input.shape[0]; }
  };

  bool takes(const ConstArray& input, const Array& output) const;
  void lead(std::unique_lock<std::mutex>& lock);
  std::vector<Call*> taken();
  void compute(const std::vector<Call*>& batch);

  const std::chrono::microseconds wait_;
  const int64_t most_;
  std::mutex& turn_;
  const Compute compute_;

  Tensor inputs_, outputs_;  ///< of a batch, set by learn(); their elements are guarded by turn_

  std::mutex mutex_;  ///< guards all members below
  std::condition_variable came_, changed_;
  std::deque<Call*> waiting_;
  int64_t images_waiting_ = 0;
  bool learned_ = false;
  bool led_ = false;  ///< whether the thread of one of these calls is collecting a batch
};

}  // namespace convlab
