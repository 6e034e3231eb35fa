#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

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
    likely,     ///< what was got is what a mistake would give, element for element
    unwritten,  ///< nothing wrote the elements
    poisoned,   ///< they come from memory that nothing wrote
  };
  Kind kind = Kind::unknown;
  std::string text;

  /// How it follows "3 of 24 elements are wrong": ", as if only channel 0 were summed", ": no thread wrote row 6", "".
  std::string clause() const;
};

/// What a wrong output looks like. What nothing wrote has no other cause. Otherwise it is a mistake that people make in
/// convolutions (an index or a loop left out, a halo not loaded, a tail not guarded, rows and columns mixed up) whose
/// result is, element for element, what was got; or, where none is, the rows, columns, maps or images that are wrong
/// and nothing else is. Values are compared where the step has no epilogue.
Cause likely_cause(const WrongOutput& wrong);

/// Where an output element comes from, in a clause: the pixels that it sums, and on simt who wrote it: "it sums x[n0
/// c0..11 h5..9 w7..11]; thread (3,4,0) of block (1,2,0) of convolve wrote it, at conv.cu:33". `wrong.got` must be
/// where the device's memory was copied to; otherwise the writer is left out.
std::string origin_of(const OutputElement& element, const WrongOutput& wrong);

}  // namespace convlab
