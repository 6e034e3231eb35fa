#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "convlab/simt/memory.h"
#include "convlab/simt/symbols.h"
#include "convlab/warps/kernel_counts.h"
#include "convlab/warps/lockstep.h"

namespace convlab::simt {

/// From now on, until stop_counting(), launches of kernels that are compiled with -fsanitize-coverage=trace-pc are
/// counted: what they load and store is not checked then, and they take two to three times as long.
void start_counting();

/// What was counted since start_counting(): kernels in the order of their first launches.
std::vector<KernelCounts> stop_counting();

/// Bytes that were filled on the device between the two, as cudaMemset does.
int64_t filled_bytes();

namespace internal {

/// Counts of the places in a kernel's code, by the return addresses of hooks.
struct CodeCounts {
  struct Access {
    MemorySpace space{};
    uintptr_t at = 0;         ///< the first one's address, which tells the array; of static shared memory the offset
    bool is_dynamic = false;  ///< shared memory
    int bytes = 0;
    MemoryCounts counts;
    ExampleRequest example;              ///< offsets from the begin of shared memory, elsewhere addresses
    uintptr_t example_at = UINTPTR_MAX;  ///< its first address
  };
  struct Block {
    int64_t warps = 0, lanes = 0;
  };
  std::unordered_map<uint64_t, Access> accesses;  ///< by key_of()
  std::unordered_map<const void*, Block> blocks;
  std::unordered_map<const void*, int64_t> diverged;
  int64_t tf32_flops = 0, half_flops = 0;  ///< of tensor cores, whose operations are no instructions of the kernel
  int64_t matrix_instructions = 0;         ///< their operations
  int64_t fused_flops = 0;                 ///< of float16's multiply-adds, which no machine code shows

  void add(const CodeCounts& other);

  static uint64_t key_of(EventKind kind, const void* code) {
    return reinterpret_cast<uint64_t>(code) << 2 | static_cast<uint64_t>(kind);
  }
  static const void* code_of(uint64_t key) { return reinterpret_cast<const void*>(key >> 2); }
  static EventKind kind_of(uint64_t key) { return static_cast<EventKind>(key & 3); }
};

/// Where shared memory is, and what else there is.
struct MemoryMap {
  uintptr_t static_shared = 0, dynamic_shared = 0;
  size_t static_bytes = 0, dynamic_bytes = 0;
  const Ranges* ranges = nullptr;
  const Module* module = nullptr;

  CodeCounts::Access place_of(uintptr_t address) const;

  /// Where shared memory begins, a multiple of all banks; 0 elsewhere, where all workers see the same addresses.
  uintptr_t base_of(const CodeCounts::Access& access) const {
    if (access.space != MemorySpace::shared) return 0;
    return (access.is_dynamic ? dynamic_shared : static_shared) / (4 * kBanks) * (4 * kBanks);
  }
};

/// Counts what one worker's blocks do in a launch.
class Counting final : WarpEvents {
 public:
  explicit Counting(const MemoryMap& map) : map_(map), lockstep_(*this) {}

  /// A block of so many threads begins.
  void begin_block(int threads);
  LaneTrace& trace(int thread) { return lanes_[static_cast<size_t>(thread)].trace; }
  ControlFlow& flow() { return lockstep_.flow(); }

  /// Counts what the warp's lanes have done: see Lockstep::advance().
  void advance(int first_thread, LaneMask unfinished);

  /// A matrix of `runs` parts of `bytes` each that the whole warp moves at once, `distance` bytes from part to part. We
  /// count it as if each lane took the next 4 bytes; a GPU's own instructions for it differ from chip to chip.
  void matrix(bool is_store, const void* code, uintptr_t base, int runs, size_t bytes, size_t distance);

  /// A product of small matrices on tensor cores.
  void matrix_product(bool of_tf32, int64_t flops) {
    (of_tf32 ? counts_.tf32_flops : counts_.half_flops) += flops;
    ++counts_.matrix_instructions;
  }

  /// A lane's a * b + c in float16.
  void multiply_add() { counts_.fused_flops += 2; }

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

  static constexpr size_t kPlaces = 512;  // found last, by a part of their address
  struct {
    uint64_t key = 0;
    CodeCounts::Access* found = nullptr;
  } last_accesses_[kPlaces];
  struct {
    const void* code = nullptr;
    CodeCounts::Block* found = nullptr;
  } last_blocks_[kPlaces];
};

struct Grid;

/// Adds a finished launch to what stop_counting() returns.
void keep_counts(const Grid& grid);
bool is_counting();
void keep_fill(size_t bytes);

}  // namespace internal
}  // namespace convlab::simt
