// Executes PTX's loads, stores, atomic operations, fences and asynchronous copies.

#include "convlab/simt/ptx/ptx_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "convlab/simt/async_copy.h"
#include "convlab/simt/cuda/address_windows.h"
#include "convlab/simt/cuda/memory_spaces.h"
#include "convlab/simt/warp.h"
#include "convlab/simt/worker.h"

// What the compiler calls at a kernel's loads and stores, with the address of the code: hooks.cc. It is quicker than
// Worker::check_access().
// NOLINTBEGIN(bugprone-reserved-identifier)
#define CONVLAB_PTX_HOOKS(bytes)                                \
  extern "C" void __tsan_read##bytes##_pc(void* p, void* code); \
  extern "C" void __tsan_write##bytes##_pc(void* p, void* code);
CONVLAB_PTX_HOOKS(1)
CONVLAB_PTX_HOOKS(2)
CONVLAB_PTX_HOOKS(4)
CONVLAB_PTX_HOOKS(8)
CONVLAB_PTX_HOOKS(16)
#undef CONVLAB_PTX_HOOKS

namespace convlab::simt::ptx {
namespace {

using Hook = void(void* p, void* code);

/// Returns the hook for a plain access.
Hook* hook_for(size_t bytes, bool is_write) {
  switch (bytes) {
    case 1:
      return is_write ? __tsan_write1_pc : __tsan_read1_pc;
    case 2:
      return is_write ? __tsan_write2_pc : __tsan_read2_pc;
    case 4:
      return is_write ? __tsan_write4_pc : __tsan_read4_pc;
    case 8:
      return is_write ? __tsan_write8_pc : __tsan_read8_pc;
    case 16:
      return is_write ? __tsan_write16_pc : __tsan_read16_pc;
    default:
      return nullptr;
  }
}
// NOLINTEND(bugprone-reserved-identifier)

using internal::AccessKind;
using internal::HostScope;
using internal::Worker;

bool names_shared(const Instruction& i) { return i.has("shared"_word) || i.has("shared::cta"_word); }

/// Copies to or from memory that other OS threads may access: in one piece, if it has the size of a number.
void copy_whole(void* to, const void* from, size_t bytes) {
  const auto copy = [&]<class T>(T) {
    T value;
    __atomic_load(static_cast<const T*>(from), &value, __ATOMIC_RELAXED);
    __atomic_store(static_cast<T*>(to), &value, __ATOMIC_RELAXED);
  };
  if (bytes == 8) return copy(uint64_t{});
  if (bytes == 4) return copy(uint32_t{});
  if (bytes == 2) return copy(uint16_t{});
  std::memcpy(to, from, bytes);
}

bool is_strong(const Instruction& i) {
  return i.has("volatile"_word) || i.has("relaxed"_word) || i.has("acquire"_word) || i.has("release"_word) ||
         i.has("mmio"_word);
}

/// Releases what the thread did before, if the instruction asks for that.
void release(const Instruction& i) {
  if (!i.has("release"_word) && !i.has("acq_rel"_word)) return;
  thread_fence(i.has("cta"_word) ? FenceScope::block : FenceScope::device);
}

template <class T>
T clamped_sum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
  } else if constexpr (sizeof(T) == 2) {
    return cuda::__hadd(a, b);
  } else {
    return a + b;
  }
}

/// Returns what the operation stores for the old value.
template <class T>
T changed(const Run& run, const Instruction& i, T old, T b, T c) {
  if (i.has("add"_word)) return clamped_sum(old, b);
  if (i.has("exch"_word)) return b;
  if constexpr (std::is_integral_v<T>) {
    if (i.has("cas"_word)) return old == b ? c : old;
    if (i.has("and"_word)) return static_cast<T>(old & b);
    if (i.has("or"_word)) return static_cast<T>(old | b);
    if (i.has("xor"_word)) return static_cast<T>(old ^ b);
    if (i.has("inc"_word)) return old >= b ? T{0} : static_cast<T>(old + 1);
    if (i.has("dec"_word)) return old == 0 || old > b ? b : static_cast<T>(old - 1);
    if (i.has("min"_word)) return std::min(old, b);
    if (i.has("max"_word)) return std::max(old, b);
  } else if constexpr (sizeof(T) == 2) {
    if (i.has("min"_word)) return cuda::__hmin(old, b);
    if (i.has("max"_word)) return cuda::__hmax(old, b);
  }
  fail_unsupported(run, i);
}

