#pragma once

#include <cstdint>
#include <string_view>

#include "convlab/device/device.h"
#include "convlab/kernels/kernel.h"

namespace convlab {

class ThreadPool;

/// What limits a piece of work, at best.
enum class Limit { memory, cache, arithmetic };

std::string_view name_of(Limit limit);

/// The least time that a piece of work can take, and why.
struct Bound {
  double seconds = 0;
  Limit limit = Limit::memory;
};

/// The best that a machine can do, measured with loops of our own: no kernel should do better. Rates are per second, 0
/// where there is no such unit. A multiplication and an addition are two operations.
struct Ceilings {
  double fp32_flops = 0;    ///< multiply-adds in registers
  double tf32_flops = 0;    ///< tensor cores
  double fp16_flops = 0;    ///< tensor cores, sums in fp32
  double bf16_flops = 0;    ///< a CPU's AMX or AVX512-BF16, sums in fp32
  double memory_bytes = 0;  ///< copying what no cache holds; counts bytes read and bytes written
  double cache_bytes = 0;   ///< copying within the last cache (of a GPU), or each core's own (of a CPU)
  double upload_bytes = 0;  ///< from pinned host memory to the GPU
  int64_t cache_size = 0;   ///< bytes that the cache of cache_bytes holds

  bool operator==(const Ceilings&) const = default;

  /// The best rate of any arithmetic whose results are of this class: three products of numbers split in two halves of
  /// fp16 are fp32-class, and fp16 has as many bits of significand as tf32. Three products of bfloat16 are bf16x2.
  double flops_per_second(Math math) const;

  /// The larger of the times for arithmetic and traffic; `bytes` come from the cache if it holds them all.
  Bound bound(double flops, double bytes, Math math) const;
};

/// Takes about 0.1 s and 200 MiB on a host, 0.2 s and 2 GiB on a GPU. For a simt device: the host that runs it.
Ceilings measure_ceilings(Device& device);

/// For a GPU: values kept from one of this description ($XDG_CACHE_HOME/convlab or ~/.cache/convlab), unless there are
/// none or `anew` is set; otherwise measured, and kept where that folder can be written. A host, whose cores others
/// share, is measured every time.
Ceilings known_ceilings(Device& device, bool anew = false);

}  // namespace convlab
