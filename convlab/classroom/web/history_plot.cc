// Draws the history of a student's submissions as SVG.

#include "convlab/classroom/web/history_plot.h"

#include <fmt/format.h>

#include <algorithm>

#include "convlab/report/html.h"

namespace convlab::classroom {
namespace {

constexpr size_t kMostPoints = 60;
// Of the image, in SVG units, which are pixels on a phone.
constexpr double kWidth = 360, kHeight = 200, kLeft = 44, kRight = 10, kTop = 12, kBottom = 42;

double y_of(double value, double most) { return kTop + (1 - value / most) * (kHeight - kTop - kBottom); }

std::string level(const char* kind, double value, double most) {
  const double y = y_of(value, most);
  return fmt::format(
      "<line class=\"{}\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/><text x=\"{}\" y=\"{:.1f}\" "
      "text-anchor=\"end\">{:.3g}</text>\n",
      kind, kLeft, kWidth - kRight, y, y, kLeft - 5, y + 4, value);
}

std::string mark(const HistoryPoint& point, double x, double most) {
  std::string title = fmt::format("submission {}: {}", point.number, point.verdict);
  if (!point.value) {
    const double y = kHeight - kBottom + 12;
    return fmt::format("<g class=\"failed\"><title>{}</title><path d=\"M{:.1f} {:.1f}l6 6m0 -6l-6 6\"/></g>\n",
                       escaped(title), x - 3, y - 3);
  }
  title += fmt::format(", {:.4g}", *point.value);
  return fmt::format(
      "<g class=\"passed\"><title>{0}</title><path d=\"M{1:.1f} {2:.1f}V{3:.1f}\"/><circle cx=\"{1:.1f}\" "
      "cy=\"{4:.1f}\" "
      "r=\"3\"/></g>\n",
      escaped(title), x, y_of(point.low, most), y_of(point.high, most), y_of(*point.value, most));
}

}  // namespace

std::string history_plot(std::vector<HistoryPoint> points, const HistoryAxis& axis) {
  if (points.size() > kMostPoints) points.erase(points.begin(), points.end() - kMostPoints);
  double most = axis.reference.value_or(0);
  for (const HistoryPoint& each : points) {
    if (each.value) most = std::max({most, *each.value, each.high});
  }
  if (points.empty() || !(most > 0)) return "";
  constexpr double kHeadroom = 1.08;
  most *= kHeadroom;
  std::string svg = fmt::format(
      "<figure class=\"history\"><figcaption>{0}</figcaption><svg viewBox=\"0 0 {1} {2}\" role=\"img\" "
      "aria-label=\"{0}, by submission\">\n",
      escaped(axis.name), kWidth, kHeight);
  svg += level("zero", 0, most);
  svg += axis.reference ? level("reference", *axis.reference, most) : level("grid", most / kHeadroom, most);
  const double step = (kWidth - kLeft - kRight) / static_cast<double>(points.size());
  for (size_t i = 0; i < points.size(); ++i) {
    svg += mark(points[i], kLeft + (static_cast<double>(i) + 0.5) * step, most);
  }
  const double y = kHeight - 8;
  svg += fmt::format("<text x=\"{}\" y=\"{}\">submission {}</text>\n", kLeft, y, points.front().number);
  if (points.size() > 1) {
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", kWidth - kRight, y,
                       points.back().number);
  }
  return svg + "</svg></figure>\n";
}

}  // namespace convlab::classroom
