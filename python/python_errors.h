#pragma once

#include <convlab/convlab.h>

#include <string>

namespace convlab::python {

/// Raises Python's convlab.Error.
[[noreturn]] void fail(convlab_status status, const std::string& text);

}  // namespace convlab::python
