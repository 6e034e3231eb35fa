#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "convlab/simt/async_copy.h"
#include "convlab/simt/cuda/thread_groups.h"

/// Cooperative groups: <cooperative_groups/memcpy_async.h>. The threads of the group copy parts of 16, 8 or 4 bytes to
/// shared memory as by __pipeline_memcpy_async(), so that a use before wait() is a race. Other parts, and copies to
/// global memory, are plain copies, as on a GPU.
namespace convlab::simt::cuda::cooperative_groups {

/// Copies by the threads of a group.
struct group_copy {
  char* to;
  const char* from;
  size_t rank, threads;
  Where where;
  const void* barrier = nullptr;  ///< one of its phases awaits the copies; nullptr: their threads do
  unsigned phase = 0;

  template <class Part>
  void plainly(size_t begin, size_t end) const {
    for (size_t at = begin + rank * sizeof(Part); at + sizeof(Part) <= end; at += threads * sizeof(Part)) {
      *reinterpret_cast<Part*>(to + at) = *reinterpret_cast<const Part*>(from + at);
    }
  }

  void start(size_t at, size_t part) const {
    if (barrier == nullptr) return copy_async(to + at, from + at, part, 0, where);
    copy_async_until(to + at, from + at, part, barrier, phase, where);
  }

  void run(size_t bytes) const {
    const uintptr_t offsets = reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from);
    const size_t part = offsets % 16 == 0 ? 16 : offsets % 8 == 0 ? 8 : offsets % 4 == 0 ? 4 : 1;
    const size_t whole = part == 1 ? 0 : bytes / part * part;
    if (!is_shared_memory(to)) {
      plainly<uint32_t>(0, whole);
    } else {
      for (size_t at = rank * part; at < whole; at += threads * part) start(at, part);
    }
    plainly<char>(whole, bytes);
  }
};

/// Starts the copy of `bytes`, a number or a cuda::aligned_size_t, by all threads of the group.
template <class Group, class T, class Size>
void memcpy_async(const Group& group, T* to, const T* from, const Size& bytes, Where where = Where::current()) {
  const group_copy copy{reinterpret_cast<char*>(to), reinterpret_cast<const char*>(from), group.thread_rank(),
                        group.num_threads(), where};
  copy.run(static_cast<size_t>(bytes));
  commit_copies();
}
/// The same for elements: as many as both arrays have.
template <class Group, class T, class SizeTo, class SizeFrom>
requires(!std::is_same_v<SizeFrom, Where>) void memcpy_async(const Group& group, T* to, const SizeTo& elements_to,
                                                             const T* from, const SizeFrom& elements_from,
                                                             Where where = Where::current()) {
  const size_t elements = std::min(static_cast<size_t>(elements_to), static_cast<size_t>(elements_from));
  memcpy_async(group, to, from, elements * sizeof(T), where);
}

/// Waits for all copies of the group's threads, or for all but the last `Stages`, and then for the group.
template <class Group>
void wait(const Group& group, Where where = Where::current()) {
  wait_for_copies(0);
  group.sync(where);
}
template <unsigned Stages, class Group>
void wait_prior(const Group& group, Where where = Where::current()) {
  wait_for_copies(Stages);
  group.sync(where);
}

}  // namespace convlab::simt::cuda::cooperative_groups
