#pragma once

#include <cstdio>
#include <string>

#include "convlab/diagnostics/text_form.h"

namespace convlab {

/// Returns color and width of findings printed to `output`. `color` is the option's value: "always", "never", or
/// "auto", which means color on a terminal unless the environment has NO_COLOR (https://no-color.org). The width is the
/// terminal's, or 100 columns without a terminal.
TextStyle text_style(std::FILE* output, const std::string& color);

}  // namespace convlab
