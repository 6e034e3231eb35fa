#pragma once

#include <cstdint>
#include <string>

#include "convlab/kernel_file/simt_include/thrust/detail/errors.h"
#include "convlab/kernel_file/simt_include/thrust/detail/policies.h"

namespace thrust::detail {

/// Allocates device memory. Reports call it `name` and show `where`. Throws system::detail::bad_alloc.
template <class T>
T* allocate_on_device(int64_t count, const char* name, Where where) {
  void* memory = nullptr;
  const size_t bytes = static_cast<size_t>(count) * sizeof(T);
  if (convlab::simt::cuda::runtime::allocate(&memory, bytes, name, where) != cudaSuccess) {
    const cudaError_t error = cudaGetLastError();
    if (error != cudaErrorMemoryAllocation && error != cudaSuccess) throw_on_error(error, "cudaMalloc");
    throw system::detail::bad_alloc("device memory: " + std::to_string(bytes) + " bytes");
  }
  return static_cast<T*>(memory);
}

/// Device memory of an algorithm, uninitialized.
template <class T>
class Temporary {
 public:
  Temporary(int64_t count, Where where)
      : where_(where), data_(allocate_on_device<T>(count > 0 ? count : 1, "thrust_temporary", where)) {}
  ~Temporary() { cudaFree(data_, where_); }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  T* data() const { return data_; }

 private:
  Where where_;
  T* data_;
};

}  // namespace thrust::detail
