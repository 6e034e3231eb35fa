// Draws an ablation as SVG.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "app/results/ablation_table.h"
#include "convlab/base/text.h"
#include "convlab/kernels/step_text.h"
#include "convlab/report/html.h"

namespace convlab::app {
namespace {

// 400 wide, so that a phone shows the text at its original size.
constexpr int kWidth = 400, kLeft = 12, kRight = 388;
constexpr int kHead = 22, kAxis = 18, kRowName = 18, kBar = 12, kGap = 8;
constexpr double kNarrowest = 1.25;  // the axis spans at least 1/kNarrowest to kNarrowest
constexpr double kWidest = 64;       // larger gains end at the edge

/// The x axis of gains. It is logarithmic, so that 2 and 1/2 are equally far from 1.
class Axis {
 public:
  explicit Axis(const AblationFigure& figure) {
    for (const AblationRow& row : figure.rows) {
      for (const auto& gain : {row.effect.alone, row.effect.left_out}) {
        if (!gain) continue;
        cover(gain->times);
        cover(gain->interval.low);
        cover(gain->interval.high);
      }
    }
    low_ /= kMargin;
    high_ *= kMargin;
  }

  double at(double times) const {
    const double bounded = std::clamp(times, low_, high_);
    return kLeft + (kRight - kLeft) * std::log(bounded / low_) / std::log(high_ / low_);
  }

  /// Returns a few round gains for the grid.
  std::vector<double> marks() const {
    const double width = high_ / low_;
    const std::vector<double> steps = width > 100 ? std::vector<double>{1.0 / 64, 1.0 / 16, 0.25, 1, 4, 16, 64}
                                      : width > 8 ? std::vector<double>{0.125, 0.25, 0.5, 1, 2, 4, 8, 16, 32}
                                      : width > 2 ? std::vector<double>{0.25, 0.5, 0.7, 1, 1.4, 2, 3, 4, 6}
                                                  : std::vector<double>{0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.4, 1.6};
    std::vector<double> inside;
    std::ranges::copy_if(steps, std::back_inserter(inside), [&](double mark) { return mark > low_ && mark < high_; });
    return inside;
  }

 private:
  static constexpr double kMargin = 1.35;  // room for a bar's number

  void cover(double times) {
    if (!(times > 0)) return;
    low_ = std::max(1 / kWidest, std::min(low_, times));
    high_ = std::min(kWidest, std::max(high_, times));
  }

