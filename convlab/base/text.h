#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace convlab {

/// Parses an integer in [low, high]. Throws Error(bad_input) with `what` ("--images") and the range otherwise.
int64_t parse_int(std::string_view text, std::string_view what, int64_t low, int64_t high);

/// Parses a finite decimal number in [low, high]. Throws Error(bad_input) with `what` and the range otherwise.
double parse_double(std::string_view text, std::string_view what, double low, double high);

/// Splits "a,b,c" into {"a", "b", "c"}. An empty text has no parts; empty parts are kept.
std::vector<std::string> split(std::string_view text, char separator);

/// Returns the text before the first `end`; the whole text if there is none.
std::string text_before(std::string_view text, char end);

/// Makes an untrusted text safe for messages, tables and JSON: replaces control characters, invisible characters,
/// characters that change the text's direction, and bytes that are not UTF-8 by '?', and truncates to `most` bytes.
std::string printable(std::string_view text, size_t most = 200);

/// Returns the offset at which the UTF-8 character begins that the byte at offset `at` belongs to.
size_t start_of_character(std::string_view text, size_t at);

/// Returns the text in single quotes, as a shell reads it back.
std::string shell_quoted(const std::string& text);

/// Returns the word as a shell's command line has it, in quotes where it needs them.
std::string shell_word(const std::string& word);

/// Matches the whole text against a shell pattern: `*` matches any characters, `?` any one character.
bool glob_match(std::string_view pattern, std::string_view text);

/// Returns the candidate with the smallest edit distance, for "did you mean ...?"; "" if none is within a third of the
/// text's length (at least `least_edits`) and has a character in common.
std::string closest(std::string_view text, const std::vector<std::string>& candidates, size_t least_edits = 2);

/// Returns " (did you mean 'fa19'?)" with the closest() candidate; "" if there is none.
std::string did_you_mean(std::string_view text, const std::vector<std::string>& candidates);

}  // namespace convlab
