#pragma once

#include <algorithm>
#include <cstdint>

#include "convlab/simt/cuda/cuda_on_host.h"

/// How device-wide algorithms run: as kernels on the given stream, so that their accesses to the program's arrays are
/// checked. The items are divided into chunks, and one thread in a block of its own handles each chunk, in order. So a
/// result does not depend on timing, and sums of floats have another order than a GPU's.
namespace cub::detail {

using convlab::simt::Where;

struct Chunks {
  int64_t items;
  int64_t length;
  int count;  ///< at least 1

  int64_t begin(int chunk) const { return chunk * length; }
  int64_t end(int chunk) const { return begin(chunk) + length < items ? begin(chunk) + length : items; }
};

inline Chunks chunks_of(int64_t items) {
  constexpr int64_t kMostChunks = 64, kShortest = 1024;
  const int64_t length = std::max(kShortest, (items + kMostChunks - 1) / kMostChunks);
  return {items, length, static_cast<int>(std::max<int64_t>(1, (items + length - 1) / length))};
}

inline Chunks one_chunk(int64_t items) { return {items, items, 1}; }

/// Launches one thread in each of `blocks` blocks. Returns the last error, as CUB does.
template <class... P>
cudaError_t run(void (*kernel)(P...), int blocks, cudaStream_t stream, Where where,
                std::type_identity_t<P>... arguments) {
  convlab_configure(kernel, dim3(static_cast<unsigned>(blocks)), dim3(1), 0, stream, where)(arguments...);
  return cudaPeekAtLastError();
}

/// The two phases of a call: without temporary storage it only returns how much it needs.
class Temporary {
 public:
  Temporary(void* storage, size_t& bytes, size_t needed) : asks_size_(storage == nullptr) {
    needed += kAlignment;
    if (asks_size_) {
      bytes = needed;
    } else if (bytes < needed) {
      error_ = cudaErrorInvalidValue;
    }
    next_ = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(storage) + kAlignment - 1) & ~(kAlignment - 1));
  }

  /// True if the call has nothing more to do than to return error().
  bool is_over() const { return asks_size_ || error_ != cudaSuccess; }
  cudaError_t error() const { return error_; }

  template <class T>
  T* take(int64_t count) {
    T* const taken = reinterpret_cast<T*>(next_);
    next_ += bytes_of<T>(count);
    return taken;
  }
  template <class T>
  static size_t bytes_of(int64_t count) {
    return (static_cast<size_t>(count) * sizeof(T) + kAlignment - 1) & ~(kAlignment - 1);
  }

 private:
  static constexpr uintptr_t kAlignment = 256;
  bool asks_size_;
  cudaError_t error_ = cudaSuccess;
  char* next_;
};

}  // namespace cub::detail
