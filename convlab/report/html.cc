// Formats numbers, text and tables as HTML.

#include "convlab/report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace convlab {

std::string escaped(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::string data_uri(std::string_view media_type, std::span<const uint8_t> bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string uri = fmt::format("data:{};base64,", media_type);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t there = std::min<size_t>(3, bytes.size() - i);
    uint32_t bits = 0;
    for (size_t j = 0; j < 3; ++j) bits = bits << 8 | (j < there ? bytes[i + j] : 0u);
    for (size_t j = 0; j < 4; ++j) uri += j <= there ? kDigits[bits >> (18 - 6 * j) & 63] : '=';
  }
  return uri;
}

std::string significant(double value) {
  if (!std::isfinite(value)) return "?";
  if (value == 0) return "0";
  constexpr int kDigits = 4;
  const int before_point = static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
  return fmt::format("{:.{}f}", value, std::clamp(kDigits - before_point, 0, 9));
}

std::string duration(double ms) {
  constexpr double kThousand = 1000;
  if (ms >= kThousand) return significant(ms / kThousand) + " s";
  return ms >= 1 ? significant(ms) + " ms" : significant(ms * kThousand) + " µs";
}

Cell text_cell(std::string_view text) { return {.html = escaped(text)}; }
Cell number_cell(std::string_view text) { return {.html = escaped(text), .kind = "number"}; }
Cell missing_cell() { return {.html = "–", .kind = "number missing"}; }

std::string Table::html() const {
  std::string html =
      fmt::format("<div class=\"scroll\"><table><caption><span>{}</span></caption><thead><tr>", escaped(caption_));
  for (size_t i = 0; i < headings_.size(); ++i) {
    const bool number = !rows_.empty() && i < rows_[0].size() && rows_[0][i].kind.starts_with("number");
    html += fmt::format("<th scope=\"col\"{}>{}</th>", number ? " class=\"number\"" : "", headings_[i]);
  }
  html += "</tr></thead><tbody>\n";
  for (const std::vector<Cell>& row : rows_) {
    html += "<tr>";
    for (const Cell& cell : row) {
      html += "<td";
      if (!cell.kind.empty()) html += fmt::format(" class=\"{}\"", cell.kind);
      if (!cell.style.empty()) html += fmt::format(" style=\"{}\"", cell.style);
      html += fmt::format(">{}</td>", cell.html);
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

}  // namespace convlab
