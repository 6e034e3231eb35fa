#pragma once

#include <cstdio>
#include <string>

#include "convlab/diagnostics/text_form.h"

namespace convlab::app {

/// How findings are printed to `output`. `color` is the option's value: "always", "never", or "auto", which
/// means color on a terminal unless the environment has NO_COLOR (https://no-color.org). The width is the terminal's,
/// and without one 100 columns.
TextStyle text_style(std::FILE* output, const std::string& color);

}  // namespace convlab::app
