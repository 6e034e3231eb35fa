#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convlab/warps/kernel_counts.h"
#include "convlab/warps/kernel_lessons.h"
#include "convlab/warps/occupancy.h"

namespace convlab {

class JsonMembers;

/// simt's counts of one function's launches in one layer.
struct SavedCounts {
  std::string model;
  int64_t images = 0;
  std::string layer, kernel;  ///< "conv1", "cuda.basic" or a file as the user typed it
  KernelCounts counts;        ///< without basic blocks: active_lanes below summarizes them
  double active_lanes = 0;
  Occupancy occupancy;
  std::vector<KernelLesson> lessons;
};

/// Reads what `convlab profile --device simt --counters` wrote. Throws Error(bad_input) with the location and the
/// member.
std::vector<SavedCounts> saved_counts_from_json(const JsonMembers& from);

}  // namespace convlab
