// Parses numbers and patterns, and makes untrusted text printable.

#include "convlab/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "convlab/base/error.h"

namespace convlab {

int64_t parse_int(std::string_view text, std::string_view what, int64_t low, int64_t high) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) {
    throw bad_input("{} must be an integer, got '{}'", what, text);
  }
  if (error == std::errc::result_out_of_range || value < low || value > high) {
    if (high == INT64_MAX) throw bad_input("{} must be at least {}, got '{}'", what, low, text);
    throw bad_input("{} must be between {} and {}, got '{}'", what, low, high, text);
  }
  return value;
}

double parse_double(std::string_view text, std::string_view what, double low, double high) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    throw bad_input("{} must be a number, got '{}'", what, text);
  }
  if (!(value >= low && value <= high))
    throw bad_input("{} must be between {} and {}, got '{}'", what, low, high, text);
  return value;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  size_t begin = 0;
  for (size_t end; (end = text.find(separator, begin)) != std::string_view::npos; begin = end + 1) {
    parts.emplace_back(text.substr(begin, end - begin));
  }
  parts.emplace_back(text.substr(begin));
  return parts;
}

std::string text_before(std::string_view text, char end) { return std::string(text.substr(0, text.find(end))); }

/// Whether a character is invisible or changes the text's direction, so that the displayed text differs from the stored
/// one (Unicode TR 36, section 2.10; "Trojan Source", CVE-2021-42574). `sequence`: its UTF-8 bytes.
static bool is_invisible(std::string_view sequence) {
  if (sequence.size() == 2) return sequence == "\u00ad" || sequence == "\u061c";
  if (sequence.size() != 3) return sequence.size() == 4 && sequence.starts_with("\xf3\xa0");  // tags, U+E0000 on
  const auto byte = [&](size_t at) { return static_cast<unsigned>(static_cast<unsigned char>(sequence[at])); };
  const unsigned code = (byte(0) & 0xfu) << 12 | (byte(1) & 0x3fu) << 6 | (byte(2) & 0x3fu);
  const auto within = [&](unsigned low, unsigned high) { return code >= low && code <= high; };
  return within(0x200b, 0x200f) || within(0x2028, 0x202e) || within(0x2060, 0x206f) || within(0xfe00, 0xfe0f) ||
         within(0xfff9, 0xfffb) || within(0x115f, 0x1160) || code == 0x180e || code == 0x3164 || code == 0xfeff ||
         code == 0xffa0;
}

std::string printable(std::string_view text, size_t most) {
  // Returns the length of the UTF-8 sequence at i, 0 if it is invalid (RFC 3629, table 3-7 of the Unicode standard).
  const auto sequence = [&](size_t i) -> size_t {
    const auto byte = [&](size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u; };
    const unsigned first = byte(i), second = byte(i + 1);
    const auto continues = [&](size_t at) { return (byte(at) & 0xc0u) == 0x80u; };
    if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
    if (first >= 0xc2 && first <= 0xdf) return continues(i + 1) && (first > 0xc2 || second >= 0xa0) ? 2 : 0;
    if (first >= 0xe0 && first <= 0xef) {
      const bool fits = continues(i + 1) && continues(i + 2);
      const bool overlong = first == 0xe0 && second < 0xa0, surrogate = first == 0xed && second >= 0xa0;
      return fits && !overlong && !surrogate ? 3 : 0;
    }
    if (first >= 0xf0 && first <= 0xf4) {
      const bool fits = continues(i + 1) && continues(i + 2) && continues(i + 3);
      return fits && !(first == 0xf0 && second < 0x90) && !(first == 0xf4 && second >= 0x90) ? 4 : 0;
    }
    return 0;
  };
  std::string result;
  for (size_t i = 0; i < text.size();) {
    if (result.size() >= most) return result + "...";
    const size_t bytes = sequence(i);
    result += bytes == 0 || is_invisible(text.substr(i, bytes)) ? "?" : text.substr(i, bytes);
    i += bytes == 0 ? 1 : bytes;
  }
  return result;
}

size_t start_of_character(std::string_view text, size_t at) {
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0u) == 0x80u) --at;
  return at;
}

std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,/:@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  return shell_quoted(word);
}

bool glob_match(std::string_view pattern, std::string_view text) {
  // Greedy, backtracks only to the last '*'. Linear in practice, quadratic at worst, never exponential.
  size_t p = 0, t = 0, star = std::string_view::npos, star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p, ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

static size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string closest(std::string_view text, const std::vector<std::string>& candidates, size_t least_edits) {
  std::string best;
  size_t best_distance = std::max(least_edits, text.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(text, candidate);
    const bool alike = distance < std::max(text.size(), candidate.size());  // they have a character in common
    if (alike && distance < best_distance) best_distance = distance, best = candidate;
  }
  return best;
}

std::string did_you_mean(std::string_view text, const std::vector<std::string>& candidates) {
  const std::string nearest = closest(text, candidates);
  return nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", nearest);
}

}  // namespace convlab
