#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace convlab {

/// Returns the text with & < > " ' as HTML entities.
std::string escaped(std::string_view text);

/// Returns "data:image/png;base64,...".
std::string data_uri(std::string_view media_type, std::span<const uint8_t> bytes);

/// Returns a number with four significant digits, never with an exponent: "0.01235", "1234", "123.5".
std::string significant(double value);

/// Returns a duration with its unit: "35.1 µs", "4.98 ms", "1.77 s".
std::string duration(double ms);

/// A table cell; `html` is not escaped.
struct Cell {
  std::string html;
  std::string kind = {};   ///< CSS classes: "number", "good", ...
  std::string style = {};  ///< CSS of this cell alone
};

/// Return cells for a text, for a number as text, and for a value that was not measured.
Cell text_cell(std::string_view text);
Cell number_cell(std::string_view text);
Cell missing_cell();

/// An HTML table in its own box, which scrolls if the page is narrow. Headings are HTML.
class Table {
 public:
  Table(std::string_view caption, std::vector<std::string> headings)
      : caption_(caption), headings_(std::move(headings)) {}

  void row(std::vector<Cell> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  std::string html() const;

 private:
  std::string caption_;
  std::vector<std::string> headings_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace convlab
