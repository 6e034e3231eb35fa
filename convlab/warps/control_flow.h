#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace convlab {

/// The control-flow graph of a kernel's basic blocks, as far as lanes have executed it, and an order of the blocks in
/// which a loop comes before what follows it and the branches of a condition before their join point: François
/// Bourdoncle's weak topological order ("Efficient chaotic iteration strategies with widenings", 1993).
class ControlFlow {
 public:
  /// Adds an edge that a lane took between two blocks of the same function; `from` is nullptr at the function's entry.
  /// All blocks lie in one program or library, within 4 GiB.
  void add(const void* from, const void* to) {
    if (!knows(from, to)) insert(from, to);
  }

  /// Returns whether add() would do nothing. May return false for a known edge (a cache miss).
  bool knows(const void* from, const void* to) const { return last_[place_of_step(from, to)] == step_of(from, to); }

  /// Returns the order of an edge: that of its target block, but after the whole loop if the edge leads back to the
  /// loop's head. Returns 0 for a block that no lane has executed. Valid after sort().
  uint32_t order_of(const void* from, const void* to) const {
    const Place& next = place_of(to);
    return from && next.order <= place_of(from).order ? next.behind_loop : next.order;
  }

  /// Returns the order of a block.
  uint32_t order_of(const void* block) const { return place_of(block).order; }

  /// Sorts the blocks after add(). Returns true if the order may have changed.
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
  uint64_t last_[1 << kStepBits] = {};  ///< direct-mapped cache of known edges

  static constexpr size_t kPlaces = 1024;  ///< direct-mapped cache of block orders
  mutable Place places_[kPlaces];
};

}  // namespace convlab
