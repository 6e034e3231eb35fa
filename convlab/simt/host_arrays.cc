// Records the sizes of a kernel file's host arrays.

#include "convlab/simt/host_arrays.h"

#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>

namespace convlab::simt {
namespace {

struct Arrays {
  std::mutex mutex;
  std::map<uintptr_t, size_t> bytes;  // by address
};

Arrays& arrays() {
  static Arrays& one = *new Arrays;  // never destroyed: static objects may still free memory at exit
  return one;
}

/// Accepts an integer: GCC warns if a pointer to uninitialized memory is passed as a pointer to const.
void remember(uintptr_t address, size_t bytes) {
  if (address == 0) return;
  std::lock_guard lock(arrays().mutex);
  arrays().bytes[address] = bytes;
}

}  // namespace

void remember_host_array(const void* array, size_t bytes) { remember(reinterpret_cast<uintptr_t>(array), bytes); }

void forget_host_array(const void* array) {
  std::lock_guard lock(arrays().mutex);
  arrays().bytes.erase(reinterpret_cast<uintptr_t>(array));
}

size_t host_room(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  std::lock_guard lock(arrays().mutex);
  auto after = arrays().bytes.upper_bound(at);
  if (after == arrays().bytes.begin()) return SIZE_MAX;
  const auto& [begin, bytes] = *--after;
  return at - begin < bytes ? bytes - (at - begin) : SIZE_MAX;
}

void* allocate_host_array(size_t bytes) {
  void* const array = std::malloc(bytes);
  remember(reinterpret_cast<uintptr_t>(array), bytes);
  return array;
}

void release_host_array(void* array) {
  forget_host_array(array);
  std::free(array);
}

}  // namespace convlab::simt

// The linker redirects a kernel file's calls here; device_heap.cc handles malloc(), free(), new and delete.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
using namespace convlab::simt;
void* __wrap_calloc(size_t count, size_t bytes) {
  void* const array = std::calloc(count, bytes);
  remember(reinterpret_cast<uintptr_t>(array), count * bytes);
  return array;
}
void* __wrap_realloc(void* array, size_t bytes) {
  forget_host_array(array);
  void* const larger = std::realloc(array, bytes);
  remember(reinterpret_cast<uintptr_t>(larger), bytes);
  return larger;
}
}
// NOLINTEND(bugprone-reserved-identifier)
