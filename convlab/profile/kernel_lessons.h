#pragma once

#include <string>
#include <vector>

#include "convlab/warps/kernel_counts.h"

namespace convlab {

/// One thing that a kernel could do better, and where.
struct KernelLesson {
  std::string where;  ///< "conv.cu:31"
  std::string text;   ///< "32 lanes read 32 sectors (12.5 % used): ..."
  double share = 0;   ///< of the kernel's traffic of that sort, or of its lanes, that would go without it, 0..1
};

/// What the counts teach, the largest share first: global memory that is read in scattered pieces, bank conflicts,
/// addresses of constant memory that differ within a warp, lanes that idle, atomic operations. What concerns less than
/// 2 % of a kernel's traffic is left out.
std::vector<KernelLesson> lessons_of(const KernelCounts& counts);

/// The kernel's counts as a table, line by line, and its lessons.
std::string to_text(const KernelCounts& counts);

}  // namespace convlab
