#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace convlab {

/// A whole decimal number in [low, high], or Error(bad_input) that names `what` ("--images") and the range.
int64_t parse_int(std::string_view text, std::string_view what, int64_t low, int64_t high);

/// A finite decimal number in [low, high], or Error(bad_input) that names `what`.
double parse_double(std::string_view text, std::string_view what, double low, double high);

/// "a,b,c" -> {"a", "b", "c"}; the empty text gives no parts, empty parts are kept.
std::vector<std::string> split(std::string_view text, char separator);

/// What stands before the first `end`; the whole text where there is none.
std::string text_before(std::string_view text, char end);

/// A name from a file, safe in a message, a table or JSON: control characters, invisible ones, those that change the
/// direction of text, and bytes that are not UTF-8 become '?', and what is longer than `most` bytes is cut.
std::string printable(std::string_view text, size_t most = 200);

/// Shell-like match of the whole text: `*` is any run of characters, `?` any one; all others stand for themselves.
bool glob_match(std::string_view pattern, std::string_view text);

/// "did you mean ...": the candidate with the smallest edit distance, or "" if none is within a third of the length.
std::string closest(std::string_view text, const std::vector<std::string>& candidates);

}  // namespace convlab
