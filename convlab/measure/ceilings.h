#pragma once

#include <cstdint>
#include <string_view>

#include "convlab/device/device.h"
#include "convlab/kernels/kernel.h"

namespace convlab {

class ThreadPool;

/// What bounds the time of a computation: memory or cache bandwidth, or arithmetic.
enum class Limit { memory, cache, arithmetic };

std::string_view name_of(Limit limit);

/// The minimum time of a computation (roofline), and what sets it.
struct Bound {
  double seconds = 0;
  Limit limit = Limit::memory;
};

/// The peak rates of a machine, measured with our own loops: no kernel should exceed them. Rates are per second, 0 if
/// there is no such unit. A multiply-add is two operations.
struct Ceilings {
  double fp32_flops = 0;    ///< multiply-adds in registers
  double tf32_flops = 0;    ///< tensor cores, fp32 inputs rounded to tf32
  double fp16_flops = 0;    ///< tensor cores, fp32 accumulation
  double bf16_flops = 0;    ///< a CPU's AMX or AVX512-BF16, fp32 accumulation
  double memory_bytes = 0;  ///< copying arrays larger than any cache; counts bytes read and bytes written
  double cache_bytes = 0;   ///< copying within L2 (GPU), or within each core's own L2 (CPU)
  double upload_bytes = 0;  ///< from pinned host memory to the GPU
  int64_t cache_size = 0;   ///< capacity in bytes of the cache of cache_bytes

  bool operator==(const Ceilings&) const = default;

  /// Returns the peak rate of any arithmetic with results of this class. Three fp16 products of operands split into two
  /// fp16 parts are fp32-class; fp16 has as many significand bits as tf32; three bf16 products are bf16x2.
  double flops_per_second(Math math) const;

  /// Returns the larger of the times for arithmetic and traffic. `bytes` come from the cache if it holds them all.
  Bound bound(double flops, double bytes, Math math) const;
};

/// Needs about 0.1 s and 200 MiB on a host, 0.2 s and 2 GiB on a GPU. For a simt device, measures the host that runs
/// it.
Ceilings measure_ceilings(Device& device);

/// Returns a GPU's ceilings from the file cached for its description ($XDG_CACHE_HOME/convlab or ~/.cache/convlab).
/// Without the file, or if `anew` is set, measures them and writes the file if the folder is writable. A host is
/// measured every time.
Ceilings known_ceilings(Device& device, bool anew = false);

}  // namespace convlab
