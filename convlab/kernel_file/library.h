#pragma once

#include <filesystem>
#include <string>

#include "convlab/conv/problem.h"
#include "convlab/kernel_file/entry.h"

namespace convlab {

/// A compiled kernel file, loaded into this process for the rest of its life: what it keeps, it keeps. It may do to the
/// process whatever it likes, so that only processes of their own load files (see app/guests/guest.h).
class LoadedFile {
 public:
  /// Error(bad_input) if it cannot be loaded, because of names that nobody defines, say, or if a GPU's compiler would
  /// refuse it.
  explicit LoadedFile(const std::filesystem::path& library);

  /// Its entry points; nullptr if the file registers itself.
  const FileEntry* entry() const { return entry_; }

 private:
  const FileEntry* entry_;
};

/// Seconds on the clock, the device's work included; a file without a prolog and an epilog has its call alone.
struct PhaseSeconds {
  double prolog = 0, call = 0, epilog = 0;
  bool early = false;  ///< the output was there when the prolog had ended: the call's time tells nothing

  /// From the begin of the prolog to the end of the epilog, arrays of the host to arrays of the host, whatever happens
  /// where: what two files are compared by, one of which computes in its prolog.
  double layer() const { return prolog + call + epilog; }
};

/// Calls a file, with its prolog and epilog where it has them, and waits for the device after each. The arrays are the
/// host's where the entry says so, otherwise the device's. Error(wrong_result) with the device's error; and what the
/// file throws.
PhaseSeconds call_file(const FileEntry& entry, const ConvProblem& problem, float* y, float* x, float* w);

}  // namespace convlab
