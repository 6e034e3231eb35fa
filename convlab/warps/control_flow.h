#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace convlab {

/// Which basic blocks of a kernel follow each other, as far as lanes have gone, and an order of them in which a loop
/// comes before what follows it and the branches of a condition before the place where they meet: François Bourdoncle's
/// weak topological order ("Efficient chaotic iteration strategies with widenings", 1993).
class ControlFlow {
 public:
  /// A lane went from one block to another of the same function; `from` is nullptr where the function begins. All
  /// blocks lie in one program or library, within 4 GiB.
  void add(const void* from, const void* to) {
    if (!knows(from, to)) insert(from, to);
  }

  /// Whether add() would do nothing. Now and then false for a step that it knows.
  bool knows(const void* from, const void* to) const { return last_[place_of_step(from, to)] == step_of(from, to); }

  /// The place in the order of a step from one block to another: that of the second, but behind the whole loop if the
  /// step leads back to the loop's head. 0 for a block that no lane has come to. Valid after sort().
  uint32_t order_of(const void* from, const void* to) const {
    const Place& next = place_of(to);
    return from && next.order <= place_of(from).order ? next.behind_loop : next.order;
  }

  /// The place of a block itself.
  uint32_t order_of(const void* block) const { return place_of(block).order; }

  /// Takes in what add() has learned. True if the order may have changed.
  bool sort();

 private:
  struct Block {
    const void* code;
    std::vector<uint32_t> next;
    uint32_t order = 0, behind_loop = 0;
  };
  class Sorting;

  static uint64_t step_of(const void* from, const void* to) {
    return reinterpret_cast<uintptr_t>(from) << 32 | static_cast<uint32_t>(reinterpret_cast<uintptr_t>(to));
  }
  static size_t place_of_step(const void* from, const void* to) {
    return step_of(from, to) * 0x9e3779b97f4a7c15u >> (64 - kStepBits);
  }

  void insert(const void* from, const void* to);
  uint32_t number_of(const void* block);

  struct Place {
    const void* block = nullptr;
    uint32_t order = 0, behind_loop = 0;
  };
  const Place& place_of(const void* block) const {
    Place& last = places_[reinterpret_cast<uintptr_t>(block) / 2 % kPlaces];
    if (last.block != block) last = find(block);
    return last;
  }
  Place find(const void* block) const;

  std::vector<Block> blocks_;
  std::unordered_map<const void*, uint32_t> numbers_;
  bool sorted_ = true;

  static constexpr int kStepBits = 10;
  uint64_t last_[1 << kStepBits] = {};  ///< steps that were added last, by a part of their bits

  static constexpr size_t kPlaces = 1024;  ///< looked at last, by a part of their addresses
  mutable Place places_[kPlaces];
};

}  // namespace convlab
