#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convlab/profile/kernel_lessons.h"
#include "convlab/profile/occupancy.h"
#include "convlab/warps/kernel_counts.h"

namespace convlab {

class JsonMembers;

/// What the launches of one function did for one layer, as simt counted it.
struct SavedCounts {
  std::string model;
  int64_t images = 0;
  std::string layer, kernel;  ///< "conv1", "cuda.basic" or a file as its user typed it
  KernelCounts counts;        ///< without basic blocks: active_lanes below has what they say
  double active_lanes = 0;
  Occupancy occupancy;
  std::vector<KernelLesson> lessons;
};

/// From what `convlab profile --device simt --counters` wrote. Error(bad_input) with the place and the member.
std::vector<SavedCounts> saved_counts_from_json(const JsonMembers& from);

}  // namespace convlab
