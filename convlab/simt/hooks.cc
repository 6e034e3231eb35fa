// Implements the functions that the compiler's instrumentation calls: -fsanitize=thread at each load and store of a
// kernel, -fsanitize=bounds at an index past an array's dimension, -fsanitize=alignment at a misaligned pointer, and
// -fsanitize-coverage at each basic block. Only the instrumentation is used; the sanitizers' run-time libraries are not
// linked. Outside kernels (in the host code of a kernel's file) loads and stores are only checked for accesses to
// device memory: see host_access.h.

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "convlab/simt/host_access.h"
#include "convlab/simt/initialized_bytes.h"
#include "convlab/simt/worker.h"

namespace convlab::simt::internal {
namespace {

[[gnu::noinline, gnu::cold]] void fail_misaligned(Worker* worker, uintptr_t address, size_t bytes, bool is_write,
                                                  const void* code) {
  const HostScope host;
  worker->fail_misaligned(address, bytes, is_write, code);
}

[[gnu::noinline]] void settle_stores(Worker* worker) {
  const HostScope host;
  worker->settle_stores();
}

[[gnu::noinline]] void slow_access(Worker* worker, uintptr_t address, size_t bytes, AccessKind kind, const void* code) {
  const HostScope host;
  worker->check_access(address, bytes, kind, code);
}

[[gnu::noinline]] void check_order(Worker* worker, const SiteEntry& site, uintptr_t address, size_t bytes,
                                   bool is_write, const void* code) {
  const HostScope host;
  worker->check_order(site, address, bytes, is_write ? AccessKind::write : AccessKind::read, {code, {}});
}

[[gnu::noinline]] void check_order_in_block(Worker* worker, uintptr_t address, size_t bytes, bool is_write,
                                            const void* code) {
  const HostScope host;
  worker->check_order_in_block(address, bytes, is_write ? AccessKind::write : AccessKind::read, {code, {}});
}

template <size_t kBytes, bool kWrite>
[[gnu::always_inline]] inline bool quick_among_blocks(const GlobalCell* cells, const GlobalAccessor& accessor) {
  if constexpr (kBytes < 4) return false;
  for (size_t i = 0; i < kBytes / 4; ++i) {
    if (!touch_quickly(cells[i], kWrite, accessor)) return false;
  }
  return true;
}

template <size_t kBytes, bool kWrite>
[[gnu::always_inline]] inline bool quick_in_block(Worker& worker, const GlobalCell* cells, uintptr_t address) {
  if constexpr (kBytes < 4) return false;
  if (!kWrite && many_have_read(*cells, worker.global_accessor)) return true;
  Cell* const words = worker.block_shadow.page(address).words() + address % PagedShadow::kPageBytes / 4;
  for (size_t i = 0; i < kBytes / 4; ++i) {
    if (!touch_quickly<Shadow::Of::global>(words[i], kWrite, worker.accessor)) return false;
  }
  return true;
}

// A separate function, so that accesses to memory that nothing writes to need few registers.
template <size_t kBytes, bool kWrite>
[[gnu::noinline]] void ordered_access(Worker* worker, const SiteEntry& site, uintptr_t address, const void* code) {
  worker->accessor.at(code, kWrite ? 0 : address);
  const GlobalCell* const cells = &site.cell(address);
  if (!quick_in_block<kBytes, kWrite>(*worker, cells, address)) {
    check_order_in_block(worker, address, kBytes, kWrite, code);
  }
  if (!quick_among_blocks<kBytes, kWrite>(cells, worker->global_accessor)) {
    check_order(worker, site, address, kBytes, kWrite, code);
  }
}

template <size_t kBytes, bool kWrite>
[[gnu::always_inline]] inline bool quick_shared(const SharedRegion& region, size_t offset, const Accessor& accessor) {
  if constexpr (kBytes < 4) return false;
  if (offset + kBytes > region.bytes) return false;
  Cell* cell = region.words + offset / 4;
  for (size_t i = 0; i < kBytes / 4; ++i, ++cell) {
    // A block's first write to a word checks whether there is a variable.
    if (kWrite && cell->write.epoch < accessor.block_epoch && region.used && !region.used[offset / 4 + i]) return false;
    if (!touch_quickly<Shadow::Of::shared>(*cell, kWrite, accessor)) return false;
  }
  return true;
}

template <size_t kBytes, bool kWrite>
[[gnu::always_inline]] inline void on_access(void* pointer, const void* code) {
  Worker* const worker = active_worker;
  const uintptr_t address = reinterpret_cast<uintptr_t>(pointer);
  if (!worker) return on_host_access(address, kBytes, kWrite ? AccessKind::write : AccessKind::read, code);
  if (worker->attention) [[unlikely]] {
    // Counted launches are not checked.
    if (worker->trace) return worker->trace_access(kWrite ? EventKind::write : EventKind::read, code, address, kBytes);
    settle_stores(worker);
  }
  // g++ copies a structure of 16 bytes that is aligned to 8 in one access. -fsanitize=alignment checks vectors.
  constexpr size_t kAlignment = std::min<size_t>(kBytes, 8);
  if constexpr (kAlignment > 1) {
    if (address % kAlignment != 0) [[unlikely]]
      return fail_misaligned(worker, address, kBytes, kWrite, code);
  }
  if (const size_t offset = address - worker->static_shared.base; offset < worker->static_shared.span) {
    worker->accessor.at(code, kWrite ? 0 : address);
    if (quick_shared<kBytes, kWrite>(worker->static_shared, offset, worker->accessor)) return;
  } else if (const size_t offset = address - worker->dynamic_shared.base; offset < worker->dynamic_shared.span) {
    worker->accessor.at(code, kWrite ? 0 : address);
    if (quick_shared<kBytes, kWrite>(worker->dynamic_shared, offset, worker->accessor)) return;
  } else {
    const size_t slot = (reinterpret_cast<uintptr_t>(code) >> 1) % Worker::kSites;
    const SiteEntry& site = (kWrite ? worker->write_sites : worker->read_sites)[slot];
    if (const size_t offset = address - site.base; offset < site.bytes && kBytes <= site.bytes - offset) {
      bool initialized = true;
      if (site.initialized) {
        uint8_t* const words = site.initialized + offset / 4;
        const unsigned bits = kBytes >= 4 ? kAllBytes : ((1u << kBytes) - 1) << (offset % 4);
        for (size_t i = 0; i < (kBytes + 3) / 4; ++i) {
          if constexpr (kWrite) set_initialised(words + i, bits);
          if constexpr (!kWrite) initialized = initialized && is_initialised(words + i, bits);
        }
      }
      if (initialized) {
        if (site.cells) ordered_access<kBytes, kWrite>(worker, site, address, code);
        return;
      }
    } else if (address - worker->stack_base < Worker::kStackBytes) {
      return;
    }
  }
  slow_access(worker, address, kBytes, kWrite ? AccessKind::write : AccessKind::read, code);
}

void on_range(const void* pointer, size_t bytes, AccessKind kind, const void* code) {
  Worker* const worker = active_worker;
  const uintptr_t address = reinterpret_cast<uintptr_t>(pointer);
  if (!worker) return on_host_access(address, bytes, kind, code);
  if (worker->trace) {
    // A GPU moves it in aligned chunks.
    const size_t chunk = std::min({size_t{16}, bytes & -bytes, address & -address});
    for (size_t at = 0; at < bytes; at += chunk) {
      worker->trace_access(is_write(kind) ? EventKind::write : EventKind::read, code, address + at, chunk);
    }
    return;
  }
  if (worker->attention) settle_stores(worker);
  slow_access(worker, address, bytes, kind, code);
}

template <size_t kBytes>
void on_volatile(void* pointer, AccessKind kind, const void* code) {
  Worker* const worker = active_worker;
  const uintptr_t address = reinterpret_cast<uintptr_t>(pointer);
  if (worker && address % kBytes != 0) fail_misaligned(worker, address, kBytes, is_write(kind), code);
  // A loop that reads it again waits for another thread.
  if (worker && kind == AccessKind::volatile_read) worker->spin(address ^ reinterpret_cast<uintptr_t>(code));
  on_range(pointer, kBytes, kind, code);
}

// What the compiler passes for a misaligned pointer, in the layout of -fsanitize=alignment.
struct MismatchSite {
  const char* file;
  uint32_t line, column;
  const void* type;
  uint8_t log_alignment, kind;
};

// A GPU loads a whole vector at once, even if the host compiler loads its members one by one.
void on_mismatch(const MismatchSite* site, uintptr_t address, const void* code) {
  constexpr uint8_t kLoad = 0, kStore = 1;
  Worker* const worker = active_worker;
  if (!worker || (site->kind != kLoad && site->kind != kStore)) return;
  fail_misaligned(worker, address, size_t{1} << site->log_alignment, site->kind == kStore, code);
}

[[noreturn]] void on_subscript(const SubscriptSite* site, uint64_t index) {
  if (Worker* const worker = active_worker) {
    const HostScope host;
    RawFault fault;
    fault.kind = FaultKind::out_of_bounds_shared;  // describe() decides which kind of array it is
    fault.subscript = site;
    fault.index = static_cast<int64_t>(index);
    worker->fail(std::move(fault));
  }
  std::fprintf(stderr, "%s:%u:%u: runtime error: index %lld out of bounds for type %s\n", site->file, site->line,
               site->column, static_cast<long long>(index), site->array_type->name);
  std::abort();
}

// Processors on which an integer division by zero raises no signal check it in instrumented code.
[[noreturn]] void on_division(const void* code) {
  if (Worker* const worker = active_worker) {
    const HostScope host;
    RawFault fault;
    fault.kind = FaultKind::division;
    fault.code = code;
    worker->fail(std::move(fault));
  }
  std::raise(SIGFPE);
  std::abort();
}

}  // namespace
}  // namespace convlab::simt::internal

