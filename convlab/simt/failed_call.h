#pragma once

#include <functional>
#include <optional>
#include <string>

#include "convlab/diagnostics/finding.h"

/// Calls of CUDA's run-time interface that returned an error, and launches that a device refuses. A program that does
/// not ask for the error goes on, with results that say nothing of the cause: so whoever judges the results asks here.
namespace convlab::simt {

struct FailedCall {
  std::string call;    ///< "cudaMemcpy"; "" of a launch
  std::string kernel;  ///< of a launch: "tile_kernel<16>"
  SourcePlace place;   ///< of the call
  int code = 0;        ///< CUDA's number of the error; 0: the call succeeds
  std::string error;   ///< in CUDA's words: "cudaErrorInvalidValue: invalid argument"
  std::string why;     ///< "the destination is not device memory"
  std::string help;    ///< what to do; "" if that depends

  /// What comes of a call that succeeds: it breaks the host's memory, which no device notices; or nothing, since a
  /// device does what was meant.
  bool harmless = false;

  bool breaks_memory() const { return code == 0 && !harmless; }
};

/// The kinds of their findings.
inline constexpr std::string_view kRefusedLaunch = "refused launch", kFailedCall = "failed call",
                                  kBrokenHostArray = "out of bounds of host memory", kHarmlessCall = "harmless call";

/// "kernel 'tile_kernel' was not launched: cudaErrorInvalidConfiguration", with the reason at the launch's line;
/// "cudaMemcpy failed: cudaErrorInvalidValue"; "cudaMemcpy writes 28800 bytes, but the host array ends after 9600".
Finding finding_of(const FailedCall& failed);

/// Keeps the call unless one is kept already: those after the first may follow from it. What breaks memory comes first,
/// what is harmless last.
void keep_failed_call(FailedCall failed);

/// What was kept since the last question.
std::optional<FailedCall> take_failed_call();

/// From now on `listener` is called at once with each call that is kept and not harmless: the program may end before
/// take_failed_call().
void on_failed_call(std::function<void(const FailedCall&)> listener);

}  // namespace convlab::simt
