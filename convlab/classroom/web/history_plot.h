#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace convlab::classroom {

/// A submission in a plot of several.
struct HistoryPoint {
  int64_t number = 0;
  std::string verdict;
  std::optional<double> value;  ///< nullopt: it has no figure, and is marked below the axis
  double low = 0, high = 0;     ///< where it has: its bounds
};

/// What the plot's axis is.
struct HistoryAxis {
  std::string name;                 ///< "Time relative to the reference"
  std::optional<double> reference;  ///< a line to compare with
};

/// An SVG of submissions from left to right, the last 60 of them.
std::string history_plot(std::vector<HistoryPoint> points, const HistoryAxis& axis);

}  // namespace convlab::classroom
