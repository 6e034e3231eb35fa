#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convlab/kernel_file/tokens.h"

namespace convlab {

/// A replacement of a part of the source.
struct Rewrite {
  std::string_view part;  ///< empty: an insertion before it
  std::string by;
};

/// Replacements in a text, in any order. They must not overlap.
class Edits {
 public:
  explicit Edits(std::string_view text) : text_(text) {}

  void replace(std::string_view part, std::string by) { rewrites_.push_back({part, std::move(by)}); }
  void insert_before(std::string_view part, std::string what) { replace(part.substr(0, 0), std::move(what)); }
  void add(std::vector<Rewrite> rewrites);

  std::string apply();

 private:
  std::string_view text_;
  std::vector<Rewrite> rewrites_;
};

/// Returns as many newlines as the text has, so that the lines after it keep their numbers. Those of a macro's body
/// stay behind a backslash.
std::string line_ends(std::string_view text);

/// Returns the text from one token through another.
std::string_view text_from(const Token& first, const Token& last);

}  // namespace convlab
