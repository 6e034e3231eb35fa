#pragma once

/// Tells host code from device code, which are one here.
namespace convlab::simt::internal {

class Worker;
extern constinit thread_local Worker* active_worker;

}  // namespace convlab::simt::internal

namespace thrust::detail {

/// Returns whether a kernel's thread calls this.
__attribute__((no_sanitize("thread"))) inline bool is_device_code() {
  return convlab::simt::internal::active_worker != nullptr;
}

}  // namespace thrust::detail
