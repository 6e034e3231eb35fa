#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "convlab/verify/compare.h"
#include "convlab/verify/oracle.h"

namespace convlab {

/// An output that is not what it should be.
struct WrongOutput {
  const ConvStep& step;
  const OracleLayer& layer;     ///< of the step's problem, whatever its n
  std::span<const int64_t> at;  ///< for each image of the batch its number in the layer
  std::span<const float> got;   ///< all elements
  const ErrorModel& model;      ///< what is right
};

/// What a wrong output looks like, in a clause that follows "as if": "only channel 0 were summed: the loop over the
/// channels is missing". It is a mistake that people make in convolutions (an index or a loop left out, a halo not
/// loaded, a tail not guarded, rows and columns mixed up) whose result is, element for element, what was got; or, where
/// none is, the rows, columns, maps or images that are wrong and nothing else is. "" if nothing fits. Values are
/// compared where the step has no epilogue.
std::string likely_cause(const WrongOutput& wrong);

/// Where an output element comes from, in a clause: the pixels that it sums, and on simt who wrote it: "it sums x[n0
/// c0..11 h5..9 w7..11]; thread (3,4,0) of block (1,2,0) of convolve wrote it, at conv.cu:33". `wrong.got` must be
/// where the device's memory was copied to; otherwise the writer is left out.
std::string origin_of(const OutputElement& element, const WrongOutput& wrong);

}  // namespace convlab