using namespace convlab::simt::internal;

// The compiler defines these names.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {

#define CONVLAB_SIMT_HOOKS(bytes)                                                                                     \
  void __tsan_read##bytes(void* p) { on_access<bytes, false>(p, __builtin_return_address(0)); }                       \
  void __tsan_write##bytes(void* p) { on_access<bytes, true>(p, __builtin_return_address(0)); }                       \
  void __tsan_volatile_read##bytes(void* p) {                                                                         \
    on_volatile<bytes>(p, AccessKind::volatile_read, __builtin_return_address(0));                                    \
  }                                                                                                                   \
  void __tsan_volatile_write##bytes(void* p) {                                                                        \
    on_volatile<bytes>(p, AccessKind::volatile_write, __builtin_return_address(0));                                   \
  }                                                                                                                   \
  void __tsan_unaligned_read##bytes(void* p) { on_range(p, bytes, AccessKind::read, __builtin_return_address(0)); }   \
  void __tsan_unaligned_write##bytes(void* p) { on_range(p, bytes, AccessKind::write, __builtin_return_address(0)); } \
  void __tsan_unaligned_volatile_read##bytes(void* p) {                                                               \
    on_range(p, bytes, AccessKind::volatile_read, __builtin_return_address(0));                                       \
  }                                                                                                                   \
  void __tsan_unaligned_volatile_write##bytes(void* p) {                                                              \
    on_range(p, bytes, AccessKind::volatile_write, __builtin_return_address(0));                                      \
  }                                                                                                                   \
  void __tsan_read##bytes##_pc(void* p, void* code) { on_access<bytes, false>(p, code); }                             \
  void __tsan_write##bytes##_pc(void* p, void* code) { on_access<bytes, true>(p, code); }                             \
  void __tsan_read_write##bytes(void* p) {                                                                            \
    on_access<bytes, false>(p, __builtin_return_address(0));                                                          \
    on_access<bytes, true>(p, __builtin_return_address(0));                                                           \
  }