  double low_ = 1 / kNarrowest, high_ = kNarrowest;
};

std::string number_text(double times) {
  return std::isinf(times) ? "to 0" : times == 0 ? "from 0" : fmt::format("{:.2f}", times);
}

/// Returns a bar from 1 to the gain, with its interval and its number.
std::string bar(const Axis& axis, const char* kind, const Worth& gain, Samples samples, int y) {
  const double one = axis.at(1), end = axis.at(gain.times), middle = y + kBar / 2.0;
  const double low = axis.at(gain.interval.low), high = axis.at(gain.interval.high);
  std::string svg = fmt::format(R"(<rect class="{}" x="{:.1f}" y="{}" width="{:.1f}" height="{}"/>)", kind,
                                std::min(one, end), y, std::max(1.0, std::abs(end - one)), kBar - 2);
  double beyond = std::max(one, end);
  if (samples == Samples::timed && std::isfinite(gain.interval.high)) {
    svg += fmt::format(R"(<path class="known" d="M{:.1f} {:.1f}H{:.1f}"/>)", low, middle - 1, high);
    beyond = std::max(beyond, high);
  }
  svg += fmt::format(R"(<text class="small" x="{:.1f}" y="{}">{}</text>)", beyond + 4, y + kBar - 2,
                     number_text(gain.times));
  return svg + "\n";
}

std::string title_of(const AblationFigure& figure) {
  if (figure.samples == Samples::counted) return fmt::format("{}: reduction factor", figure.name);
  return "speedup";
}

/// Whether the row is shown: counts that do not change are left out.
bool is_shown(const AblationFigure& figure, const AblationRow& row) {
  const auto changes = [](const std::optional<Worth>& worth) { return worth && worth->times != 1; };
  return figure.samples == Samples::timed || changes(row.effect.alone) || changes(row.effect.left_out);
}

int height_of(const AblationFigure& figure, bool kernels) {
  const auto rows = std::ranges::count_if(figure.rows, [&](const AblationRow& row) { return is_shown(figure, row); });
  return kHead + kAxis + static_cast<int>(rows) * (kRowName + kBar * (kernels ? 1 : 2) + kGap);
}

std::string panel(const Ablation& ablation, const AblationFigure& figure, int top) {
  const Axis axis(figure);
  const bool kernels = ablation.switches.empty();
  const int bottom = top + height_of(figure, kernels) - kGap / 2;
  std::string svg =
      fmt::format("<text class=\"bold\" x=\"{}\" y=\"{}\">{}</text>\n", kLeft, top + 14, escaped(title_of(figure)));
  for (const double mark : axis.marks()) {
    const double x = axis.at(mark);
    svg += fmt::format(
        "<path class=\"{}\" d=\"M{:.1f} {}V{}\"/><text class=\"small\" x=\"{:.1f}\" y=\"{}\" "
        "text-anchor=\"middle\">{:g}</text>\n",
        mark == 1 ? "one" : "grid", x, top + kHead + kAxis - 4, bottom, x, top + kHead + kAxis - 7, mark);
  }
  int y = top + kHead + kAxis;
  for (const AblationRow& row : figure.rows) {
    if (!is_shown(figure, row)) continue;
    svg += fmt::format("<text class=\"name\" x=\"{}\" y=\"{}\">{}</text>\n", kLeft, y + 13, escaped(row.name));
    y += kRowName;
    if (row.effect.alone) svg += bar(axis, "alone", *row.effect.alone, figure.samples, y);
    y += kBar;
    if (kernels) {
      y += kGap;
      continue;
    }
    if (row.effect.left_out) svg += bar(axis, "end", *row.effect.left_out, figure.samples, y);
    y += kBar + kGap;
  }
  return svg;
}

std::string legend(int y) {
  return fmt::format(
      "<rect class=\"alone\" x=\"{0}\" y=\"{1}\" width=\"12\" height=\"10\"/><text x=\"{2}\" y=\"{3}\">alone, added to "
      "none</text>\n<rect class=\"end\" x=\"190\" y=\"{1}\" width=\"12\" height=\"10\"/><text x=\"208\" "
      "y=\"{3}\">added to "
      "all others</text>\n",
      kLeft, y, kLeft + 18, y + 10);
}

}  // namespace

std::string ablation_picture(const Ablation& ablation) {
  const bool kernels = ablation.switches.empty();
  std::string body;
  int y = 46;
  if (!kernels) {
    body += legend(y);
    y += 22;
  }
  for (const AblationFigure& figure : ablation.figures) {
    body += panel(ablation, figure, y);
    y += height_of(figure, kernels) + 6;
  }
  const std::string what = kernels ? "each kernel against " + ablation.variants.front().label : ablation.file;
  const std::string where =
      fmt::format("{}, {}", problem_text(ablation.step),
                  ablation.where.device == "simt" ? "counted on simt" : text_before(ablation.where.description, ','));
  const auto cut = [](const std::string& text) {
    constexpr size_t kMost = 62;
    return text.size() > kMost ? text.substr(0, kMost - 3) + "..." : text;
  };
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
             "font-family=\"sans-serif\" font-size=\"12\">\n<title>{2}: the gain of each change</title>\n",
             kWidth, y, escaped(what)) +
         "<style>svg{background:#fff}text{fill:#24292f}.bold,.name{font-weight:bold}.small{font-size:11px}"
         ".name{paint-order:stroke;stroke:#fff;stroke-width:3}"
         ".alone{fill:#3b78c2}.end{fill:#d08a28}.known{stroke:#24292f;stroke-width:1.2;fill:none}"
         ".grid{stroke:#d0d7de}.one{stroke:#57606a;stroke-width:1.5}"
         "@media(prefers-color-scheme:dark){svg{background:#0d1117}text{fill:#d0d7de}.alone{fill:#5a9be6}.end{fill:#"
         "e0a44a}"
         ".name{stroke:#0d1117}.known{stroke:#f0f3f6}.grid{stroke:#30363d}.one{stroke:#8b949e}}</style>\n" +
         fmt::format(
             "<text class=\"bold\" x=\"{0}\" y=\"16\">{1}</text>\n<text class=\"small\" x=\"{0}\" "
             "y=\"33\">{2}</text>\n",
             kLeft, escaped(cut(what)), escaped(cut(where))) +
         body + "</svg>\n";
}

}  // namespace convlab::app
