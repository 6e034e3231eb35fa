#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace convlab::classroom {

/// A submission in a history plot.
struct HistoryPoint {
  int64_t number = 0;
  std::string verdict;
  std::optional<double> value;  ///< nullopt: not measured; marked below the axis
  double low = 0, high = 0;     ///< bounds, if `value` is set
};

/// The plot's vertical axis.
struct HistoryAxis {
  std::string name;                 ///< "Time relative to the reference"
  std::optional<double> reference;  ///< a reference line
};

/// Returns an SVG of the last 60 submissions, from left to right.
std::string history_plot(std::vector<HistoryPoint> points, const HistoryAxis& axis);

}  // namespace convlab::classroom
