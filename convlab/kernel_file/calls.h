#pragma once

#include <string>

#include "convlab/kernel_file/source.h"

namespace convlab {

/// What a file takes for granted: the class whose functions it defines, say.
std::string declarations_before(const KernelSource& source);

/// The functions of FileEntry, in C++, which call the file's own. Error(bad_input), with the line, where a function has
/// parameters that nobody can fill; it says which were found and which are known.
std::string calls_of(const KernelSource& source);

}  // namespace convlab
