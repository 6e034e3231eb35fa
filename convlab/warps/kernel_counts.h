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

/// What kernels do to memory, counted as a GPU's own counters do: a request is one instruction of one warp, whatever
/// the number of lanes that take part. Lanes that a GPU's compiler would let run together count as together: see
/// lockstep.h. What a GPU's compiler does with the instructions, joining loads or keeping values in registers, does not
/// show.
enum class MemorySpace : uint8_t { global, shared, constant };
std::string_view name_of(MemorySpace space);

enum class AccessType : uint8_t { load, store, atomic };
std::string_view name_of(AccessType type);

/// Global memory moves in sectors of so many bytes.
inline constexpr int kSectorBytes = 32;

/// Shared memory gives each of 32 banks one 4-byte word at a time; what takes longer comes in several wavefronts.
inline constexpr int kBanks = 32;

/// Of requests.
struct MemoryCounts {
  int64_t requests = 0;
  int64_t lanes = 0;             ///< that took part, summed over requests
  int64_t bytes = 0;             ///< that the lanes asked for, each address of a request once
  int64_t sectors = 0;           ///< of global memory
  int64_t least_sectors = 0;     ///< if a request's bytes lay together
  int64_t wavefronts = 0;        ///< of shared memory; of constant memory one for each address
  int64_t least_wavefronts = 0;  ///< without bank conflicts

  MemoryCounts& operator+=(const MemoryCounts& other);
  int64_t bank_conflicts() const { return wavefronts - least_wavefronts; }
};

/// One request as an example of others: the one that costs most, of equals the one at the lowest address.
struct ExampleRequest {
  int64_t cost = 0;  ///< sectors or wavefronts; 0: there is none
  LaneMask lanes = 0;
  /// Each lane's address, in bytes: of shared memory from the begin of the block's, so that offset / 4 % 32 is the
  /// bank; elsewhere from the sector in which the array begins, so that offset / 32 is the sector. 0 where a lane takes
  /// no part.
  std::array<int64_t, kLanes> offsets{};

  /// Whether the other should stand here instead.
  bool gives_way_to(const ExampleRequest& other) const {
    return other.cost > cost || (other.cost == cost && other.first() < first());
  }
  int64_t first() const { return lanes == 0 ? INT64_MAX : offsets[static_cast<size_t>(std::countr_zero(lanes))]; }
};

/// One line's accesses of one sort.
struct LineCounts {
  std::string where;  ///< "conv.cu:31"
  std::string array;  ///< the allocation's or variable's name; "" if there is none
  MemorySpace space{};
  AccessType type{};
  int access_bytes = 0;  ///< of one lane
  MemoryCounts counts;
  ExampleRequest example;
  int64_t array_bytes = 0;  ///< of global memory: the size of all allocations of the array's name

  LineCounts& operator+=(const LineCounts& other);  ///< of the same line, array and sort
};

/// A place where lanes of a warp went different ways.
struct BranchCounts {
  std::string where;
  int64_t warps = 0;     ///< that came by
  int64_t diverged = 0;  ///< of them
};

/// What one request of these lanes costs. Each has an address, in their order, and wants `bytes` (1, 2, 4, 8 or 16).
/// Shared memory serves 8 bytes a lane in two halves of the warp, 16 in quarters; loads in which each lane has its
/// neighbour's address (0 and 1, 2 and 3, ...) in parts of twice as many lanes. So an H200 counts, for each of 288
/// patterns that we tried.
MemoryCounts cost_of(MemorySpace space, AccessType type, LaneMask lanes, std::span<const uintptr_t> addresses,
                     size_t bytes);

/// All launches of one kernel with one shape.
struct KernelCounts {
  std::string kernel;
  std::array<unsigned, 3> grid{}, block{};
  size_t static_shared_bytes = 0, dynamic_shared_bytes = 0;
  int registers = 0;  ///< of a thread, on a GPU; 0: nobody has asked its compiler
  int64_t launches = 0, warps = 0;
  int64_t flops = 0;  ///< additions, multiplications, divisions and square roots of floats; a multiply-add is two
  int64_t tf32_flops = 0, half_flops = 0;  ///< of these, tensor cores', by what they multiply
  int64_t instructions = 0;                ///< that warps issue, accesses to memory among them, about: see BlockCode
  int64_t blocks = 0;                      ///< basic blocks that warps executed
  int64_t lanes = 0;                       ///< that were active in them, summed
  std::vector<LineCounts> lines;           ///< in the order of the source
  std::vector<BranchCounts> branches;      ///< those that diverged, likewise

  MemoryCounts total(MemorySpace space, AccessType type) const;

  /// Orders lines and branches as the source does.
  void sort();

  /// Adds other launches of the kernel.
  KernelCounts& operator+=(const KernelCounts& other);

  /// Lanes that were active on average, of 32.
  double active_lanes() const { return blocks == 0 ? 0 : static_cast<double>(lanes) / static_cast<double>(blocks); }
};

}  // namespace convlab
