#pragma once

#include <string>
#include <vector>

#include "convlab/evidence/evidence.h"

namespace convlab {

struct ReportInput;

/// A user's kernel file in a report.
struct OwnKernel {
  std::string name, source;  ///< as the user typed it; its text
  std::string device;        ///< on which this machine runs it: "cuda", "simt" or "cpu"
  std::string baseline;      ///< what it is compared with: a kernel or a file

  bool for_gpu() const { return device != "cpu"; }

  /// Returns the file's name without its folder, as in source locations.
  std::string file_name() const { return name.substr(name.rfind('/') + 1); }
};

/// Images that simt computes for a report, since it needs seconds for them; and images for its counts, which are the
/// same for each image.
inline constexpr int64_t kImagesOnSimt = 10, kImagesToCount = 1;

// Return the newest evidence of one kernel: a registered kernel's name, or a file as the user typed it. nullptr if
// there is none.
const SavedVerdict* verdict_of(const Evidence& evidence, const std::string& kernel);

/// A run of one of the course's scripts with all convolutions by the kernel, on simt or not.
const SavedRun* run_of(const Evidence& evidence, const std::string& kernel, const std::string& semester, int64_t images,
                       bool simt);
const SavedProfile* profile_of(const Evidence& evidence, const std::string& kernel, const std::string& semester,
                               bool simt);

/// Returns whether a prediction of the step from one kernel to another exists.
bool is_predicted(const Evidence& evidence, const std::string& from, const std::string& kernel);

/// One per layer and function.
std::vector<const SavedCounts*> counts_of(const Evidence& evidence, const std::string& kernel,
                                          const std::string& semester);

/// Returns whether a Record exists for the kernel and one of these problems, with any number of images.
bool is_timed(const Evidence& evidence, const std::string& kernel, const std::vector<std::string>& problems);

/// One measurement of a kernel that a report shows.
struct Want {
  enum class Kind { verdict, outputs, outputs_on_simt, times, profile, profile_on_simt, counts, prediction };
  Kind kind{};
  std::vector<std::string> arguments;  ///< of the command that makes it: {"m3.1", "100", "--kernel", "mine.cu"}
  bool here = false;                   ///< this machine can make it
  bool there = false;                  ///< the evidence has it

  /// Returns the command line: "convlab m3.1 100 --kernel mine.cu --json results/mine-m3.1-100.json".
  std::string command(const OwnKernel& kernel) const;
};

/// Returns all measurements that a report shows. Returns only the verdict if the file has none or did not pass: times
/// and counts of a wrong kernel are meaningless.
std::vector<Want> wants_of(const OwnKernel& kernel, const ReportInput& input);

}  // namespace convlab
