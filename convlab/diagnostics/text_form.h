#pragma once

#include <string>

#include "convlab/diagnostics/finding.h"
#include "convlab/diagnostics/source_lines.h"

namespace convlab {

struct TextStyle {
  bool color = false;    ///< ANSI escape sequences
  int width = 100;       ///< columns; longer notes are wrapped and longer source lines cut, never below 40
  bool details = false;  ///< also prints the findings' details
};

/// Formats the finding for people, with the source lines of its labels (at most 4), in the style of rustc:
///
///     conv.cu:31:5: error: data race on shared memory 'tile'
///        |
///     31 |     tile[ty][tx] = in[(row + ty) * W + col + tx];
///        |     ^ thread (4,0,0) writes tile[0][4]
///     36 |     acc += tile[ty][tx + 1] * mask[q];
///        |            ^ thread (3,0,0) reads tile[0][4]; no barrier between
///        = kernel conv, block (0,0,2)
///        = help: add __syncthreads() between line 31 and line 36
///
/// The first line has GCC's format, which editors and CI recognize. Control characters of the source are not printed.
std::string text_form(Finding finding, SourceLines& lines, const TextStyle& style);

/// Returns "error:", colored if the style has color.
std::string severity_text(Severity severity, const TextStyle& style);

/// Wraps the text to lines of at most `width` columns, at blanks if possible.
std::vector<std::string> wrapped(std::string_view text, size_t width);

}  // namespace convlab
