#pragma once

namespace convlab {

class ThreadPool;

/// What the host can do at best with these threads, seen in loops of our own: no kernel is expected to do better.
struct Ceilings {
  double flops_per_second = 0;  ///< fp32 multiply-adds in registers, two operations each
  double bytes_per_second = 0;  ///< copying, bytes read and bytes written both counted

  /// The least seconds that so much arithmetic and traffic can take: the larger of the two.
  double bound_seconds(double flops, double bytes) const;
};

/// Measures the best of several short rounds: about 50 ms, and 64 MiB of memory.
Ceilings measure_ceilings(ThreadPool& threads);

}  // namespace convlab
