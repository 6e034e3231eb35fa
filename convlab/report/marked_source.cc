// Shows a kernel's source with the cost of each line.

#include "convlab/report/marked_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "convlab/base/text.h"
#include "convlab/report/html.h"

namespace convlab {
namespace {

/// The cost of one line.
struct LineCost {
  int64_t sectors = 0, wavefronts = 0;
  std::set<std::string> lessons;
};

std::string percent(int64_t part, int64_t all) {
  if (part == 0) return "";
  const double share = 100 * static_cast<double>(part) / static_cast<double>(all);
  return share < 1 ? "<1 %" : fmt::format("{:.0f} %", share);
}

}  // namespace

std::string marked_source(const OwnKernel& kernel, const std::vector<const SavedCounts*>& counts) {
  std::map<std::string, LineCost> costs;  // by source location
  LineCost all;
  for (const SavedCounts* each : counts) {
    for (const LineCounts& line : each->counts.lines) {
      LineCost& cost = costs[line.where];
      cost.sectors += line.counts.sectors;
      all.sectors += line.counts.sectors;
      if (line.space != MemorySpace::shared) continue;
      cost.wavefronts += line.counts.wavefronts;
      all.wavefronts += line.counts.wavefronts;
    }
    for (const KernelLesson& lesson : each->lessons) {
      costs[lesson.where].lessons.insert(fmt::format("{}: {}", each->layer, lesson.text));
    }
  }
  std::string html;
  if (all.sectors + all.wavefronts > 0) {
    html = fmt::format("<p>Before each line: its share of the kernel's global memory sectors{}, counted by simt.</p>\n",
                       all.wavefronts > 0 ? " and shared memory wavefronts" : "");
  }
  html += "<pre class=\"code source\">";
  const auto cell = [](std::string_view kind, const std::string& text) {
    return fmt::format("<span class=\"{}\">{}</span>", kind, escaped(text));
  };
  const std::vector<std::string> lines = split(kernel.source, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i + 1 == lines.size() && lines[i].empty()) break;
    const LineCost& cost = costs[fmt::format("{}:{}", kernel.file_name(), i + 1)];
    const auto share_of = [](int64_t part, int64_t whole) {
      return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
    };
    const double share = std::max(share_of(cost.sectors, all.sectors), share_of(cost.wavefronts, all.wavefronts));
    html += share > 0 ? fmt::format("<span class=\"line costly\" style=\"--share:{:.3f}\">", share)
                      : std::string("<span class=\"line\">");
    if (all.sectors > 0) html += cell("cost", percent(cost.sectors, all.sectors));
    if (all.wavefronts > 0) html += cell("cost", percent(cost.wavefronts, all.wavefronts));
    html += cell("place", std::to_string(i + 1)) + cell("text", lines[i]) + "\n</span>";
    for (const std::string& lesson : cost.lessons) html += cell("lesson", lesson + "\n");
  }
  return html + "</pre>\n";
}

}  // namespace convlab
