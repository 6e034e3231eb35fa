// Draws a network as SVG.

#include "app/results/network_picture.h"

#include <fmt/format.h>

#include <algorithm>

#include "convlab/report/html.h"

namespace convlab::app {
namespace {

constexpr double kRow = 44, kTop = 84, kBoxWidth = 300, kBoxLeft = 150, kPictureWidth = 1180;

double middle_of(int step) { return kTop + kRow * (step + 1) + kRow / 2; }

/// Draws the edge to a step from one that it reads: a short line from the step before it, otherwise an arc on the left,
/// wider for more distant steps.
std::string line(int from, int to) {
  if (from == to - 1) {
    return fmt::format("<path class=\"edge\" d=\"M{0:.0f} {1:.0f}V{2:.0f}\"/>\n", kBoxLeft + kBoxWidth / 2,
                       middle_of(from) + kRow / 2 - 6, middle_of(to) - kRow / 2 + 6);
  }
  const double reach = std::min(130.0, 24.0 + 6.0 * (to - from));
  return fmt::format("<path class=\"edge\" d=\"M{0:.0f} {1:.1f}C{2:.1f} {1:.1f} {2:.1f} {3:.1f} {0:.0f} {3:.1f}\"/>\n",
                     kBoxLeft, middle_of(from) + 6, kBoxLeft - reach, middle_of(to) - 6);
}

/// Shortens a text to fit; the row's title has all of it.
std::string shortened(const std::string& text, size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 1) + "…";
}

std::string row(int number, const ExplainedStep& step, double longest) {
  const LayerResult& layer = step.layer;
  const double y = middle_of(number) - kRow / 2 + 6, height = kRow - 12, text = y + height / 2;
  std::string svg = fmt::format("<g><title>{}: {} by {}. {}</title>\n", escaped(layer.name), escaped(layer.op),
                                escaped(layer.kernel), escaped(step.why));
  svg += fmt::format("<rect class=\"box\" x=\"{}\" y=\"{:.0f}\" width=\"{}\" height=\"{:.0f}\" rx=\"5\"/>\n", kBoxLeft,
                     y, kBoxWidth, height);
  svg += fmt::format("<text x=\"{}\" y=\"{:.0f}\">{}</text><text class=\"small\" x=\"{}\" y=\"{:.0f}\">{}</text>\n",
                     kBoxLeft + 10, text - 2, escaped(shortened(layer.op, 40)), kBoxLeft + 10, text + 12,
                     escaped(shortened(layer.name, 48)));
  svg += fmt::format("<text class=\"small\" x=\"{}\" y=\"{:.0f}\">{}</text>\n", kBoxLeft + kBoxWidth + 14, text - 2,
                     escaped(convlab::to_text(step.output)));
  svg += fmt::format("<text class=\"small\" x=\"{}\" y=\"{:.0f}\">{}</text>\n", kBoxLeft + kBoxWidth + 14, text + 12,
                     escaped(layer.kernel));
  svg += fmt::format("<text class=\"small end\" x=\"{}\" y=\"{:.0f}\">{} MFLOP</text>", kBoxLeft + kBoxWidth + 280,
                     text - 2, significant(layer.flops * 1e-6));
  svg += fmt::format("<text class=\"small end\" x=\"{}\" y=\"{:.0f}\">{} MB</text>\n", kBoxLeft + kBoxWidth + 280,
                     text + 12, significant(layer.bytes * 1e-6));
  if (step.bound && longest > 0) {
    constexpr double kBar = 300;
    svg += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{:.0f}\" width=\"{:.1f}\" height=\"10\"/>",
                       name_of(step.bound->limit), kBoxLeft + kBoxWidth + 300, text - 5,
                       std::max(1.0, kBar * step.bound->seconds / longest));
    svg += fmt::format("<text class=\"small\" x=\"{:.1f}\" y=\"{:.0f}\">{}</text>\n",
                       kBoxLeft + kBoxWidth + 306 + std::max(1.0, kBar * step.bound->seconds / longest), text + 4,
                       escaped(duration(1e3 * step.bound->seconds) +
                               (layer.seconds > 0 ? ", took " + duration(1e3 * layer.seconds) : "")));
  }
  return svg + "</g>\n";
}

}  // namespace

std::string network_picture(const std::string& title, const std::vector<ExplainedStep>& steps) {
  const double height = kTop + kRow * static_cast<double>(steps.size() + 2);
  double longest = 0;
  for (const ExplainedStep& step : steps) longest = std::max(longest, step.bound ? step.bound->seconds : 0.0);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1:.0f}\" width=\"{0}\" height=\"{1:.0f}\" "
      "role=\"img\" "
      "aria-label=\"{2}\">\n<style>text{{font:13px "
      "sans-serif;fill:#1b1b1b}}.small{{font-size:11px;fill:#555}}.end{{text-anchor:end}}"
      ".box{{fill:#eef3fa;stroke:#5b7fb4}}.edge{{fill:none;stroke:#8a8a8a}}.memory{{fill:#c8872e}}.cache{{fill:#d9b36a}"
      "}"
      ".arithmetic{{fill:#3f7d58}}h1{{font-size:18px}}</style>\n<rect width=\"{0}\" height=\"{1:.0f}\" "
      "fill=\"#fff\"/>\n",
      kPictureWidth, height, escaped(title));
  svg += fmt::format("<text x=\"20\" y=\"30\" style=\"font-size:18px;font-weight:bold\">{}</text>\n", escaped(title));
  svg +=
      "<text class=\"small\" x=\"20\" y=\"50\">Bars: roofline of each step on this machine, limited by "
      "<tspan style=\"fill:#3f7d58\">arithmetic (green)</tspan>, <tspan style=\"fill:#c8872e\">memory (brown)</tspan> "
      "or "
      "<tspan style=\"fill:#b08a3a\">cache (yellow)</tspan>.</text>\n";
  svg += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">input</text>\n", kBoxLeft + kBoxWidth / 2,
                     middle_of(-1) + 8);
  for (int to = 0; to < static_cast<int>(steps.size()); ++to) {
    for (const int from : steps[static_cast<size_t>(to)].inputs) svg += line(from, to);
  }
  for (int i = 0; i < static_cast<int>(steps.size()); ++i) svg += row(i, steps[static_cast<size_t>(i)], longest);
  return svg + "</svg>\n";
}

}  // namespace convlab::app
