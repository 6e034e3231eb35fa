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

/// The verdict on a course's kernel file for one problem.
struct FileVerdict {
  Outcome outcome = Outcome::failed;
  std::string reason;             ///< failed: the first finding's message; skipped: why; passed: ""
  std::vector<Finding> findings;  ///< failed: what is wrong, causes first; passed: warnings
  Math math = Math::fp32;         ///< passed: the class whose tolerance the file meets
  double largest_error = 0;       ///< largest error / largest value
  PhaseSeconds seconds;
};

/// Judges a course's file as the course did: on fp32 images and filters of real numbers, y filled with zeros before the
/// call, compared on the host with sums in double. Batches of more than 64 images repeat some. The largest error may be
/// 1e-4 of the largest value, or 2e-2 in files that compute in fp16 or TF32: the tolerances of the course's projects.
/// In addition, reports what the course did not see: out-of-bounds writes, changed inputs, and device errors that the
/// file does not check.
class FileJudge {
 public:
  /// All arguments must outlive the judge.
  FileJudge(const FileEntry& entry, const KernelSource& source, Device& device, Oracle& oracle);

  /// Content of y before the call.
  enum class Before { zeros, uninitialized };

  /// Skips a problem that the file's interface cannot pass to it. Throws Error(bad_input) if the host has too little
  /// memory. Exceptions of the file become a verdict.
  FileVerdict judge(const ConvProblem& problem, Before before) const;

 private:
  const FileEntry& entry_;
  const KernelSource& source_;
  Device& device_;
  Oracle& oracle_;
};

/// Returns the layers of the file's semester in the network's order, with n images each; none for files without a
/// semester.
std::vector<ConvProblem> semester_layers(const std::string& semester, int64_t n);

/// Returns the semesters for whose layers a file of the MXNet generation may have been written, the likeliest first.
std::vector<std::string> possible_semesters(const KernelSource& source);

/// Returns small problems unlike the semester's layers, for files that read shapes from their arguments: odd sides,
/// images that are not square, one image, one channel.
std::vector<ConvProblem> awkward_problems(const KernelSource& source);

}  // namespace convlab
