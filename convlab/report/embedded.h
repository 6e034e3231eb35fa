#pragma once

#include <string_view>

namespace convlab {

/// The text of a file that the build put into the program: page.html, style.css, charts.js, chart.min.js (Chart.js; ""
/// in a build without it), and the source of each kernel and its parts ("convlab/kernels/ladder/01_basic.cu"). Else "".
std::string_view embedded_file(std::string_view name);

}  // namespace convlab
