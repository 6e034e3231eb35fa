#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convlab/evidence/saved_profile.h"
#include "convlab/profile/counters.h"

namespace convlab {

class JsonMembers;

/// The GPU's counters of one convolution kernel in one network.
struct SavedCounters {
  std::string kernel;  ///< "cuda.basic"
  std::string model, device;
  int64_t images = 0;
  std::vector<KernelCounters> functions;  ///< of the kernel, by layer; none where the driver refused
  std::vector<KernelCounters> ncu;        ///< NVIDIA's own tool's, where it was asked, too
  std::string refusal;
};

/// From the profile of a run with one kernel and --counters. Error(bad_input) with the place and the member.
SavedCounters counters_of_profile(const JsonMembers& from, const SavedProfile& profile);

/// From a comparison with ncu, as bench/counters_ncu.py writes it, one per kernel. Errors as above.
std::vector<SavedCounters> counters_of_comparison(const JsonMembers& from);

}  // namespace convlab
