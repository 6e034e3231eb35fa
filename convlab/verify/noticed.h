#pragma once

#include <optional>
#include <string>
#include <vector>

#include "convlab/device/simt.h"
#include "convlab/verify/verify.h"

namespace convlab {

/// What simt noticed while a case ran, beside what it threw.
struct Noticed {
  std::optional<SimtFault> call;    ///< see take_simt_failed_call()
  std::vector<SimtFault> doubtful;  ///< what kernels did that a GPU lets pass
  std::string leaks;                ///< device memory that was not given back
};

/// Since the last question.
Noticed take_noticed();

/// What a case came to: its outcome, and what is said of it.
struct Told {
  Outcome& outcome;
  std::string& reason;
  std::string& note;
  std::vector<SimtFault>& faults;
};

/// Adds what was noticed to what is told. A failed call is said first: what follows may come from it. What is doubtful
/// is said before a wrong result that nothing explains, and after one that is explained.
void tell_noticed(const Noticed& noticed, bool is_explained, const Told& told);

/// From now on faults in arrays of the step's sizes say "y[n0 k0 p1 q0]", where they lie plainly.
void name_elements_of(const ConvStep& step);

}  // namespace convlab
