#pragma once

#include <optional>
#include <string>
#include <vector>

#include "convlab/device/simt.h"
#include "convlab/verify/verify.h"

namespace convlab {

/// What simt noticed while a case ran, in addition to what it threw.
struct Noticed {
  std::optional<Finding> call;    ///< see take_simt_failed_call()
  std::vector<Finding> doubtful;  ///< what kernels did that a GPU lets pass
  std::string leaks;              ///< device memory that was not released
};

/// Since the last call.
Noticed take_noticed();

/// Adds what was noticed to a case's findings. A failed call comes first: what follows may come from it. What is
/// doubtful comes before a wrong result that nothing explains, and after one that is explained.
void add_noticed(const Noticed& noticed, bool is_explained, Outcome& outcome, std::vector<Finding>& findings);

/// The findings of the exception that is being handled, whatever it is.
std::vector<Finding> findings_of_exception();

/// Whether simt found it in a kernel or in host code; otherwise it is what a comparison of outputs shows.
bool is_fault(const Finding& finding);

/// The message of the first finding that is an error, and how many more there are; "" if none is.
std::string reason_of(const std::vector<Finding>& findings);

/// From now on findings in arrays of the step's sizes say "image 0, output channel 0, row 1, column 0", where they are
/// nchw.
void name_elements_of(const ConvStep& step);

}  // namespace convlab
