#pragma once

#include <string>
#include <vector>

#include "convlab/evidence/evidence.h"

namespace convlab {

struct ReportInput;

/// A kernel file that a report is about.
struct OwnKernel {
  std::string name, source;  ///< as its user typed it; its text
  std::string device;        ///< where this machine runs it: "cuda", "simt" or "cpu"
  std::string baseline;      ///< what it is compared with: a kernel or a file

  bool for_gpu() const { return device != "cpu"; }

  /// The file's name without its folder, as places in it are named.
  std::string file_name() const { return name.substr(name.rfind('/') + 1); }
};

/// Images that simt computes for a report, since it takes seconds for them, and for its counts, which are the same for
/// each image.
inline constexpr int64_t kImagesOnSimt = 10, kImagesToCount = 1;

// What the evidence has of one kernel, the newest of it: a kernel's name, or a file as its user typed it.
const SavedVerdict* verdict_of(const Evidence& evidence, const std::string& kernel);

/// One of the course's scripts, with all convolutions by the kernel; on simt or not.
const SavedRun* run_of(const Evidence& evidence, const std::string& kernel, const std::string& semester, int64_t images,
                       bool simt);
const SavedProfile* profile_of(const Evidence& evidence, const std::string& kernel, const std::string& semester,
                               bool simt);

/// Whether some prediction is of the step from one kernel to another.
bool is_predicted(const Evidence& evidence, const std::string& from, const std::string& kernel);

/// One for each layer and function.
std::vector<const SavedCounts*> counts_of(const Evidence& evidence, const std::string& kernel,
                                          const std::string& semester);

/// Whether some Record is of the kernel and one of these problems, at any number of images.
bool is_timed(const Evidence& evidence, const std::string& kernel, const std::vector<std::string>& problems);

/// One measurement that a report shows of a kernel.
struct Want {
  enum class Kind { verdict, outputs, outputs_on_simt, times, profile, profile_on_simt, counts, prediction };
  Kind kind{};
  std::vector<std::string> arguments;  ///< that make it: {"m3.1", "100", "--kernel", "mine.cu"}
  bool here = false;                   ///< this machine can make it
  bool there = false;                  ///< the evidence has it

  /// As one types it: "convlab m3.1 100 --kernel mine.cu --json results/mine-m3.1-100.json".
  std::string command(const OwnKernel& kernel) const;
};

/// All of them. Of a file whose verdict is not there, or is not that it is right, only the verdict: times and counts of
/// a wrong kernel say nothing.
std::vector<Want> wants_of(const OwnKernel& kernel, const ReportInput& input);

}  // namespace convlab
