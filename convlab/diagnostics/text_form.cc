// Formats findings for a terminal: headline, source lines with labels, notes, help.

#include "convlab/diagnostics/text_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "convlab/base/text.h"

namespace convlab {
namespace {

constexpr size_t kMostSourceLines = 4;

enum class Color : uint8_t { red = 31, green = 32, yellow = 33, blue = 34, cyan = 36 };

std::string bold(std::string_view text, const TextStyle& style) {
  return style.color ? fmt::format("\x1b[1m{}\x1b[0m", text) : std::string(text);
}

std::string colored(std::string_view text, Color color, const TextStyle& style) {
  return style.color ? fmt::format("\x1b[1;{}m{}\x1b[0m", static_cast<int>(color), text) : std::string(text);
}

Color color_of(Severity severity) {
  switch (severity) {
    case Severity::error:
      return Color::red;
    case Severity::warning:
      return Color::yellow;
    case Severity::note:
      return Color::cyan;
  }
  return Color::cyan;
}

/// The part of a source line around a column that fits a width. Tabs are expanded, and "..." marks where it is cut.
class Excerpt {
 public:
  Excerpt(std::string_view line, int column, size_t width) {
    constexpr size_t kTab = 4;
    std::string text;
    for (const char c : line) {
      offsets_.push_back(text.size());
      text.append(c == '\t' ? kTab - text.size() % kTab : 1, c == '\t' ? ' ' : c);
    }
    offsets_.push_back(text.size());
    end_ = text.size();
    if (text.size() > width) {
      const size_t at = offset_of(column), begin = std::min(at - std::min(at, width / 2), text.size() - width);
      if (begin > 0) begin_ = start_of_character(text, begin + kCut.size());
      if (begin + width < text.size()) end_ = start_of_character(text, begin + width - kCut.size());
    }
    text_ = fmt::format("{}{}{}", begin_ > 0 ? kCut : "",
                        printable(std::string_view(text).substr(begin_, end_ - begin_), text.size()),
                        end_ < text.size() ? kCut : "");
  }

  const std::string& text() const { return text_; }

  /// Returns the offset of a column in the text; nullopt if it is cut off.
  std::optional<size_t> caret(int column) const {
    const size_t at = offset_of(column);
    if (at < begin_ || at > end_) return std::nullopt;
    return at - begin_ + (begin_ > 0 ? kCut.size() : 0);
  }

 private:
  static constexpr std::string_view kCut = "...";

  size_t offset_of(int column) const {
    return offsets_[std::min(static_cast<size_t>(std::max(column, 1)), offsets_.size()) - 1];
  }

  std::string text_;
  std::vector<size_t> offsets_;  ///< of the line's bytes, and of its end, after expanding tabs
  size_t begin_ = 0, end_ = 0;   ///< the part that is shown
};

class Writer {
 public:
  Writer(const Finding& finding, SourceLines& lines, const TextStyle& style)
      : finding_(finding), lines_(lines), style_(style), width_(static_cast<size_t>(std::max(style.width, 40))) {
    for (const Label& label : finding.labels) digits_ = std::max(digits_, fmt::formatted_size("{}", label.place.line));
  }

  std::string write() {
    const std::string place = to_text(place_of(finding_));
    out_ = fmt::format("{}{} {}\n", place.empty() ? "" : bold(place + ": ", style_),
                       severity_text(finding_.severity, style_), bold(finding_.text, style_));
    write_labels();
    std::string notes = remarks(finding_, style_.details);
    if (finding_.count > 1) notes += fmt::format("{}found {} times", notes.empty() ? "" : "; ", finding_.count);
    if (!notes.empty()) write_remark("", notes);
    if (!finding_.help.empty()) write_remark("help: ", finding_.help);
    return std::move(out_);
  }

 private:
  std::string gutter(std::string_view number = "") const {
    return colored(fmt::format("{:>{}} |", number, digits_), Color::blue, style_);
  }

  /// Writes each labeled source line, followed by its labels, in the order of the labels.
  void write_labels() {
    size_t shown = 0;
    std::string file = place_of(finding_).file;
    const SourcePlace* last = nullptr;
    std::optional<Excerpt> part;  // of the last line
    for (const Label& label : finding_.labels) {
      const SourcePlace& place = label.place;
      const std::optional<std::string> line = lines_.line(place.file, place.line);
      const bool is_again =
          last != nullptr && last->file == place.file && last->line == place.line && part->caret(place.column);
      if (!line || (!is_again && shown == kMostSourceLines)) {
        write_bare(label);
        continue;
      }
      if (shown == 0) out_ += gutter() + "\n";
      if (!is_again) {
        ++shown;
        part.emplace(*line, place.column, width_ - digits_ - 3);
        if (place.file != file) out_ += fmt::format("{} {}:\n", gutter(), file = place.file);
        out_ += fmt::format("{} {}\n", gutter(fmt::format("{}", place.line)), part->text());
      }
      write_caret(label, part->caret(place.column).value_or(0));
      last = &place;
    }
  }

  void write_caret(const Label& label, size_t column) {
    const std::string blanks(column, ' '), caret = colored("^", color_of(finding_.severity), style_);
    const size_t left = width_ - digits_ - 3;
    if (column + 2 + label.text.size() <= left || label.text.empty()) {
      out_ += fmt::format("{} {}{}{}{}\n", gutter(), blanks, caret, label.text.empty() ? "" : " ", label.text);
      return;
    }
    if (label.text.size() < column) {  // there is room to the left
      out_ += fmt::format("{} {:>{}} {}\n", gutter(), label.text, column - 1, caret);
      return;
    }
    // Otherwise the text goes below the caret, as far to the right as it fits.
    const size_t indent = std::min(column, left - std::min(left, label.text.size()));
    out_ += fmt::format("{} {}{}\n", gutter(), blanks, caret);
    for (const std::string& line : wrapped(label.text, left - indent)) {
      out_ += fmt::format("{} {}{}\n", gutter(), std::string(indent, ' '), line);
    }
  }

  /// Writes a label without its source line.
  void write_bare(const Label& label) {
    const bool is_place_known = label.place == place_of(finding_) || label.place.file.empty();
    if (!label.text.empty()) write_remark(is_place_known ? "" : to_text(label.place) + ": ", label.text);
  }

  void write_remark(std::string_view what, std::string_view text) {
    const std::string indent(digits_ + 1, ' ');
    const std::vector<std::string> lines = wrapped(fmt::format("{}{}", what, text), width_ - digits_ - 3);
    for (size_t i = 0; i < lines.size(); ++i) {
      std::string line = lines[i];
      if (i == 0 && what == "help: ") line = colored("help:", Color::green, style_) + line.substr(what.size() - 1);
      out_ += fmt::format("{}{} {}\n", indent, i == 0 ? colored("=", Color::blue, style_) : " ", line);
    }
  }

  const Finding& finding_;
  SourceLines& lines_;
  const TextStyle& style_;
  size_t width_, digits_ = 1;
  std::string out_;
};

}  // namespace

std::string text_form(Finding finding, SourceLines& lines, const TextStyle& style) {
  lines.locate(finding);
  return Writer(finding, lines, style).write();
}

std::string severity_text(Severity severity, const TextStyle& style) {
  return colored(fmt::format("{}:", name_of(severity)), color_of(severity), style);
}

std::vector<std::string> wrapped(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  while (text.size() > width) {
    size_t end = text.rfind(' ', width);
    if (end == std::string_view::npos || end == 0) end = width;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(text[end] == ' ' ? end + 1 : end);
  }
  lines.emplace_back(text);
  return lines;
}

}  // namespace convlab
