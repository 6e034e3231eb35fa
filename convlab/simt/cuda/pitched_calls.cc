// Allocates and fills memory whose rows have a pitch.

#include "convlab/simt/cuda/pitched_calls.h"

#include <cstring>
#include <vector>

#include "convlab/simt/cuda/call_errors.h"

namespace convlab::simt::cuda {

namespace runtime {

cudaError_t allocate_rows(void** memory, size_t* pitch, size_t width, size_t rows, const char* name,
                          Where where) noexcept {
  constexpr size_t kPitch = 512;
  if (memory == nullptr || pitch == nullptr) return set_last_error(cudaErrorInvalidValue);
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  return allocate(memory, *pitch * rows, name, where);
}

cudaError_t fill_elements(void* memory, size_t pitch, unsigned value, unsigned element_bytes, size_t width, size_t rows,
                          Where where) noexcept {
  const size_t bytes = width * element_bytes;
  if ((element_bytes != 1 && element_bytes != 2 && element_bytes != 4) || (rows > 1 && bytes > pitch)) {
    return failed(cudaErrorInvalidValue, "cudaMemset2D", where,
                  "a row is longer than its pitch, or the elements do not have 1, 2 or 4 bytes");
  }
  std::vector<char> row(element_bytes == 1 ? 0 : bytes);
  for (size_t at = 0; at < row.size(); at += element_bytes) std::memcpy(&row[at], &value, element_bytes);
  for (size_t i = 0; i < rows; ++i) {
    char* const begin = static_cast<char*>(memory) + i * pitch;
    const cudaError_t error = element_bytes == 1 ? cudaMemset(begin, static_cast<int>(value), bytes, where)
                                                 : cudaMemcpy(begin, row.data(), bytes, cudaMemcpyHostToDevice, where);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace runtime

cudaError_t cudaMemset2D(void* memory, size_t pitch, int byte, size_t width, size_t height, Where where) noexcept {
  return runtime::fill_elements(memory, pitch, static_cast<unsigned>(byte), 1, width, height, where);
}
cudaError_t cudaMemset2DAsync(void* memory, size_t pitch, int byte, size_t width, size_t height, cudaStream_t stream,
                              Where where) noexcept {
  return runtime::submit(stream, cudaGraphNodeTypeMemset,
                         [=](cudaStream_t) { return cudaMemset2D(memory, pitch, byte, width, height, where); });
}

cudaError_t cudaMemset3D(cudaPitchedPtr memory, int byte, cudaExtent extent, Where where) noexcept {
  for (size_t z = 0; z < extent.depth; ++z) {
    char* const slice = static_cast<char*>(memory.ptr) + z * memory.pitch * memory.ysize;
    const cudaError_t error = cudaMemset2D(slice, memory.pitch, byte, extent.width, extent.height, where);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr memory, int byte, cudaExtent extent, cudaStream_t stream,
                              Where where) noexcept {
  return runtime::submit(stream, cudaGraphNodeTypeMemset,
                         [=](cudaStream_t) { return cudaMemset3D(memory, byte, extent, where); });
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes,
                           Where where) noexcept {
  return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, nullptr, where);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                                cudaStream_t stream, Where where) noexcept {
  if (to_device != 0 || from_device != 0) {
    return failed(cudaErrorInvalidDevice, "cudaMemcpyPeer", where, "simt has one device, number 0");
  }
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream, where);
}

}  // namespace convlab::simt::cuda
