// Reads PTX's special registers.

#include "convlab/simt/ptx/special_registers.h"

#include <array>
#include <ctime>
#include <utility>

#include "convlab/simt/cuda/device_clock.h"
#include "convlab/simt/cuda/device_models.h"
#include "convlab/simt/worker.h"

namespace convlab::simt::ptx {
namespace {

constexpr unsigned kWarpLanes = 32;

/// Clusters have one block here.
constexpr std::array<std::pair<std::string_view, Special>, 47> kNames{{
    {"tid.x", Special::tid_x},
    {"tid.y", Special::tid_y},
    {"tid.z", Special::tid_z},
    {"ntid.x", Special::ntid_x},
    {"ntid.y", Special::ntid_y},
    {"ntid.z", Special::ntid_z},
    {"ctaid.x", Special::ctaid_x},
    {"ctaid.y", Special::ctaid_y},
    {"ctaid.z", Special::ctaid_z},
    {"nctaid.x", Special::nctaid_x},
    {"nctaid.y", Special::nctaid_y},
    {"nctaid.z", Special::nctaid_z},
    {"laneid", Special::laneid},
    {"warpid", Special::warpid},
    {"nwarpid", Special::nwarpid},
    {"smid", Special::smid},
    {"nsmid", Special::nsmid},
    {"gridid", Special::gridid},
    {"clock", Special::clock},
    {"clock_hi", Special::clock_hi},
    {"clock64", Special::clock64},
    {"globaltimer", Special::globaltimer},
    {"globaltimer_lo", Special::globaltimer_lo},
    {"globaltimer_hi", Special::globaltimer_hi},
    {"lanemask_eq", Special::lanemask_eq},
    {"lanemask_le", Special::lanemask_le},
    {"lanemask_lt", Special::lanemask_lt},
    {"lanemask_ge", Special::lanemask_ge},
    {"lanemask_gt", Special::lanemask_gt},
    {"dynamic_smem_size", Special::dynamic_smem_size},
    {"total_smem_size", Special::total_smem_size},
    {"WARP_SZ", Special::warp_size},
    {"clusterid.x", Special::ctaid_x},
    {"clusterid.y", Special::ctaid_y},
    {"clusterid.z", Special::ctaid_z},
    {"nclusterid.x", Special::nctaid_x},
    {"nclusterid.y", Special::nctaid_y},
    {"nclusterid.z", Special::nctaid_z},
    {"cluster_ctaid.x", Special::zero},
    {"cluster_ctaid.y", Special::zero},
    {"cluster_ctaid.z", Special::zero},
    {"cluster_nctaid.x", Special::one},
    {"cluster_nctaid.y", Special::one},
    {"cluster_nctaid.z", Special::one},
    {"cluster_ctarank", Special::zero},
    {"cluster_nctarank", Special::one},
    {"is_explicit_cluster", Special::zero},
}};

uint64_t nanoseconds_since_1970() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

unsigned thread_number() {
  const cuda::uint3 at = cuda::threadIdx, extent = cuda::blockDim;
  return (at.z * extent.y + at.y) * extent.x + at.x;
}

}  // namespace

std::optional<Special> special_named(std::string_view name) {
  for (const auto& [each, special] : kNames) {
    if (each == name) return special;
  }
  return std::nullopt;
}

uint64_t value_of(Special special) noexcept {
  const internal::Worker& worker = *internal::active_worker;
  const unsigned lane = thread_number() % kWarpLanes;
  const uint32_t own = 1u << lane;
  const auto ticks = [] { return static_cast<uint64_t>(cuda::clock64()); };
  switch (special) {
    case Special::tid_x:
      return cuda::threadIdx.x;
    case Special::tid_y:
      return cuda::threadIdx.y;
    case Special::tid_z:
      return cuda::threadIdx.z;
    case Special::ntid_x:
      return cuda::blockDim.x;
    case Special::ntid_y:
      return cuda::blockDim.y;
    case Special::ntid_z:
      return cuda::blockDim.z;
    case Special::ctaid_x:
      return cuda::blockIdx.x;
    case Special::ctaid_y:
      return cuda::blockIdx.y;
    case Special::ctaid_z:
      return cuda::blockIdx.z;
    case Special::nctaid_x:
      return cuda::gridDim.x;
    case Special::nctaid_y:
      return cuda::gridDim.y;
    case Special::nctaid_z:
      return cuda::gridDim.z;
    case Special::laneid:
      return lane;
    case Special::warpid:
      return thread_number() / kWarpLanes;
    case Special::nwarpid:
      return static_cast<unsigned>(played_device().threads) / kWarpLanes;
    case Special::smid:
      return static_cast<uint64_t>(worker.linear % played_device().multiprocessors);
    case Special::nsmid:
      return static_cast<uint64_t>(played_device().multiprocessors);
    case Special::gridid:
      return 1;
    case Special::clock:
      return static_cast<uint32_t>(ticks());
    case Special::clock_hi:
      return ticks() >> 32;
    case Special::clock64:
      return ticks();
    case Special::globaltimer:
      return nanoseconds_since_1970();
    case Special::globaltimer_lo:
      return static_cast<uint32_t>(nanoseconds_since_1970());
    case Special::globaltimer_hi:
      return nanoseconds_since_1970() >> 32;
    case Special::lanemask_eq:
      return own;
    case Special::lanemask_le:
      return own | (own - 1);
    case Special::lanemask_lt:
      return own - 1;
    case Special::lanemask_ge:
      return static_cast<uint32_t>(-own);
    case Special::lanemask_gt:
      return static_cast<uint32_t>(-own) ^ own;
    case Special::dynamic_smem_size:
      return worker.dynamic_shared.bytes;
    case Special::total_smem_size:
      return worker.dynamic_shared.bytes + worker.static_shared.bytes;
    case Special::warp_size:
      return kWarpLanes;
    case Special::zero:
      return 0;
    case Special::one:
      return 1;
  }
  return 0;
}

}  // namespace convlab::simt::ptx
