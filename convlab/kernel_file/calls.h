#pragma once

#include <string>

#include "convlab/kernel_file/source.h"

namespace convlab {

/// Returns the #include lines to put before a file of this kind. Files of kind own include what they need and get none.
std::string headers_before(FileKind kind, bool cuda);

/// Returns declarations that the file uses but does not include, such as the class whose member functions it defines.
std::string declarations_before(const KernelSource& source);

/// Returns C++ source that implements the functions of FileEntry by calling the file's own functions. Throws
/// Error(bad_input), with the line, if a function has parameters that convlab cannot fill in; the message lists the
/// parameters found and those supported.
std::string calls_of(const KernelSource& source);

}  // namespace convlab
