// Batches concurrent calls with few images into one run.

#include "convlab/session/batcher.h"

#include <algorithm>
#include <cstring>

namespace convlab {
namespace {

/// Returns whether an array matches the learned type and shape, except for the number of images.
template <class AnArray>
bool fits(const AnArray& array, const Tensor& learned) {
  const Shape& shape = learned.shape();
  return array.data != nullptr && array.type == learned.type() && !array.on_device &&
         array.shape.size() == shape.size() && std::equal(shape.begin() + 1, shape.end(), array.shape.begin() + 1);
}

Tensor zeros(ElementType type, Shape shape, int64_t images) {
  shape[0] = images;
  Tensor tensor(type, std::move(shape));
  std::memset(tensor.raw(), 0, tensor.bytes());
  return tensor;
}

/// Rounds up to 1, 2, 3, 4, 6, 8, 12, 16, 24 ...: each batch size needs its own plan, so there should be few sizes.
int64_t usual_count(int64_t images) {
  for (int64_t power = 1;; power *= 2) {
    if (images <= power) return power;
    if (images <= power / 2 * 3 && power > 1) return power / 2 * 3;
  }
}

}  // namespace

bool Batcher::learned() {
  const std::lock_guard lock(mutex_);
  return learned_;
}

void Batcher::learn(const ConstArray& input, const Array& output) {
  const std::lock_guard lock(mutex_);
  inputs_ = zeros(input.type, input.shape, most_);
  outputs_ = zeros(output.type, output.shape, most_);
  learned_ = true;
}

bool Batcher::takes(const ConstArray& input, const Array& output) const {
  return learned_ && fits(input, inputs_) && fits(output, outputs_) && input.shape[0] == output.shape[0] &&
         input.shape[0] >= 1 && input.shape[0] <= most_ / 2;
}

bool Batcher::run(const ConstArray& input, const Array& output) {
  Call call{.input = input, .output = output, .came = Clock::now()};
  std::unique_lock lock(mutex_);
  if (!takes(input, output)) return false;
  waiting_.push_back(&call);
  images_waiting_ += call.images();
  came_.notify_one();
  while (!call.done) {
    if (led_ || call.taken) {
      changed_.wait(lock);
    } else {
      lead(lock);
    }
  }
  if (call.error) std::rethrow_exception(call.error);
  return true;
}

/// Waits for enough calls and computes them.
void Batcher::lead(std::unique_lock<std::mutex>& lock) {
  led_ = true;
  came_.wait_until(lock, waiting_.front()->came + wait_, [&] { return images_waiting_ >= most_; });
  lock.unlock();
  std::unique_lock turn(turn_);  // more calls may arrive until the previous batch is done
  lock.lock();
  const std::vector<Call*> batch = taken();
  led_ = false;
  if (!waiting_.empty()) changed_.notify_all();  // one of them becomes the leader
  lock.unlock();
  compute(batch);
  turn.unlock();
  lock.lock();
  for (Call* const call : batch) call->done = true;
  changed_.notify_all();
}

/// Removes from the queue and returns the first calls, as many as fit into a batch.
std::vector<Batcher::Call*> Batcher::taken() {
  std::vector<Call*> batch;
  int64_t images = 0;
  while (!waiting_.empty() && images + waiting_.front()->images() <= most_) {
    batch.push_back(waiting_.front());
    batch.back()->taken = true;
    images += waiting_.front()->images();
    waiting_.pop_front();
  }
  images_waiting_ -= images;
  return batch;
}

void Batcher::compute(const std::vector<Call*>& batch) try {
  if (batch.size() == 1) return compute_(batch.front()->input, batch.front()->output);
  int64_t images = 0;
  const auto input_bytes = inputs_.bytes() / most_, output_bytes = outputs_.bytes() / most_;
  for (const Call* const call : batch) {
    std::memcpy(static_cast<std::byte*>(inputs_.raw()) + images * input_bytes, call->input.data,
                call->images() * input_bytes);
    images += call->images();
  }
  ConstArray input{.data = inputs_.raw(), .type = inputs_.type(), .shape = inputs_.shape()};
  Array output{.data = outputs_.raw(), .type = outputs_.type(), .shape = outputs_.shape()};
  input.shape[0] = output.shape[0] = std::min(usual_count(images), most_);
  compute_(input, output);
  int64_t first = 0;
  for (const Call* const call : batch) {
    std::memcpy(call->output.data, static_cast<const std::byte*>(outputs_.raw()) + first * output_bytes,
                call->images() * output_bytes);
    first += call->images();
  }
} catch (...) {
  for (Call* const call : batch) call->error = std::current_exception();
}

}  // namespace convlab
