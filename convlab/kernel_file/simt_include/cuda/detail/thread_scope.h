#pragma once

#include <atomic>
#include <type_traits>

#include "convlab/simt/cuda/cuda_on_host.h"

/// libcu++ for simt: the scopes and memory orders of its synchronization.
///
/// simt reports as a race what the memory model calls one, to this point: an acquire orders with all earlier releases
/// at its address, whichever value it reads; the device's scope is also that of clusters and of the system.
namespace cuda {

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

using ::std::memory_order;
using ::std::memory_order_acq_rel;
using ::std::memory_order_acquire;
using ::std::memory_order_consume;
using ::std::memory_order_relaxed;
using ::std::memory_order_release;
using ::std::memory_order_seq_cst;

namespace simt_detail {

using Where = convlab::simt::Where;

/// The scope's number among __NV_THREAD_SCOPE_...
constexpr int scope_number(thread_scope scope) {
  return scope == thread_scope_thread   ? __NV_THREAD_SCOPE_THREAD
         : scope == thread_scope_block  ? __NV_THREAD_SCOPE_BLOCK
         : scope == thread_scope_device ? __NV_THREAD_SCOPE_DEVICE
                                        : __NV_THREAD_SCOPE_SYSTEM;
}

/// An operand of an operator, with the place of the operator: operators have no default arguments.
template <class T>
struct Operand {
  T value;
  Where where;

  template <class U>
  requires(std::is_convertible_v<U, T>) Operand(U&& of, Where at = Where::current())
      : value(static_cast<T>(std::forward<U>(of))), where(at) {}
};

}  // namespace simt_detail
}  // namespace cuda
