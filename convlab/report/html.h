#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace convlab {

/// Text as HTML shows it: & < > " ' become entities.
std::string escaped(std::string_view text);

/// "data:image/png;base64,...".
std::string data_uri(std::string_view media_type, std::span<const uint8_t> bytes);

/// A number with four significant digits, never in exponents: "0.01235", "1234", "123.5".
std::string significant(double value);

/// A duration of so many milliseconds with its unit: "35.1 us", "4.98 ms", "1.77 s".
std::string duration(double ms);

/// One cell of a table; `html` is taken as it is.
struct Cell {
  std::string html;
  std::string kind = {};   ///< classes: "number", "good", ...
  std::string style = {};  ///< of this cell alone
};

/// A cell for a text, for a number that is text already, and for a figure that nobody measured.
Cell text_cell(std::string_view text);
Cell number_cell(std::string_view text);
Cell missing_cell();

/// An HTML table, in its own box, which scrolls where the page is narrow. Headings are HTML.
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
