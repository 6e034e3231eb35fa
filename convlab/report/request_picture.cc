// Draws memory requests of a warp as SVG.

#include "convlab/report/request_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "convlab/report/html.h"

namespace convlab {
namespace {

// in units of the drawing
constexpr double kLeft = 30, kTop = 30, kWidth = 384, kRow = 8, kHeight = kRow * kLanes, kStrip = 12;
constexpr int kWordBytes = 4, kLabelled = 8;  // every 8th lane and bank is numbered

double ratio(int64_t a, int64_t b) { return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b); }

std::string rectangle(double x, double y, double width, double height, std::string_view kind) {
  return fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" class=\"{}\"/>", x, y, width,
                     height, kind);
}

std::string text(double x, double y, std::string_view anchor, std::string_view what) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x, y, anchor, what);
}

/// Draws the frame, the lane numbers, and columns with every second one shaded.
std::string frame(int columns, std::string_view across) {
  std::string svg = rectangle(kLeft, kTop, kWidth, kHeight, "frame");
  const double width = kWidth / columns;
  for (int column = 1; column < columns; column += 2) {
    svg += rectangle(kLeft + column * width, kTop, width, kHeight, "odd");
  }
  for (int lane = 0; lane < kLanes; lane += kLabelled) {
    svg += text(kLeft - 4, kTop + kRow * (lane + 1), "end", std::to_string(lane));
  }
  return svg + text(kLeft - 4, kTop - 8, "end", "lane") + text(kLeft + kWidth / 2, 10, "middle", across);
}

std::string drawing(std::string_view label, double height, const std::string& content) {
  return fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">{}</svg>\n", kLeft + kWidth + 4,
                     height, escaped(label), content);
}

// Lanes whose accesses are served together are marked as waiting if they access another word of a bank than an earlier
// lane.
std::string banks(const LineCounts& line) {
  const ExampleRequest& example = line.example;
  const int words = std::max(1, line.access_bytes / kWordBytes), together = kLanes / words;
  const double width = kWidth / kBanks;
  std::string svg = frame(kBanks, "shared memory bank");
  for (int bank = 0; bank < kBanks; bank += kLabelled) {
    svg += text(kLeft + (bank + 0.5) * width, kTop - 8, "middle", std::to_string(bank));
  }
  std::map<int64_t, int64_t> served;  // the first word accessed, by bank
  int part = 0;
  for_each_lane(example.lanes, [&](int lane) {
    if (lane / together != part) served.clear();
    part = lane / together;
    for (int i = 0; i < words; ++i) {
      const int64_t word = example.offsets[static_cast<size_t>(lane)] / kWordBytes + i, bank = word % kBanks;
      const bool waits = served.try_emplace(bank, word).first->second != word;
      svg += rectangle(kLeft + static_cast<double>(bank) * width + 0.75, kTop + kRow * lane + 0.75, width - 1.5,
                       kRow - 1.5, waits ? "waits" : "lane");
    }
  });
  return drawing(fmt::format("lanes by banks, {}", line.where), kTop + kHeight + 4, svg);
}

// Each sector is as wide as its 32 bytes; the strip below shows which bytes are used.
std::string sectors(const LineCounts& line) {
  const ExampleRequest& example = line.example;
  std::set<int64_t> touched;
  for_each_lane(example.lanes,
                [&](int lane) { touched.insert(example.offsets[static_cast<size_t>(lane)] / kSectorBytes); });
  const std::vector<int64_t> order(touched.begin(), touched.end());
  const auto count = static_cast<int>(order.size());
  const double width = kWidth / count;
  std::string svg = frame(count, "global memory sector, 32 bytes each");
  for (int i = 1; i < count; ++i) {  // mark gaps between sectors that are not adjacent
    if (order[static_cast<size_t>(i)] == order[static_cast<size_t>(i - 1)] + 1) continue;
    svg += fmt::format("<line x1=\"{0:.2f}\" x2=\"{0:.2f}\" y1=\"{1}\" y2=\"{2}\" class=\"gone\"/>", kLeft + i * width,
                       kTop, kTop + kHeight);
  }
  const int step = count <= 8 ? 1 : kLabelled;
  for (int i = 0; i < count; i += step) {
    svg += text(kLeft + (i + 0.5) * width, kTop - 8, "middle", std::to_string(order[static_cast<size_t>(i)]));
  }
  std::set<double> used;
  const double bytes = width * line.access_bytes / kSectorBytes, gap = std::min(0.75, bytes / 4);
  for_each_lane(example.lanes, [&](int lane) {
    const int64_t offset = example.offsets[static_cast<size_t>(lane)];
    const auto column = std::ranges::lower_bound(order, offset / kSectorBytes) - order.begin();
    const double x =
        kLeft + width * (static_cast<double>(column) + static_cast<double>(offset % kSectorBytes) / kSectorBytes);
    svg += rectangle(x + gap, kTop + kRow * lane + 0.75, bytes - 2 * gap, kRow - 1.5, "lane");
    used.insert(x);
  });
  const double strip = kTop + kHeight + 6;
  svg += text(kLeft - 4, strip + kStrip - 3, "end", "used") + rectangle(kLeft, strip, kWidth, kStrip, "wasted");
  for (const double x : used) svg += rectangle(x, strip, bytes, kStrip, "lane");
  for (int i = 1; i < count; ++i) svg += rectangle(kLeft + i * width - 0.25, strip, 0.5, kStrip, "edge");
  return drawing(fmt::format("lanes by sectors, {}", line.where), strip + kStrip + 4, svg);
}

/// Returns "3.5" or "16".
std::string mean(int64_t sum, int64_t of) {
  const std::string number = fmt::format("{:.1f}", ratio(sum, of));
  return number.ends_with(".0") ? number.substr(0, number.size() - 2) : number;
}

}  // namespace

std::string request_picture(const LineCounts& line, std::string_view why) {
  if (line.example.lanes == 0 || line.space == MemorySpace::constant) return "";
  const bool shared = line.space == MemorySpace::shared;
  const MemoryCounts& counts = line.counts;
  std::string caption = fmt::format(
      "<strong>{}</strong> {}: {} <code>{}</code>, {} byte{} per lane. Shown is the costliest of {} requests: {} {}{}. "
      "The average is {}; {} would suffice. ",
      escaped(line.where), why, name_of(line.type), escaped(line.array.empty() ? name_of(line.space) : line.array),
      line.access_bytes, line.access_bytes == 1 ? "" : "s", counts.requests, line.example.cost,
      shared ? "wavefront" : "sector", line.example.cost == 1 ? "" : "s",
      shared ? mean(counts.wavefronts, counts.requests) : mean(counts.sectors, counts.requests),
      shared ? mean(counts.least_wavefronts, counts.requests) : mean(counts.least_sectors, counts.requests));
  caption += shared ? counts.bank_conflicts() > 0
                          ? "Red lanes access another word of a busy bank and wait."
                          : "No bank conflict: each bank serves one word to all lanes that access it."
                    : fmt::format("{:.0f} % of the transferred bytes are used.",
                                  100 * ratio(counts.bytes, counts.sectors * kSectorBytes));
  return fmt::format("<figure class=\"request\"><figcaption>{}</figcaption>\n{}</figure>\n", caption,
                     shared ? banks(line) : sectors(line));
}

}  // namespace convlab
