#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "convlab/kernel_file/simt_include/cuda/detail/scoped_barrier.h"
#include "convlab/simt/cuda/group_copies.h"

/// cuda::memcpy_async() with a barrier, and cuda::aligned_size_t. A copy to shared memory in parts of 4, 8 or 16 bytes
/// is asynchronous: an access to its destination before the barrier's phase is over is a race. Other copies are plain
/// ones of the thread, as on a GPU.
namespace cuda {

/// A number of bytes. It and the addresses are multiples of `Alignment`.
template <std::size_t Alignment>
struct aligned_size_t {
  static constexpr std::size_t align = Alignment;
  std::size_t value;
  explicit constexpr aligned_size_t(std::size_t size) : value(size) {}
  constexpr operator std::size_t() const { return value; }
};

enum class async_contract_fulfillment { none, async };

namespace simt_detail {

template <class Size>
constexpr std::size_t alignment_of = 1;
template <std::size_t Alignment>
constexpr std::size_t alignment_of<aligned_size_t<Alignment>> = Alignment;

template <class Group>
concept ThreadGroup = requires(const Group& group) {
  group.thread_rank();
  group.size();
};

/// The group of the calling thread.
struct OneThread {
  static unsigned thread_rank() { return 0; }
  static unsigned size() { return 1; }
};

template <class Group, class Size>
async_contract_fulfillment copy(const Group& group, void* to, const void* from, const Size& bytes, const void* barrier,
                                unsigned phase, Where where) {
  constexpr std::size_t kAlignment = alignment_of<Size>;
  const uintptr_t offsets =
      reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) | static_cast<std::size_t>(bytes);
  if (offsets % kAlignment != 0) {
    convlab::simt::fail_assertion("both addresses and the size are multiples of the alignment of aligned_size_t",
                                  where);
  }
  const convlab::simt::cuda::cooperative_groups::group_copy copies{static_cast<char*>(to),
                                                                   static_cast<const char*>(from),
                                                                   static_cast<std::size_t>(group.thread_rank()),
                                                                   static_cast<std::size_t>(group.size()),
                                                                   where,
                                                                   barrier,
                                                                   phase};
  copies.run(static_cast<std::size_t>(bytes));
  return convlab::simt::is_shared_memory(to) ? async_contract_fulfillment::async : async_contract_fulfillment::none;
}

}  // namespace simt_detail

template <simt_detail::ThreadGroup Group, class To, class From, class Size, thread_scope Scope, class Completion>
async_contract_fulfillment memcpy_async(const Group& group, To* to, const From* from, const Size& bytes,
                                        barrier<Scope, Completion>& until,
                                        simt_detail::Where where = simt_detail::Where::current()) {
  static_assert(std::is_void_v<To> || std::is_trivially_copyable_v<To>, "memcpy_async: T must be trivially copyable");
  const auto word = simt_detail::barrier_access::word(until);
  return simt_detail::copy(group, to, from, bytes, word.word, simt_detail::barrier_access::phase(until, where), where);
}
template <class To, class From, class Size, thread_scope Scope, class Completion>
async_contract_fulfillment memcpy_async(To* to, const From* from, const Size& bytes, barrier<Scope, Completion>& until,
                                        simt_detail::Where where = simt_detail::Where::current()) {
  return memcpy_async(simt_detail::OneThread{}, to, from, bytes, until, where);
}

}  // namespace cuda
