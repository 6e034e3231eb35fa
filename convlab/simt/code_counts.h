#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "convlab/simt/ranges.h"
#include "convlab/simt/symbols.h"
#include "convlab/warps/kernel_counts.h"
#include "convlab/warps/lockstep.h"

/// What the workers of a launch count, by code address.
namespace convlab::simt::internal {

/// Counts per code address, which is the return address of a hook.
struct CodeCounts {
  struct Access {
    MemorySpace space{};
    uintptr_t at = 0;         ///< address of the first access, which identifies the array; static shared memory: offset
    bool is_dynamic = false;  ///< dynamic shared memory
    int bytes = 0;
    MemoryCounts counts;
    ExampleRequest example;              ///< offsets from the start of shared memory, otherwise addresses
    uintptr_t example_at = UINTPTR_MAX;  ///< its first address
  };
  struct Block {
    int64_t warps = 0, lanes = 0;
  };
  std::unordered_map<uint64_t, Access> accesses;  ///< by key_of()
  std::unordered_map<const void*, Block> blocks;
  std::unordered_map<const void*, int64_t> diverged;
  int64_t tf32_flops = 0, half_flops = 0;  ///< of tensor cores, whose operations are not instructions of the host code
  int64_t matrix_instructions = 0;         ///< warp-wide operations on tensor cores
  int64_t fused_flops = 0;  ///< of fp16 multiply-adds and inline PTX, which the host's machine code does not show

  void add(const CodeCounts& other);

  static uint64_t key_of(EventKind kind, const void* code) {
    return reinterpret_cast<uint64_t>(code) << 2 | static_cast<uint64_t>(kind);
  }
  static const void* code_of(uint64_t key) { return reinterpret_cast<const void*>(key >> 2); }
  static EventKind kind_of(uint64_t key) { return static_cast<EventKind>(key & 3); }
};

/// The memory layout of a launch.
struct MemoryMap {
  uintptr_t static_shared = 0, dynamic_shared = 0;
  size_t static_bytes = 0, dynamic_bytes = 0;
  const Ranges* ranges = nullptr;
  const Module* module = nullptr;

  CodeCounts::Access place_of(uintptr_t address) const;

  /// Returns the base of shared memory, rounded down to a multiple of all banks (128 bytes). Returns 0 for other
  /// memory, where all workers see the same addresses.
  uintptr_t base_of(const CodeCounts::Access& access) const {
    if (access.space != MemorySpace::shared) return 0;
    return (access.is_dynamic ? dynamic_shared : static_shared) / (4 * kBanks) * (4 * kBanks);
  }
};

/// Returns the access type of an event.
AccessType type_of(EventKind kind);

/// Counts what one worker's blocks do in a launch.
class Counting final : WarpEvents {
 public:
  explicit Counting(const MemoryMap& map) : map_(map), lockstep_(*this) {}

  /// Starts a block of `threads` threads.
  void begin_block(int threads);
  LaneTrace& trace(int thread) { return lanes_[static_cast<size_t>(thread)].trace; }
  ControlFlow& flow() { return lockstep_.flow(); }

  /// Counts what the warp's lanes have done: see Lockstep::advance().
  void advance(int first_thread, LaneMask unfinished);

  /// Counts a matrix that the whole warp moves at once: `runs` runs of `bytes` contiguous bytes each, `distance` bytes
  /// apart. We count it as if each lane moved the next 4 bytes, because a GPU's own instructions for it differ between
  /// chips.
  void matrix(bool is_store, const void* code, uintptr_t base, int runs, size_t bytes, size_t distance);

  /// Counts a product of small matrices on tensor cores.
  void matrix_product(bool of_tf32, int64_t flops) {
    (of_tf32 ? counts_.tf32_flops : counts_.half_flops) += flops;
    ++counts_.matrix_instructions;
  }

  /// Counts one lane's a * b + c in fp16.
  void multiply_add() { counts_.fused_flops += 2; }

  /// Counts one lane's arithmetic in inline PTX.
  void arithmetic(int flops) { counts_.fused_flops += flops; }

  const CodeCounts& counts() const { return counts_; }

 private:
  void block(const void* code, LaneMask lanes) override;
  void access(EventKind kind, const void* code, LaneMask lanes, std::span<const uintptr_t> addresses,
              size_t bytes) override;
  void keep_example(CodeCounts::Access& access, int64_t cost, LaneMask lanes, std::span<const uintptr_t> addresses);
  void diverged(const void* code) override { ++counts_.diverged[code]; }

  const MemoryMap map_;
  Lockstep lockstep_;
  std::vector<Lockstep::Lane> lanes_;
  int threads_ = 0;
  CodeCounts counts_;

  static constexpr size_t kPlaces = 512;  // direct-mapped caches of the last entries, indexed by code address
  struct {
    uint64_t key = 0;
    CodeCounts::Access* found = nullptr;
  } last_accesses_[kPlaces];
  struct {
    const void* code = nullptr;
    CodeCounts::Block* found = nullptr;
  } last_blocks_[kPlaces];
};

}  // namespace convlab::simt::internal
