#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/guests/file_cases.h"
#include "app/guests/guest.h"
#include "convlab/device/simt.h"
#include "convlab/diagnostics/finding.h"
#include "convlab/kernel_file/source.h"

namespace convlab::app {

/// The verdict on a file or on one case; the names are those in the JSON.
enum class FileOutcome : uint8_t { passed, failed, refused, not_compiled, timed_out, skipped };

inline constexpr size_t kFileOutcomes = 6;

std::string_view name_of(FileOutcome outcome);

/// The result of one case.
struct CaseReport {
  FileCase asked;
  FileOutcome outcome = FileOutcome::failed;
  std::string reason;                       ///< unless passed
  std::vector<Finding> findings;            ///< errors, causes first; if the case passed, warnings
  std::map<std::string, int> large_blocks;  ///< simt: block sizes of kernels whose registers may not fit a GPU
  std::string math = "fp32";                ///< if passed: the math whose tolerance it meets
  double largest_error = 0;                 ///< relative to the largest value
  double prolog_s = 0, call_s = 0, epilog_s = 0;
  bool computes_in_prolog = false;  ///< then call_s is not meaningful

  double layer_s() const { return prolog_s + call_s + epilog_s; }

  /// Whether the file's verdict depends on this case.
  bool counts() const { return asked.purpose == FileCase::Purpose::verdict; }
  bool passed() const { return outcome == FileOutcome::passed; }
  /// Returns the errors that simt found, except wrong outputs, which may be consequences of the others.
  std::vector<const Finding*> faults() const;
  /// Whether a kernel itself is at fault, not just a rejected launch or a failed call.
  bool has_kernel_fault() const {
    return std::ranges::any_of(
        faults(), [](const Finding* each) { return each->kind != kRefusedLaunch && each->kind != kFailedCall; });
  }
  bool hung() const {
    return outcome == FileOutcome::timed_out || std::ranges::count(findings, kNoProgress, &Finding::kind) > 0;
  }
};

struct TrialOptions {
  int64_t threads = 0;
  double stuck_after_seconds = 3;  ///< without progress of a kernel on simt
  double limit_seconds = 60;       ///< without progress
  bool strict = false;             ///< simt: faults that change no result count, too
  bool all = false;                ///< run all cases, however many different findings there are
};

/// Runs one compiled file on one device, in child processes.
class FileTrial {
 public:
  FileTrial(TrialOptions options, KernelSource source, std::string device, std::string library);

  using OnReport = std::function<void(const CaseReport&)>;

  /// Runs the cases in order in one child process; if the file ends that process, runs the remaining cases in another.
  /// If the file is wrong, the result has only the cases that its verdict depends on. `on_report` receives each case as
  /// soon as it is judged; `printed` receives the beginning of the file's output. Throws Error if the library cannot be
  /// loaded.
  std::vector<CaseReport> ask(std::vector<FileCase> cases, std::string& printed, const OnReport& on_report) const;

 private:
  size_t ask_from(size_t first, const std::vector<FileCase>& cases, std::vector<CaseReport>& reports,
                  std::string& printed, const OnReport& on_report) const;

  TrialOptions options_;
  KernelSource source_;
  std::string device_, library_;
  GuestFolder folder_;
};

/// The reason for skipping the cases after one that hung.
inline constexpr std::string_view kHungBefore = "not run: the file hung before";

/// The kind of a finding about how a file's process ended.
inline constexpr std::string_view kAbnormalEnd = "abnormal end";

/// Returns the text without trailing white space.
std::string_view without_end(std::string_view text);

}  // namespace convlab::app
