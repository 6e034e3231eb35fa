#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convlab/evidence/saved_profile.h"
#include "convlab/profile/counters.h"

namespace convlab {

class JsonMembers;

/// A GPU's counters of one convolution kernel in one network.
struct SavedCounters {
  std::string kernel;  ///< "cuda.basic"
  std::string model, device;
  int64_t images = 0;
  std::vector<KernelCounters> functions;  ///< of the kernel, by layer; empty if the driver refused
  std::vector<KernelCounters> ncu;        ///< the same from NVIDIA's ncu, if it was run
  std::string refusal;
};

/// Reads the profile of a run with one kernel and --counters. Throws Error(bad_input) with the location and the member.
SavedCounters counters_of_profile(const JsonMembers& from, const SavedProfile& profile);

/// Reads a comparison with ncu, as written by bench/counters_ncu.py; returns one per kernel. Throws as above.
std::vector<SavedCounters> counters_of_comparison(const JsonMembers& from);

}  // namespace convlab
