#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/warps/trace.h"

namespace convlab {

/// Memory requests of kernels, counted like a GPU's own counters: a request is one instruction of one warp, however
/// many lanes are active. Lanes that a GPU compiler would let run together are counted together: see lockstep.h.
/// Compiler optimizations, such as vectorized loads or values kept in registers, are not modeled.
enum class MemorySpace : uint8_t { global, shared, constant };
std::string_view name_of(MemorySpace space);

enum class AccessType : uint8_t { load, store, atomic };
std::string_view name_of(AccessType type);

/// Size of a sector of global memory, in bytes: the unit of transfers.
inline constexpr int kSectorBytes = 32;

/// Number of banks of shared memory. Each bank delivers one 4-byte word per wavefront; a request that needs more takes
/// several wavefronts.
inline constexpr int kBanks = 32;

/// Counts of requests.
struct MemoryCounts {
  int64_t requests = 0;
  int64_t lanes = 0;             ///< active lanes, summed over requests
  int64_t bytes = 0;             ///< distinct bytes that the lanes of a request access, summed over requests
  int64_t sectors = 0;           ///< of global memory
  int64_t least_sectors = 0;     ///< if each request's bytes were contiguous
  int64_t wavefronts = 0;        ///< of shared memory; constant memory: one per distinct address
  int64_t least_wavefronts = 0;  ///< without bank conflicts

  MemoryCounts& operator+=(const MemoryCounts& other);
  int64_t bank_conflicts() const { return wavefronts - least_wavefronts; }
};

/// An example of a line's requests: the most expensive one; among equals, the one at the lowest address.
struct ExampleRequest {
  int64_t cost = 0;  ///< in sectors or wavefronts; 0: there is no example
  LaneMask lanes = 0;
  /// Each lane's address, in bytes. Shared memory: from the start of the block's shared memory, so offset / 4 % 32 is
  /// the bank. Other memory: from the sector in which the array begins, so offset / 32 is the sector. 0 for inactive
  /// lanes.
  std::array<int64_t, kLanes> offsets{};

  /// Returns whether `other` is the better example.
  bool gives_way_to(const ExampleRequest& other) const {
    return other.cost > cost || (other.cost == cost && other.first() < first());
  }
  int64_t first() const { return lanes == 0 ? INT64_MAX : offsets[static_cast<size_t>(std::countr_zero(lanes))]; }
};

/// The accesses of one line to one array, with one type and size.
struct LineCounts {
  std::string where;  ///< "conv.cu:31"
  std::string array;  ///< name of the allocation or variable; "" if there is none
  MemorySpace space{};
  AccessType type{};
  int access_bytes = 0;  ///< of one lane
  MemoryCounts counts;
  ExampleRequest example;
  int64_t array_bytes = 0;  ///< global memory: the size of all allocations with the array's name

  LineCounts& operator+=(const LineCounts& other);  ///< of the same line, array, type and size
};

/// A branch at which lanes of a warp diverged.
struct BranchCounts {
  std::string where;
  int64_t warps = 0;     ///< that executed the branch
  int64_t diverged = 0;  ///< of these, how many diverged
};

/// Returns the cost of one request of these lanes. `addresses` has one address per active lane, in lane order; each
/// lane accesses `bytes` (1, 2, 4, 8 or 16). Shared memory serves 8 bytes per lane in two half-warps, and 16 bytes in
/// four quarters. Loads in which the lanes of each pair (0 and 1, 2 and 3, ...) have the same address are served for
/// twice as many lanes at a time. This matches an H200's counters for all 288 patterns that we measured.
MemoryCounts cost_of(MemorySpace space, AccessType type, LaneMask lanes, std::span<const uintptr_t> addresses,
                     size_t bytes);

/// All launches of one kernel with one shape.
struct KernelCounts {
  std::string kernel;
  std::array<unsigned, 3> grid{}, block{};
  size_t static_shared_bytes = 0, dynamic_shared_bytes = 0;
  int registers = 0;  ///< per thread, on a GPU; 0: unknown
  int64_t launches = 0, warps = 0;
  int64_t flops = 0;  ///< float additions, multiplications, divisions and square roots; a multiply-add counts as two
  int64_t tf32_flops = 0, half_flops = 0;  ///< part of `flops` on tensor cores, by operand type
  int64_t instructions = 0;            ///< approximate number issued by warps, including memory accesses: see BlockCode
  int64_t blocks = 0;                  ///< basic blocks that warps executed
  int64_t lanes = 0;                   ///< active in these blocks, summed over them
  std::vector<LineCounts> lines;       ///< in source order
  std::vector<BranchCounts> branches;  ///< those that diverged, in source order

  MemoryCounts total(MemorySpace space, AccessType type) const;

  /// Sorts lines and branches into source order.
  void sort();

  /// Adds other launches of the kernel.
  KernelCounts& operator+=(const KernelCounts& other);

  /// Returns the average number of active lanes, of 32.
  double active_lanes() const { return blocks == 0 ? 0 : static_cast<double>(lanes) / static_cast<double>(blocks); }
};

}  // namespace convlab
