// Finds the asm statements that the compiler's errors about inline PTX are caused by.

#include "convlab/kernel_file/ptx_errors.h"

#include <fmt/format.h>

#include <regex>
#include <string_view>
#include <vector>

#include "convlab/base/text.h"

namespace convlab {
namespace {

constexpr std::string_view kPtxHeader = "convlab/simt/ptx/inline_ptx.h:";

/// Returns "file.cu:7" of a line that says what led to the next error, without its column in the translated text; ""
/// for other lines.
std::string place_in(const std::string& line) {
  static const std::regex kInlined(R"(^\s+inlined from .* at (\S+:\d+):\d+[:,]$)");
  static const std::regex kRequired(R"(^(\S+:\d+):\d+:\s+required from .*$)");
  std::smatch match;
  const bool found = std::regex_match(line, match, kInlined) || std::regex_match(line, match, kRequired);
  return found && match[1].str().find(kPtxHeader) == std::string::npos ? match[1].str() : "";
}

/// Returns what is wrong, in the words of the header: "the PTX instruction wgmma.fence is not supported".
std::string text_of(const std::string& error) {
  static const std::regex kInstruction(R"re(unknown_instruction<.*\{"([^"]*)"\}>)re");
  std::smatch match;
  if (std::regex_search(error, match, kInstruction)) {
    return fmt::format("simt does not know the PTX instruction '{}'; docs/reference/ptx.md lists those that it knows",
                       match[1].str());
  }
  constexpr std::string_view kAssertion = "static assertion failed: ";
  const size_t at = error.find(kAssertion);
  return at == std::string::npos ? error : error.substr(at + kAssertion.size());
}

}  // namespace

std::string with_places_of_asm_statements(const std::string& complaint) {
  if (complaint.find(kPtxHeader) == std::string::npos) return complaint;
  static const std::regex kMessage(R"(^\S+:\d+:\d+: (error|note): (.*)$)");
  constexpr size_t kMostLine = 20000;
  std::string result, place;
  for (const std::string& line : split(complaint, '\n')) {
    std::smatch match;
    const bool is_of_header = line.find(kPtxHeader) != std::string::npos && line.size() < kMostLine;
    if (const std::string here = line.size() < kMostLine ? place_in(line) : ""; !here.empty() && place.empty()) {
      place = here;
    }
    if (is_of_header && std::regex_match(line, match, kMessage)) {
      if (match[1] == "note") continue;
      if (!place.empty()) {
        result += fmt::format("{}: error: {}\n", place, text_of(match[2]));
        place.clear();
        continue;
      }
    }
    result += line + "\n";
  }
  return result;
}

}  // namespace convlab
