// What the arrays of all operators have in common when kernels are timed.

#include "convlab/measure/bench_arrays.h"

namespace convlab {

BenchArrays::BenchArrays(Device& device) : device_(device), stream_(device.make_stream()) {}

BenchArrays::~BenchArrays() = default;

void BenchArrays::flush_caches() {
  constexpr size_t kLargerThanAnyCache = size_t{256} << 20;
  if (!flush_) flush_ = device_.allocate(kLargerThanAnyCache);
  stream_->fill(flush_.data(), 1, flush_.bytes());
  stream_->synchronize();
}

void BenchArrays::mark_uninitialized(const Buffer& output) {
  constexpr int kUninitializedByte = 0xff;
  stream_->fill(output.data(), kUninitializedByte, output.bytes());
  stream_->synchronize();
}

Buffer uploaded(Device& device, Stream& stream, const Tensor& tensor) {
  Buffer buffer = device.allocate(tensor.bytes());
  stream.upload(buffer.data(), tensor.raw(), buffer.bytes());
  stream.synchronize();
  return buffer;
}

}  // namespace convlab
