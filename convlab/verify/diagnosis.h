#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "convlab/diagnostics/finding.h"
#include "convlab/verify/compare.h"
#include "convlab/verify/oracle.h"

namespace convlab {

/// A wrong output and what it should be.
struct WrongOutput {
  const ConvStep& step;
  const OracleLayer& layer;          ///< of the step's problem, with any n
  std::span<const int64_t> at;       ///< for each image of the batch its index in the layer
  std::span<const float> got;        ///< all elements
  const ErrorModel& model;           ///< the tolerance of each element
  std::optional<float> before = {};  ///< value of each element before the call, if the kernel's own code writes `got`
  DeviceKind device = DeviceKind::simt;  ///< where the kernel ran
};

/// Why an output is wrong.
struct Cause {
  enum class Kind : uint8_t {
    unknown,
    likely,         ///< a known mistake reproduces the actual values, element for element
    unwritten,      ///< no thread wrote the elements
    not_copied,     ///< nothing was copied to them
    uninitialized,  ///< they come from memory that nothing wrote
  };
  Kind kind = Kind::unknown;
  std::string text;
  Origin origin = Origin::unknown;  ///< of uninitialized outputs, as far as simt knows
  bool everywhere = false;          ///< the right elements, if any, may be right by chance: they are zero
};

/// Returns the likely cause of a wrong output. Memory that nothing wrote has no other cause. Otherwise the cause is a
/// common mistake in convolutions (a missing index or loop, a halo not loaded, an unguarded tail, swapped rows and
/// columns) that reproduces the actual values, element for element. If there is none, it is the rows, columns, output
/// channels or images to which the wrong elements are confined. Values are compared only if the step has no epilogue.
Cause likely_cause(const WrongOutput& wrong);

/// Finding::kind of wrong outputs.
inline constexpr std::string_view kWrongOutput = "wrong output", kUnwrittenOutput = "output never written";

/// Returns a wrong output as a finding: how many elements are wrong, the first and the worst one, the cause (from
/// likely_cause()), and, on simt, the line that stored the first one. That line is left out unless `wrong.got` is where
/// the device memory was copied to.
Finding wrong_output(const Verdict& verdict, const WrongOutput& wrong, const Cause& cause);

/// Returns a failed compare_nan() as a finding.
Finding misplaced_nan(const Verdict& verdict);

}  // namespace convlab
