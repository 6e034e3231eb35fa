#pragma once

#include <string_view>

namespace convlab {

/// Returns the text of a file that the build embedded: page.html, style.css, charts.js, chart.min.js (Chart.js; "" in a
/// build without it), and the source of each kernel and its headers ("convlab/kernels/ladder/01_basic.cu"). "" for
/// other names.
std::string_view embedded_file(std::string_view name);

}  // namespace convlab
