#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convlab/warps/kernel_counts.h"

namespace convlab {

/// One possible improvement of a kernel, and where.
struct KernelLesson {
  std::string where;  ///< "conv.cu:31"
  std::string text;   ///< "32 lanes read 32 sectors (12.5 % used): ..."
  double share = 0;   ///< of the kernel's traffic of that kind, or of its lanes, that it would save, 0..1
};

/// Returns the lessons of the counts, the largest share first: scattered (uncoalesced) global accesses, bank conflicts,
/// constant memory addresses that differ within a warp, idle lanes, atomics. Leaves out what affects less than 2 % of a
/// kernel's traffic.
std::vector<KernelLesson> lessons_of(const KernelCounts& counts);

/// Returns the kernel's counts as a table, line by line, and its lessons. counts_legend() explains the columns.
std::string to_text(const KernelCounts& counts);

/// Says what the columns of to_text() count, and in which unit.
std::string_view counts_legend();

}  // namespace convlab
