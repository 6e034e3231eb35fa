#pragma once

#include <string>
#include <vector>

namespace convlab {

class JsonMembers;

/// A predicted time of a kernel.
struct SavedPrediction {
  std::string kernel, problem;  ///< a file as the user typed it; "n10000_c1h70w70_k12r5s5"
  std::string device;           ///< "NVIDIA H200"
  double ms = 0;
  std::string why;     ///< its reason: "17.3 GB of sectors at 8 TB/s"
  std::string from;    ///< the kernel before the step; "" if only one kernel's time was predicted
  double from_ms = 0;  ///< its time
};

/// Reads {"predictions": [...]}, each with these members. Throws Error(bad_input) with the location and the member.
std::vector<SavedPrediction> saved_predictions_from_json(const JsonMembers& from);

}  // namespace convlab