template <class T, class Change>
T replace(void* address, Change change) {
  auto* const at = static_cast<T*>(address);
  T old, next;
  __atomic_load(at, &old, __ATOMIC_RELAXED);
  do {
    next = change(old);
  } while (!__atomic_compare_exchange(at, &old, &next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old;
}

/// Changes both numbers of a pair, each by an atomic operation.
template <class T>
uint32_t replace_pair(const Run& run, const Instruction& i, void* address, uint32_t b) {
  return replace<uint32_t>(address, [&](uint32_t old) {
    uint32_t both = 0;
    for (int part = 0; part < 2; ++part) {
      const auto half = [&](uint32_t bits) { return Run::from<T>(bits >> 16 * part & 0xffffu); };
      both |= static_cast<uint32_t>(changed<T>(run, i, half(old), half(b), T(0.0f)).bits) << 16 * part;
    }
    return both;
  });
}

}  // namespace

void* pointer_of(const Run& run, const Instruction& i, size_t group, bool in_shared) {
  const Operand& operand = i.operand(group);
  const uint64_t address = run.get<uint64_t>(operand) + static_cast<uint64_t>(operand.offset);
  if (!in_shared) return reinterpret_cast<void*>(address);
  if (void* const pointer = shared_pointer_at(address)) return pointer;
  Worker& worker = *internal::active_worker;
  const HostScope host;
  internal::RawFault fault;
  fault.kind = FaultKind::out_of_bounds_shared;
  fault.location = run.where;
  fault.headline = "inline PTX accesses an address outside of shared memory";
  fault.detail = fmt::format("{} of {}; .shared needs an address of __cvta_generic_to_shared()", i.text,
                             reinterpret_cast<const void*>(address));
  worker.fail(std::move(fault));
}

void check_access(const Run& run, const void* address, size_t bytes, AccessKind kind) {
  if (kind == AccessKind::read || kind == AccessKind::write) {
    if (Hook* const hook = hook_for(bytes, is_write(kind))) {
      return hook(const_cast<void*>(address), const_cast<void*>(run.code));
    }
  }
  Worker& worker = *internal::active_worker;
  const auto at = reinterpret_cast<uintptr_t>(address);
  if (worker.trace != nullptr) {
    const EventKind event = is_atomic(kind) ? EventKind::atomic : is_write(kind) ? EventKind::write : EventKind::read;
    worker.trace_access(event, run.code, at, bytes);
  }
  const HostScope host;
  if (worker.attention) worker.settle_stores();
  if (at % bytes != 0) worker.fail_misaligned(at, bytes, is_write(kind), run.code, run.where);
  worker.check_access(at, bytes, kind, run.code, run.where);
}

void load(Run& run, const Instruction& i) {
  const Group& to = i.groups[0];
  const size_t each = bytes_of(i.type()), bytes = each * to.count;
  const void* const from = pointer_of(run, i, 1, names_shared(i));
  check_access(run, from, bytes, is_strong(i) ? AccessKind::volatile_read : AccessKind::read);
  for (size_t n = 0; n < to.count; ++n) {
    uint64_t bits = 0;
    copy_whole(&bits, static_cast<const char*>(from) + n * each, each);
    if (!is_signed(i.type())) {
      run.put(i.operand(0, n), bits);
      continue;
    }
    with_integer(i.type(), [&]<class T>(T) { run.put(i.operand(0, n), Run::from<T>(bits)); });
  }
}

void store(Run& run, const Instruction& i) {
  const Group& from = i.groups[1];
  const size_t each = bytes_of(i.type()), bytes = each * from.count;
  void* const to = pointer_of(run, i, 0, names_shared(i));
  release(i);
  check_access(run, to, bytes, is_strong(i) ? AccessKind::volatile_write : AccessKind::write);
  for (size_t n = 0; n < from.count; ++n) {
    uint64_t bits = run.get<uint64_t>(i.operand(1, n));
    if (i.type() == Type::f32) bits = __builtin_bit_cast(uint32_t, run.get<float>(i.operand(1, n)));
    if (i.type() == Type::f64) bits = __builtin_bit_cast(uint64_t, run.get<double>(i.operand(1, n)));
    copy_whole(static_cast<char*>(to) + n * each, &bits, each);
  }
}

void atomic(Run& run, const Instruction& i) {
  const bool returns = i.row->name == "atom";
  const size_t at = returns ? 1 : 0;
  void* const address = pointer_of(run, i, at, names_shared(i));
  release(i);
  check_access(run, address, bytes_of(i.type()),
               i.has("exch"_word) ? AccessKind::atomic_write : AccessKind::atomic_update);
  const auto put = [&](auto old) {
    if (returns) run.put(i.operand(0), old);
  };
  if (i.group_count < at + 2) fail_unsupported(run, i);
  const Operand& b = i.operand(at + 1);
  const Operand& c = i.group_count > at + 2 ? i.operand(at + 2) : b;
  if (i.type() == Type::f16x2) return put(replace_pair<Half>(run, i, address, run.get<uint32_t>(b)));
  if (i.type() == Type::bf16x2) return put(replace_pair<Brain>(run, i, address, run.get<uint32_t>(b)));
  const auto update = [&]<class T>(T) {
    put(replace<T>(address, [&](T old) { return changed<T>(run, i, old, run.get<T>(b), run.get<T>(c)); }));
  };
  if (!with_integer(i.type(), update)) with_real(i.type(), update);
}

void fence(Run&, const Instruction& i) { thread_fence(i.has("cta"_word) ? FenceScope::block : FenceScope::device); }

void create_policy(Run& run, const Instruction& i) { run.put(i.operand(0), uint64_t{0}); }

void convert_address(Run& run, const Instruction& i) {
  const auto address = run.get<uint64_t>(i.operand(1));
  if (!names_shared(i)) return run.put(i.operand(0), address);
  if (i.has("to"_word)) {
    return run.put(i.operand(0), uint64_t{shared_address_of(reinterpret_cast<const void*>(address))});
  }
  run.put(i.operand(0), reinterpret_cast<uint64_t>(shared_pointer_at(address)));
}

void is_in_space(Run& run, const Instruction& i) {
  const AddressSpace space = space_of(reinterpret_cast<const void*>(run.get<uint64_t>(i.operand(1))));
  const AddressSpace asked = i.has("global"_word)  ? AddressSpace::global
                             : i.has("local"_word) ? AddressSpace::local
                             : i.has("const"_word) ? AddressSpace::constant
                                                   : AddressSpace::shared;
  run.put(i.operand(0), static_cast<uint8_t>(space == asked));
}

/// [to], [from], bytes{, bytes to read, or a predicate that ignores the source}{, policy}
void copy_async(Run& run, const Instruction& i) {
  void* const to = pointer_of(run, i, 0, names_shared(i));
  const void* const from = pointer_of(run, i, 1, false);
  const auto bytes = run.get<uint32_t>(i.operand(2));
  uint32_t read = bytes;
  const bool has_policy = i.has("L2::cache_hint"_word);
  if (i.group_count > (has_policy ? 4u : 3u)) {
    const auto given = run.get<uint32_t>(i.operand(3));
    read = i.operand(3).predicate ? (run.is_true(i.operand(3)) ? 0 : bytes) : std::min(given, bytes);
  }
  simt::copy_async(to, from, bytes, bytes - read, run.where);
}

void commit_copies(Run&, const Instruction&) { simt::commit_copies(); }

void wait_for_copies(Run& run, const Instruction& i) {
  if (i.group_count > 0) return simt::wait_for_copies(run.get<uint32_t>(i.operand(0)));
  simt::commit_copies();  // wait_all includes copies that are in no group
  simt::wait_for_copies(0);
}

}  // namespace convlab::simt::ptx
