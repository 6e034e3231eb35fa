#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convlab/kernel_file/source.h"

namespace convlab {

/// An optimization that a kernel file has or leaves out, by the preprocessor: a macro whose name begins with WITH_ and
/// that an #if, #ifdef, #ifndef or #elif of the file asks for. `#ifndef WITH_TILE`, followed by `#define WITH_TILE 0`,
/// is what the file takes for granted where nobody says otherwise.
struct Switch {
  std::string name;          ///< "WITH_TILE"
  std::string what;          ///< the comment behind the first line that has one; "" if none has
  int line = 0;              ///< of the first
  bool has_default = false;  ///< so that off is 0; otherwise off is undefined
};

/// The file's switches, in its order. Error(bad_input) with the line if it defines one for good.
std::vector<Switch> switches_of(const KernelSource& source);

/// Some of the switches: bit i for the i-th.
using SwitchSet = uint32_t;

/// What a compiler is told to turn on those of the set and off the others: "WITH_TILE=1".
std::vector<std::string> definitions_of(const std::vector<Switch>& switches, SwitchSet on);

}  // namespace convlab