CONVLAB_SIMT_HOOKS(1)
CONVLAB_SIMT_HOOKS(2)
CONVLAB_SIMT_HOOKS(4)
CONVLAB_SIMT_HOOKS(8)
CONVLAB_SIMT_HOOKS(16)
#undef CONVLAB_SIMT_HOOKS

void __tsan_read_range(void* p, size_t bytes) { on_range(p, bytes, AccessKind::read, __builtin_return_address(0)); }
void __tsan_write_range(void* p, size_t bytes) { on_range(p, bytes, AccessKind::write, __builtin_return_address(0)); }

// clang calls the __tsan_ versions instead of the plain functions. For g++, the linker redirects the remaining calls in
// kernel files to the __wrap_ versions (kernel_file/compiler.cc).
#define CONVLAB_SIMT_BYTES(prefix)                                        \
  void* prefix##memcpy(void* to, const void* from, size_t bytes) {        \
    on_range(from, bytes, AccessKind::read, __builtin_return_address(0)); \
    on_range(to, bytes, AccessKind::write, __builtin_return_address(0));  \
    return std::memcpy(to, from, bytes);                                  \
  }                                                                       \
  void* prefix##memmove(void* to, const void* from, size_t bytes) {       \
    on_range(from, bytes, AccessKind::read, __builtin_return_address(0)); \
    on_range(to, bytes, AccessKind::write, __builtin_return_address(0));  \
    return std::memmove(to, from, bytes);                                 \
  }                                                                       \
  void* prefix##memset(void* to, int byte, size_t bytes) {                \
    on_range(to, bytes, AccessKind::write, __builtin_return_address(0));  \
    return std::memset(to, byte, bytes);                                  \
  }
