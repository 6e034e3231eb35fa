// Reads the distances of thread-local variables from machine code.

#include "convlab/simt/thread_local_code.h"

#include <cstring>

namespace convlab::simt::internal {

#if defined(__x86_64__)

uintptr_t thread_pointer() {
  uintptr_t pointer;
  asm("mov %%fs:0, %0" : "=r"(pointer));
  return pointer;
}

bool reads_thread_pointer(const void* begin, size_t bytes) {
  const auto* const code = static_cast<const uint8_t*>(begin);
  constexpr uint8_t kInstruction[] = {0x64, 0x48, 0, 0x04, 0x25, 0, 0, 0, 0},  // mov %fs:0, register
      kMask[] = {0xff, 0xf8, 0, 0xc7, 0xff, 0xff, 0xff, 0xff, 0xff};
  for (size_t at = 0; at + sizeof(kInstruction) <= bytes; ++at) {
    size_t same = 0;
    while (same < sizeof(kInstruction) && (code[at + same] & kMask[same]) == kInstruction[same]) ++same;
    if (same == sizeof(kInstruction)) return true;
  }
  return false;
}

// 32-bit numbers inside instructions. These include bytes that only look like a number, but no branch targets.
std::vector<int64_t> thread_local_distances(const void* begin, size_t bytes) {
  const auto* const code = static_cast<const uint8_t*>(begin);
  std::vector<int64_t> found;
  for (size_t at = 2; at + 4 <= bytes; ++at) {
    const bool is_branch = (code[at - 1] & 0xfe) == 0xe8 && (code[at - 2] & 0xc7) != 0x84;  // call, jmp; no SIB byte
    int32_t value;
    std::memcpy(&value, code + at, sizeof(value));
    if (value < 0 && !is_branch) found.push_back(value);
  }
  return found;
}

#elif defined(__aarch64__)

namespace {

uint32_t instruction(const void* code, size_t number) {
  uint32_t word;
  std::memcpy(&word, static_cast<const uint8_t*>(code) + 4 * number, sizeof(word));
  return word;
}

}  // namespace

uintptr_t thread_pointer() {
  uintptr_t pointer;
  asm("mrs %0, tpidr_el0" : "=r"(pointer));
  return pointer;
}

bool reads_thread_pointer(const void* code, size_t bytes) {
  for (size_t i = 0; i < bytes / 4; ++i) {
    if ((instruction(code, i) & 0xffffffe0) == 0xd53bd040) return true;  // mrs register, tpidr_el0
  }
  return false;
}

// A distance is loaded by movz with the upper and movk with the lower 16 bits, which linkers make of a descriptor's
// address, or added in two steps of 12 bits.
std::vector<int64_t> thread_local_distances(const void* code, size_t bytes) {
  std::vector<int64_t> found;
  int64_t high = 0, page = 0;
  for (size_t i = 0; i < bytes / 4; ++i) {
    const uint32_t word = instruction(code, i);
    const int64_t wide = word >> 5 & 0xffff, narrow = word >> 10 & 0xfff;
    if ((word & 0xffe00000) == 0xd2a00000) high = wide << 16;               // movz register, wide, lsl 16
    if ((word & 0xffe00000) == 0xf2800000) found.push_back(high | wide);    // movk register, wide
    if ((word & 0xffc00000) == 0x91400000) page = narrow << 12;             // add register, narrow, lsl 12
    if ((word & 0xffc00000) == 0x91000000) found.push_back(page | narrow);  // add register, narrow
  }
  return found;
}

#else

uintptr_t thread_pointer() { return 0; }
bool reads_thread_pointer(const void*, size_t) { return false; }
std::vector<int64_t> thread_local_distances(const void*, size_t) { return {}; }

#endif

}  // namespace convlab::simt::internal
