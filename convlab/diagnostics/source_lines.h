#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/diagnostics/finding.h"

namespace convlab {

/// Reads the lines of source files that findings refer to, each file once.
class SourceLines {
 public:
  /// Sets the text of a file, which is then not read from disk.
  void add(const std::string& file, std::string_view text);

  /// A line's text, numbered from 1, without its newline; nullopt if the file cannot be read or ends before it.
  std::optional<std::string> line(const std::string& file, int number);

  /// Sets the unknown columns of the finding's labels: to the subject, otherwise to the first nonblank character. They
  /// stay unknown if there is no source line.
  void locate(Finding& finding);

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

/// The column of a name in a source line, counted from 1: the first one if it is assigned to, otherwise the last one
/// before a comment; 0 if the line does not have the name as a whole word.
int column_of(std::string_view line, std::string_view name, bool assigned);

}  // namespace convlab
