#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convlab/base/error.h"

namespace convlab {

enum class Severity : uint8_t { error, warning, note };

/// "error", "warning", "note".
std::string_view name_of(Severity severity);

/// A position in a source file.
struct SourcePlace {
  std::string file;  ///< path; "" if unknown
  int line = 0;      ///< from 1; 0 if unknown
  int column = 0;    ///< from 1, in bytes; 0 if unknown

  bool operator==(const SourcePlace&) const = default;
};

/// Parses "conv.cu:31" and "conv.cu:31:5"; any other text becomes a place without a line.
SourcePlace parse_place(std::string_view text);

/// "conv.cu:31:5", without what is unknown.
std::string to_text(const SourcePlace& place);

/// "conv.cu:31": without folders and column.
std::string short_text(const SourcePlace& place);

/// One side of a finding: what happened at a source line.
struct Label {
  SourcePlace place = {};
  std::string text;          ///< "thread (4,0,0) writes tile[0][4]"
  std::string thread = {};   ///< "(4,0,0)"; "" if no thread did it
  std::string subject = {};  ///< the name in the line that the caret points to: "tile"; "" for the whole line
  bool writes_it = false;    ///< the subject is assigned to, which matters if the line names it twice
};

/// One problem, as a program reports it to its user: the shape follows the diagnostics of GCC and rustc.
struct Finding {
  Severity severity = Severity::error;
  std::string kind;                       ///< the class of the finding: "race on shared memory"
  std::string text;                       ///< headline, at most 100 columns: "data race on shared memory 'tile'"
  std::string kernel = {};                ///< "tile_kernel<16>"; "" if it is not in a kernel
  std::string block = {};                 ///< "(0,0,2)"
  std::string array = {};                 ///< "tile"; "" if it is not about an array, or the array has no name
  std::vector<Label> labels = {};         ///< the first one is where the finding is
  std::vector<std::string> notes = {};    ///< "in 3 of 24 shapes"
  std::vector<std::string> details = {};  ///< more notes, which the text form shows only if asked
  std::string help = {};                  ///< what to do; "" if that is unknown
  int64_t count = 1;                      ///< how often it was found
};

/// Where the finding is.
SourcePlace place_of(const Finding& finding);

/// Whether both report the same cause: equal kinds at equal lines, or, without lines, texts that differ in numbers
/// only.
bool same_cause(const Finding& a, const Finding& b);

/// The notes and, if asked, the details, preceded by the kernel and its block, separated by semicolons.
std::string remarks(const Finding& finding, bool with_details);

/// Returns one finding per cause, with the sum of their counts: the first one with the most frequent help.
std::vector<Finding> merged(std::vector<Finding> findings);

/// Returns the headline with the text of each label: "data race on shared memory 'tile': thread (4,0,0) writes
/// tile[0][4]; thread (3,0,0) reads tile[0][4] at conv.cu:36". `write_place` formats places such as "conv.cu:36".
std::string with_labels(const Finding& finding, std::string (*write_place)(const SourcePlace&));

/// "data race on shared memory 'tile': thread (4,0,0) writes tile[0][4]; thread (3,0,0) reads tile[0][4] at conv.cu:36
/// (kernel conv, block (0,0,2)), at conv.cu:31": for logs and other single-line output. With details, without the help.
std::string in_one_line(const Finding& finding);

/// in_one_line(), followed by "; help: ..." if there is one: a whole message.
std::string message_of(const Finding& finding);

/// Returns the finding as JSON, with all members of the struct under their names.
nlohmann::ordered_json to_json(const Finding& finding);

/// Reads a finding from JSON. Throws Error(bad_input) if a member is missing or of another type.
Finding finding_of(const nlohmann::ordered_json& json);

/// An error with findings. Its message is that of its only finding, or a separate one.
class FindingError : public Error {
 public:
  FindingError(ErrorKind kind, const Finding& finding) : Error(kind, message_of(finding)), findings_{finding} {}
  FindingError(ErrorKind kind, const std::string& message, std::vector<Finding> findings)
      : Error(kind, message), findings_(std::move(findings)) {}

  const std::vector<Finding>& findings() const { return findings_; }

 private:
  std::vector<Finding> findings_;
};

/// The findings of an error, or one with its message, each at `file`: for what fails while a file without lines is
/// read, such as a model.
std::vector<Finding> findings_in(std::string_view file, const Error& error);

/// The error as one of `file`: its message is preceded by the file's name, and its findings are findings_in() the file.
FindingError in_file(std::string_view file, const Error& error);

}  // namespace convlab
