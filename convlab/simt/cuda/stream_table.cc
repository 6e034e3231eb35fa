// Keeps the streams and events of a program.

#include "convlab/simt/cuda/stream_table.h"

namespace convlab::simt::cuda::runtime {

StreamTable& stream_table() {
  static StreamTable& one = *new StreamTable;  // never destroyed: static objects may still use streams at exit
  return one;
}

bool is_blocking(cudaStream_t stream) noexcept {
  StreamTable& table = stream_table();
  std::lock_guard lock(table.mutex);
  const auto at = table.streams.find(stream);
  return at != table.streams.end() && (at->second.flags & cudaStreamNonBlocking) == 0;
}

}  // namespace convlab::simt::cuda::runtime
