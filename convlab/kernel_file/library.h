#pragma once

#include <filesystem>
#include <string>

#include "convlab/conv/problem.h"
#include "convlab/kernel_file/entry.h"

namespace convlab {

/// A compiled kernel file, loaded into this process and never unloaded, because its static state must stay valid. Its
/// code can corrupt the process, so load files only in child processes (see app/guests/guest.h).
class LoadedFile {
 public:
  /// Throws Error(bad_input) if the library cannot be loaded, for example because of undefined symbols, or if it
  /// contains code that nvcc would reject.
  explicit LoadedFile(const std::filesystem::path& library);

  /// Returns the entry points, or nullptr if the file registers itself.
  const FileEntry* entry() const { return entry_; }

 private:
  const FileEntry* entry_;
};

/// Wall-clock seconds of each phase, including device work. A file without a prolog and an epilog has only `call`.
struct PhaseSeconds {
  double prolog = 0, call = 0, epilog = 0;
  bool early = false;  ///< the output was complete after the prolog, so the call time is meaningless

  /// Returns the time from the start of the prolog to the end of the epilog, host arrays to host arrays. Use it to
  /// compare two files when one of them computes in its prolog.
  double layer() const { return prolog + call + epilog; }
};

/// Runs a file's call, with its prolog and epilog if it has them, and waits for the device after each phase. Arrays are
/// in host memory if the entry is `on_host`, otherwise in device memory. Throws Error(wrong_result) with the device's
/// error message. Exceptions thrown by the file pass through.
PhaseSeconds call_file(const FileEntry& entry, const ConvProblem& problem, float* y, float* x, float* w);

}  // namespace convlab
