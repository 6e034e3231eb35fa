#pragma once

#include <string>

#include "convlab/kernel_file/source.h"

namespace convlab {

/// The #include lines before a file of this kind. Files of kind own get none: they include what they need.
std::string headers_before(FileKind kind, bool cuda);

/// Declarations that a file expects and does not include, such as the class whose functions it defines.
std::string declarations_before(const KernelSource& source);

/// The functions of FileEntry, in C++, which call the file's own. Error(bad_input), with the line, where a function has
/// parameters that nobody can fill; it says which were found and which are known.
std::string calls_of(const KernelSource& source);

}  // namespace convlab
