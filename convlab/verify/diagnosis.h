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

/// An output that is not what it should be.
struct WrongOutput {
  const ConvStep& step;
  const OracleLayer& layer;          ///< of the step's problem, whatever its n
  std::span<const int64_t> at;       ///< for each image of the batch its number in the layer
  std::span<const float> got;        ///< all elements
  const ErrorModel& model;           ///< what is right
  std::optional<float> before = {};  ///< what each element held before, where the kernel's own code writes `got`
};

/// Why an output is wrong.
struct Cause {
  enum class Kind : uint8_t {
    unknown,
    likely,         ///< what was got is what a mistake would give, element for element
    unwritten,      ///< no thread wrote the elements
    not_copied,     ///< nothing was copied to them
    uninitialized,  ///< they come from memory that nothing wrote
  };
  Kind kind = Kind::unknown;
  std::string text;
};

/// What a wrong output looks like. What nothing wrote has no other cause. Otherwise it is a mistake that people make in
/// convolutions (an index or a loop left out, a halo not loaded, a tail not guarded, rows and columns mixed up) whose
/// result is, element for element, what was got; or, where none is, the rows, columns, output channels or images that
/// are wrong and nothing else is. Values are compared where the step has no epilogue.
Cause likely_cause(const WrongOutput& wrong);

/// The kinds of wrong outputs.
inline constexpr std::string_view kWrongOutput = "wrong output", kUnwrittenOutput = "output never written";

/// A wrong output as a finding: how much is wrong, the first element and the worst one, its cause (of likely_cause()),
/// and, on simt, the line that stored the first one. `wrong.got` must be where the device's memory was copied to;
/// otherwise that line is left out.
Finding wrong_output(const Verdict& verdict, const WrongOutput& wrong, const Cause& cause);

}  // namespace convlab
