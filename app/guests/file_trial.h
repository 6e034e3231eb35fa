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

/// What a file's judgement, or that of one case, came to; the names are those of the JSON.
enum class FileOutcome : uint8_t { passed, failed, refused, not_compiled, timed_out, skipped };

inline constexpr size_t kFileOutcomes = 6;

std::string_view name_of(FileOutcome outcome);

/// What a file made of one case.
struct CaseReport {
  FileCase asked;
  FileOutcome outcome = FileOutcome::failed;
  std::string reason;                       ///< unless passed
  std::vector<Finding> findings;            ///< what is wrong, causes first; of a case that passed, warnings
  std::map<std::string, int> large_blocks;  ///< on simt: threads of kernels whose registers may not fit
  std::string math = "fp32";                ///< passed: the class whose tolerance it meets
  double largest_error = 0;                 ///< over the largest value
  double prolog_s = 0, call_s = 0, epilog_s = 0;
  bool computes_in_prolog = false;  ///< so that call_s tells nothing

  double layer_s() const { return prolog_s + call_s + epilog_s; }

  /// Whether the file's verdict depends on it.
  bool counts() const { return asked.purpose == FileCase::Purpose::verdict; }
  bool passed() const { return outcome == FileOutcome::passed; }
  /// What simt found: errors other than wrong outputs, which may follow from them.
  std::vector<const Finding*> faults() const;
  /// Whether a kernel of it did what it must not.
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
  double stuck_after_seconds = 3;  ///< of a kernel on simt
  double limit_seconds = 60;       ///< without progress
  bool strict = false;             ///< on simt: what changes nothing is a fault, too
  bool all = false;                ///< try all cases, however many different findings there are
};

/// One file with its library, on one device: asks it, in processes of its own.
class FileTrial {
 public:
  FileTrial(TrialOptions options, KernelSource source, std::string device, std::string library);

  using OnReport = std::function<void(const CaseReport&)>;

  /// Asks the cases, in order, in one process, or where the file ends that, in one more for those that are left. Of a
  /// wrong file the result has only what its verdict depends on. `on_report` gets each case as soon as it is judged;
  /// `printed` gets what the file printed first. Error where the library cannot be loaded.
  std::vector<CaseReport> ask(std::vector<FileCase> cases, std::string& printed, const OnReport& on_report) const;

 private:
  size_t ask_from(size_t first, const std::vector<FileCase>& cases, std::vector<CaseReport>& reports,
                  std::string& printed, const OnReport& on_report) const;

  TrialOptions options_;
  KernelSource source_;
  std::string device_, library_;
  GuestFolder folder_;
};

/// Why a case was skipped after one that hung.
inline constexpr std::string_view kHungBefore = "not run: the file hung before";

/// The kind of a finding about how a file's process ended.
inline constexpr std::string_view kAbnormalEnd = "abnormal end";

/// The text without the white space at its end.
std::string_view without_end(std::string_view text);

}  // namespace convlab::app
