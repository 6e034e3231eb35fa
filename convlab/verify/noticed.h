#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/device/simt.h"
#include "convlab/verify/verify.h"

namespace convlab {

/// The kinds of findings for an access outside of all arrays, and for one that races with other blocks.
inline constexpr std::string_view kOutOfBounds = "out of bounds of global memory",
                                  kGlobalRace = "race on global memory";

/// Findings of simt while a case ran, in addition to what it threw.
struct Noticed {
  std::optional<Finding> call;    ///< see take_simt_failed_call()
  std::vector<Finding> doubtful;  ///< errors of kernels that a GPU does not report
  std::string leaks;              ///< device memory that was not freed
};

/// Returns the findings since the last call.
Noticed take_noticed();

/// Adds what was noticed to a case's findings. A failed call comes first: later errors may follow from it. Doubtful
/// findings come before a wrong result without an explanation, and after one with an explanation.
void add_noticed(const Noticed& noticed, bool is_explained, Outcome& outcome, std::vector<Finding>& findings);

/// Returns the findings of the exception that is being handled, whatever its type.
std::vector<Finding> findings_of_exception();

/// Returns whether simt found it in a kernel or in host code; otherwise it results from comparing outputs.
bool is_fault(const Finding& finding);

/// Returns the message of the first finding that is an error, and how many more there are; "" if there is none.
std::string reason_of(const std::vector<Finding>& findings);

/// Verifies one case: allocate() makes its arrays; checks(name) sets `name` to the check that it begins, and returns
/// the relative L2 error. A case whose arrays do not fit into device memory is skipped. Errors of the kernel, and what
/// simt noticed, fail the case; findings about outputs get the check's name as a note.
CaseResult verified_case(const std::function<void()>& allocate, const std::function<double(std::string& name)>& checks);

/// Throws Error(bad_input) if verifying the problem with this text needs more bytes than the host has, before the
/// system's out-of-memory killer stops the process. `smaller`: what to make smaller.
void require_host_memory(double bytes, const std::function<std::string()>& text, const char* smaller);

/// Throws FindingError(wrong_result) if the outputs of two launches with the same input differ in any bit.
void require_same_bits(std::span<const float> first, std::span<const float> second);

/// Makes findings in arrays of the step's sizes say "image 0, output channel 0, row 1, column 0", if the arrays are
/// nchw.
void name_elements_of(const ConvStep& step);

}  // namespace convlab
