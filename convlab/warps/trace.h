#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "convlab/warps/control_flow.h"

/// Traces of a warp's lanes, which are counted like on a GPU: one warp at a time.
namespace convlab {

inline constexpr int kLanes = 32;  ///< per warp
using LaneMask = uint32_t;         ///< bit i: lane i

template <class Do>
void for_each_lane(LaneMask lanes, Do&& work) {
  for (; lanes != 0; lanes &= lanes - 1) work(std::countr_zero(lanes));
}

enum class EventKind : uint8_t {
  block,  ///< a basic block of the code begins
  read,
  write,
  atomic,
  enter,  ///< a function begins
  leave,
};

inline bool is_access(EventKind kind) { return kind >= EventKind::read && kind <= EventKind::atomic; }

/// The events of one lane, in order. Each event is one word with its kind and code address; an access has a second word
/// with its size and address.
class LaneTrace {
 public:
  /// A lane whose trace has this many words pauses until they are counted.
  static constexpr ptrdiff_t kMostWords = 1024;

  /// Starts the trace of a new thread.
  void begin() {
    next_ = words_.data();
    block_ = nullptr;
    callers_.clear();
  }

  /// Adds the beginning of a basic block. Returns true if the trace is full.
  [[gnu::always_inline]] bool block(const void* code, ControlFlow& flow) {
    uint64_t* const at = next_;
    if (at == last_ || !flow.knows(block_, code)) [[unlikely]]
      return begin_block(code, flow);
    block_ = code;
    *at = event(EventKind::block, code);
    next_ = at + 1;
    return at >= full_;
  }
  void enter(const void* code) {
    callers_.push_back(std::exchange(block_, nullptr));
    put(event(EventKind::enter, code));
  }
  void leave(const void* code) {
    if (callers_.empty()) return;  // of a function that was entered before the trace began
    block_ = callers_.back();
    callers_.pop_back();
    put(event(EventKind::leave, code));
  }
  void access(EventKind kind, const void* code, uintptr_t address, size_t bytes) {
    uint64_t* const at = last_ - next_ < 2 ? grow() : next_;
    at[0] = event(kind, code);
    at[1] = uint64_t{bytes} << kAddressBits | address;
    next_ = at + 2;
  }

  /// Returns the first event. kEnd follows the last one.
  const uint64_t* first() {
    *next_ = kEnd;
    return words_.data();
  }
  void forget_until(const uint64_t* word) {
    next_ = std::copy(word, static_cast<const uint64_t*>(next_), words_.data());
  }

  static constexpr uint64_t kEnd = 0;
  static constexpr int kKindBits = 3, kAddressBits = 48;
  static EventKind kind_of(uint64_t event) { return static_cast<EventKind>(event & ((1 << kKindBits) - 1)); }
  static const void* code_of(uint64_t event) { return reinterpret_cast<const void*>(event >> kKindBits); }
  static uintptr_t address_of(uint64_t word) { return word & ((uint64_t{1} << kAddressBits) - 1); }
  static size_t bytes_of(uint64_t word) { return word >> kAddressBits; }

 private:
  static uint64_t event(EventKind kind, const void* code) {
    return reinterpret_cast<uint64_t>(code) << kKindBits | static_cast<uint64_t>(kind);
  }

  void put(uint64_t word) {
    uint64_t* const at = next_ == last_ ? grow() : next_;
    *at = word;
    next_ = at + 1;
  }
  [[gnu::noinline, gnu::cold]] uint64_t* grow();
  [[gnu::noinline]] bool begin_block(const void* code, ControlFlow& flow);

  std::vector<uint64_t> words_ = std::vector<uint64_t>(2 * kMostWords);
  uint64_t* next_ = words_.data();
  uint64_t* full_ = words_.data() + kMostWords;
  uint64_t* last_ = words_.data() + words_.size() - 1;  // leaves room for kEnd
  const void* block_ = nullptr;                         // the lane's current block
  std::vector<const void*> callers_{};                  // the lane's blocks in the calling functions
};

}  // namespace convlab
