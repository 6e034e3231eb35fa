#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convlab/kernel_file/source.h"

namespace convlab {

/// An optimization that a kernel file turns on or off with the preprocessor: a macro whose name begins with WITH_ and
/// that is tested by an #if, #ifdef, #ifndef or #elif in the file. `#ifndef WITH_TILE` followed by `#define WITH_TILE
/// 0` sets the default.
struct Switch {
  std::string name;          ///< "WITH_TILE"
  std::string what;          ///< the first trailing comment on a line that tests it; "" if there is none
  int line = 0;              ///< of its first use
  bool has_default = false;  ///< then off means defined as 0; otherwise off means undefined
};

/// Returns the file's switches in source order. Throws Error(bad_input) with the line if the file defines one
/// unconditionally.
std::vector<Switch> switches_of(const KernelSource& source);

/// A subset of the switches: bit i is the i-th switch.
using SwitchSet = uint32_t;

/// Returns the macro definitions that turn on the switches in `on` and turn off the others: "WITH_TILE=1".
std::vector<std::string> definitions_of(const std::vector<Switch>& switches, SwitchSet on);

}  // namespace convlab