CONVLAB_SIMT_BYTES(__tsan_)
CONVLAB_SIMT_BYTES(__wrap_)
#undef CONVLAB_SIMT_BYTES

void __tsan_func_entry(void*) {
  Worker* const worker = active_worker;
  if (!worker) return;
  if (worker->trace) worker->trace->enter(__builtin_return_address(0));
  const uintptr_t frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (frame >= worker->stack_base + Worker::kStackReserve) [[likely]]
    return;
  const HostScope host;
  RawFault fault;
  fault.kind = convlab::simt::FaultKind::stack_overflow;
  fault.code = __builtin_return_address(0);
  worker->fail(std::move(fault));
}
void __tsan_func_exit() {
  Worker* const worker = active_worker;
  if (worker && worker->trace) worker->trace->leave(__builtin_return_address(0));
}

// -fsanitize-coverage=trace-pc: each basic block calls it first.
void __sanitizer_cov_trace_pc() {
  Worker* const worker = active_worker;
  if (worker && worker->trace) worker->trace_block(__builtin_return_address(0));
}

void __tsan_init() {}

// An object's pointer to its table of virtual functions. g++ calls only the second and reads it like any pointer.
void __tsan_vptr_read(void** p) { on_access<sizeof *p, false>(p, __builtin_return_address(0)); }
void __tsan_vptr_update(void** p, void*) { on_access<sizeof *p, true>(p, __builtin_return_address(0)); }

// Atomics of host code in a kernel's file (std::atomic, shared_ptr); kernels call atomicAdd etc. The memory order is
// always sequentially consistent, whatever the caller requests.
#define CONVLAB_SIMT_ATOMICS(bits, T)                                                                                 \
  T __tsan_atomic##bits##_load(const volatile T* p, int) { return __atomic_load_n(p, __ATOMIC_SEQ_CST); }             \
  void __tsan_atomic##bits##_store(volatile T* p, T v, int) { __atomic_store_n(p, v, __ATOMIC_SEQ_CST); }             \
  T __tsan_atomic##bits##_exchange(volatile T* p, T v, int) { return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST); }   \
  T __tsan_atomic##bits##_fetch_add(volatile T* p, T v, int) { return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST); }   \
  T __tsan_atomic##bits##_fetch_sub(volatile T* p, T v, int) { return __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST); }   \
  T __tsan_atomic##bits##_fetch_and(volatile T* p, T v, int) { return __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST); }   \
  T __tsan_atomic##bits##_fetch_or(volatile T* p, T v, int) { return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST); }     \
  T __tsan_atomic##bits##_fetch_xor(volatile T* p, T v, int) { return __atomic_fetch_xor(p, v, __ATOMIC_SEQ_CST); }   \
  T __tsan_atomic##bits##_fetch_nand(volatile T* p, T v, int) { return __atomic_fetch_nand(p, v, __ATOMIC_SEQ_CST); } \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* p, T* expected, T v, int, int) {                      \
    return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                    \
  }                                                                                                                   \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* p, T* expected, T v, int, int) {                        \
    return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                    \
  }                                                                                                                   \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T* p, T expected, T v, int, int) {                            \
    __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                          \
    return expected;                                                                                                  \
  }
CONVLAB_SIMT_ATOMICS(8, uint8_t)
CONVLAB_SIMT_ATOMICS(16, uint16_t)
CONVLAB_SIMT_ATOMICS(32, uint32_t)
CONVLAB_SIMT_ATOMICS(64, uint64_t)
#undef CONVLAB_SIMT_ATOMICS
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

void __ubsan_handle_type_mismatch_v1(const MismatchSite* site, uintptr_t address) {
  on_mismatch(site, address, __builtin_return_address(0));
}
void __ubsan_handle_out_of_bounds(const SubscriptSite* site, uint64_t index) { on_subscript(site, index); }
void __ubsan_handle_out_of_bounds_abort(const SubscriptSite* site, uint64_t index) { on_subscript(site, index); }

void __ubsan_handle_divrem_overflow(const void*, uint64_t, uint64_t) { on_division(__builtin_return_address(0)); }
void __ubsan_handle_divrem_overflow_abort(const void*, uint64_t, uint64_t) { on_division(__builtin_return_address(0)); }

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)
