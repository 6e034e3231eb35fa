#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convlab/diagnostics/finding.h"

namespace convlab::simt::internal {

struct Grid;
struct RawFault;

/// The array and the element that an access of a kernel begins at, as text.
struct Target {
  std::string array;        ///< as the kernel calls it: "tile", or its parameter "input"; "" if there is none
  int64_t offset = 0;       ///< from the array's start, in bytes
  std::string subject;      ///< the name in the source line; "" if it has none
  std::string memory;       ///< "shared memory 'tile'", for a headline
  std::string element;      ///< "tile[0][4]"
  std::string meaning;      ///< "image 0, channel 0, row 3, column 4"; "" if unknown
  std::string beyond;       ///< "past the end (32 elements)", for an out-of-bounds access
  std::string read_only;    ///< why a kernel must not write it
  std::string host_name;    ///< "device_input_ptr", if the host has another name for a kernel's parameter
  std::string size_remedy;  ///< what to do if the array is too small; "" if that is unknown
  bool is_constant = false, is_unset = false, is_released = false;
  bool is_blank = false;            ///< no element of the array was ever written
  std::vector<Label> history = {};  ///< where the memory was allocated and released
};

/// Returns the target of an access at this source line.
Target target_of(const Grid& grid, const RawFault& raw, const SourcePlace& here);

/// Returns the names of the kernel's parameters, as its definition has them; an empty vector if they are unknown.
std::vector<std::string> parameters_of(const Grid& grid);

}  // namespace convlab::simt::internal
