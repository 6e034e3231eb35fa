#pragma once

#include <string>
#include <vector>

namespace convlab {

class JsonMembers;

/// What somebody expects a kernel to take, before it is measured.
struct SavedPrediction {
  std::string kernel, problem;  ///< a file as its user typed it; "n10000_c1h70w70_k12r5s5"
  std::string device;           ///< "NVIDIA H200"
  double ms = 0;
  std::string why;     ///< what it follows from: "17.3 GB of sectors at 8 TB/s"
  std::string from;    ///< the kernel before the step; "" where only one kernel's time was predicted
  double from_ms = 0;  ///< its time
};

/// From {"predictions": [...]}, each with these members. Error(bad_input) with the place and the member.
std::vector<SavedPrediction> saved_predictions_from_json(const JsonMembers& from);

}  // namespace convlab
