#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "convlab/diagnostics/finding.h"

/// CUDA runtime calls that returned an error, and launches that a device rejects. A program that ignores the error
/// continues with results that do not show the cause, so the code that judges the results must call take_failed_call().
namespace convlab::simt {

struct FailedCall {
  std::string call;            ///< "cudaMemcpy"; "" for a launch
  std::string kernel;          ///< of a launch: "tile_kernel<16>"
  SourcePlace place;           ///< of the call
  int code = 0;                ///< CUDA's error number; 0: the call succeeds
  std::string error;           ///< CUDA's text: "cudaErrorInvalidValue: invalid argument"
  std::string why;             ///< "the destination is not device memory"
  std::string help;            ///< what to do; "" if that depends on the program
  std::string array;           ///< the device variable that the call is about; "" if there is none
  std::vector<Label> related;  ///< other lines: where the array was allocated or freed

  /// For a call that succeeds: false if it corrupts host memory, which no device detects; true if it has no effect,
  /// because a device ignores the mistake.
  bool harmless = false;

  bool breaks_memory() const { return code == 0 && !harmless; }
};

/// The kinds of their findings.
inline constexpr std::string_view kRefusedLaunch = "refused launch", kFailedCall = "failed call",
                                  kBrokenHostArray = "out of bounds of host memory", kHarmlessCall = "harmless call";

/// Returns the finding for a call: "kernel 'tile_kernel' was not launched: cudaErrorInvalidConfiguration", with the
/// reason at the launch's line; "cudaMemcpy failed: cudaErrorInvalidValue"; "cudaMemcpy writes 28800 bytes, but the
/// host array ends after 9600".
Finding finding_of(const FailedCall& failed);

/// Keeps the call unless one is already kept, because later failures may follow from the first. A call that corrupts
/// memory replaces a failed call, which replaces a harmless one.
void keep_failed_call(FailedCall failed);

/// Returns the call kept since the last take_failed_call().
std::optional<FailedCall> take_failed_call();

/// For whole programs: from now on `receive` gets every such call, and none is kept.
void set_failed_call_receiver(void (*receive)(const FailedCall&));

/// Calls `listener` immediately for each call that is kept and not harmless, because the program may end before
/// take_failed_call().
void on_failed_call(std::function<void(const FailedCall&)> listener);

}  // namespace convlab::simt
