#pragma once

#include <string>
#include <vector>

#include "convlab/device/device.h"
#include "convlab/device/simt.h"
#include "convlab/kernel_file/library.h"
#include "convlab/kernel_file/source.h"
#include "convlab/verify/oracle.h"
#include "convlab/verify/verify.h"

namespace convlab {

/// What a course's kernel file made of one problem.
struct FileVerdict {
  Outcome outcome = Outcome::failed;
  std::string reason;             ///< failed: the first finding's message; passed: ""
  std::vector<Finding> findings;  ///< failed: what is wrong, causes first; passed: warnings
  Math math = Math::fp32;         ///< passed: the class whose tolerance it meets
  double largest_error = 0;       ///< largest error over largest value
  PhaseSeconds seconds;
};

/// Judges a course's file as the course did: on float32 images and filters of real numbers, y filled with zeros before
/// the call, and compared on the host with sums in double; of more than 64 images some are alike. The largest error may
/// be 1e-4 of the largest value, or, in files that compute in float16 or TF32, 2e-2: the tolerances with which the
/// course's projects compared. Beyond what the course saw: writes past the arrays, changed inputs, errors of the device
/// that nobody asked for.
class FileJudge {
 public:
  /// Everything must outlive the judge.
  FileJudge(const FileEntry& entry, const KernelSource& source, Device& device, Oracle& oracle);

  /// What y holds before the call.
  enum class Before { zeros, uninitialized };

  /// Error(bad_input) where the host has too little memory. What the file throws is a verdict.
  FileVerdict judge(const ConvProblem& problem, Before before) const;

 private:
  const FileEntry& entry_;
  const KernelSource& source_;
  Device& device_;
  Oracle& oracle_;
};

/// The layers of the file's semester, in the network's order, with n images each; of files without one, none.
std::vector<ConvProblem> semester_layers(const std::string& semester, int64_t n);

/// The semesters whose layers a file of the MXNet generation may be made for, the likeliest first.
std::vector<std::string> possible_semesters(const KernelSource& source);

/// Small problems off the semester's path, for files that read their shapes: odd sides, one image, one channel.
std::vector<ConvProblem> awkward_problems(const KernelSource& source);

}  // namespace convlab
