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

/// Calls of few images, which several threads make at a time, computed together. The first call to come waits for
/// others until there are enough images, or its time is up and the device is free; its thread then computes those of
/// all.
///
/// Only images of the shape that was learned are gathered, where a model has one input and one output, float32 or uint8
/// pixels in and float32 out, and computes each image by itself.
class Batcher {
 public:
  /// Computes so many images, from an array of them to one of their outputs. The caller's turn is taken.
  using Compute = std::function<void(const ConstArray& input, const Array& output)>;

  /// `turn`: held while a batch is computed, by others, too. `most`: images that are computed together.
  Batcher(std::chrono::microseconds wait, int64_t most, std::mutex& turn, Compute compute)
      : wait_(wait), most_(most), turn_(turn), compute_(std::move(compute)) {}

  int64_t most() const { return most_; }

  /// Whether it knows what to gather.
  bool learned();

  /// Computes such arrays from now on, whatever their numbers of images. Call it once; the caller has the turn.
  void learn(const ConstArray& input, const Array& output);

  /// Computes a call together with others, and returns when its output is there. False, and nothing is done, where the
  /// arrays are not as learned, or have more than half of the images that are computed together. What compute() throws,
  /// each call of the batch throws.
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

  Tensor inputs_, outputs_;  ///< of a batch, as learned; their elements belong to whoever has the turn

  std::mutex mutex_;  ///< of what follows
  std::condition_variable came_, changed_;
  std::deque<Call*> waiting_;
  int64_t images_waiting_ = 0;
  bool learned_ = false;
  bool led_ = false;  ///< whether the thread of one of these calls gathers
};

}  // namespace convlab
