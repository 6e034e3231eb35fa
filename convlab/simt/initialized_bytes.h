#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

/// Which bytes of an array were written: a map with one entry per 4 bytes, whose bits 0 to 3 stand for its bytes.
namespace convlab::simt::internal {

inline constexpr unsigned kAllBytes = 0xf;

/// Returns the bits of a word's entry for the bytes from `first` to `last`, 0 to 3.
constexpr unsigned byte_bits(size_t first, size_t last) { return kAllBytes >> (3 - last) & kAllBytes << first; }

// Several workers read and set entries; the order does not matter.
inline bool is_initialised(const uint8_t* entry, unsigned bits = kAllBytes) {
  return (__atomic_load_n(entry, __ATOMIC_RELAXED) & bits) == bits;
}
inline void set_initialised(uint8_t* entry, unsigned bits = kAllBytes) {
  if (bits == kAllBytes) {
    __atomic_store_n(entry, static_cast<uint8_t>(kAllBytes), __ATOMIC_RELAXED);
  } else {
    __atomic_fetch_or(entry, static_cast<uint8_t>(bits), __ATOMIC_RELAXED);
  }
}

/// Calls `each(entry number, bits)` for the words of the bytes [offset, offset + bytes).
template <class Each>
void for_each_word(size_t offset, size_t bytes, Each&& each) {
  for (const size_t end = offset + bytes; offset < end;) {
    const size_t word = offset / 4, stop = std::min(end, word * 4 + 4);
    each(word, byte_bits(offset % 4, (stop - 1) % 4));
    offset = stop;
  }
}

/// Marks the bytes [offset, offset + bytes) of the array.
inline void mark_bytes(uint8_t* map, size_t offset, size_t bytes) {
  const size_t first = (offset + 3) / 4, last = std::max(first, (offset + bytes) / 4);  // of the whole words
  const auto mark = [&](size_t word, unsigned bits) { set_initialised(map + word, bits); };
  for_each_word(offset, std::min(bytes, first * 4 - offset), mark);
  std::memset(map + first, kAllBytes, last - first);
  if (last * 4 < offset + bytes) for_each_word(last * 4, offset + bytes - last * 4, mark);
}

/// Returns the first of the bytes [offset, offset + bytes) without a mark; offset + bytes if all have one.
inline size_t first_unmarked(const uint8_t* map, size_t offset, size_t bytes) {
  const size_t end = offset + bytes;
  while (offset < end) {
    if (offset % 4 == 0 && is_initialised(map + offset / 4)) {
      offset = std::min(end, offset + 4);
    } else if (is_initialised(map + offset / 4, byte_bits(offset % 4, offset % 4))) {
      ++offset;
    } else {
      break;
    }
  }
  return offset;
}

/// Copies the marks of bytes that are copied between arrays, from offset `from` to offset `to`. The offsets must be
/// equal modulo 4. The arrays may overlap.
inline void copy_marks(uint8_t* to_map, size_t to, const uint8_t* from_map, size_t from, size_t bytes) {
  if (bytes == 0) return;
  const size_t words = (to + bytes - 1) / 4 - to / 4 + 1;
  uint8_t* const target = to_map + to / 4;
  const uint8_t first = target[0], last = target[words - 1];
  std::memmove(target, from_map + from / 4, words);
  // Other bytes of the first and of the last word keep their marks.
  const unsigned before = byte_bits(0, 3) & ~byte_bits(to % 4, 3),
                 after = kAllBytes & ~byte_bits(0, (to + bytes - 1) % 4);
  target[0] = static_cast<uint8_t>((target[0] & ~before) | (first & before));
  target[words - 1] = static_cast<uint8_t>((target[words - 1] & ~after) | (last & after));
}

}  // namespace convlab::simt::internal
