// Parses compiler output into findings.

#include "convlab/diagnostics/compiler_output.h"

#include <optional>
#include <regex>

#include "convlab/base/text.h"

namespace convlab {
namespace {

constexpr size_t kMostText = 300;

struct Message {
  SourcePlace place;
  std::string severity, text;
};

std::optional<Message> message_of(const std::string& line) {
  // The formats of GCC and clang, and of nvcc with an optional number: "conv.cu(31): error #20: ...".
  static const std::regex kGcc(R"(^([^\s:][^:]*):(\d+):(?:(\d+):)? (?:fatal )?(error|warning|note): (.*)$)");
  static const std::regex kNvcc(R"(^([^\s(][^(]*)\((\d+)\): (?:catastrophic )?(error|warning)(?: #[\w-]+)?: (.*)$)");
  std::smatch match;
  const auto number = [&](size_t group) { return match[group].matched ? std::atoi(match[group].str().c_str()) : 0; };
  if (std::regex_match(line, match, kGcc)) return Message{{match[1], number(2), number(3)}, match[4], match[5]};
  if (std::regex_match(line, match, kNvcc)) return Message{{match[1], number(2), 0}, match[3], match[4]};
  return std::nullopt;
}

}  // namespace

std::vector<Finding> findings_in(std::string_view compiler_output) {
  constexpr size_t kMostLine = 2000;  // templates can have names of megabytes
  std::vector<Finding> findings;
  for (const std::string& line : split(compiler_output, '\n')) {
    const std::optional<Message> message = message_of(line.substr(0, kMostLine));
    if (!message) continue;
    const std::string text = printable(message->text, kMostText);
    if (message->severity == "note") {
      if (!findings.empty()) findings.back().labels.push_back({.place = message->place, .text = text});
      continue;
    }
    const bool is_error = message->severity == "error";
    findings.push_back({.severity = is_error ? Severity::error : Severity::warning,
                        .kind = std::string(is_error ? kCompileError : kCompilerWarning),
                        .text = text,
                        .labels = {{.place = message->place}}});
  }
  return findings;
}

}  // namespace convlab
