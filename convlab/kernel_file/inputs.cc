// Fingerprints everything that a compilation depends on: headers and the compiler.

#include "convlab/kernel_file/inputs.h"

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <set>
#include <system_error>

#include "convlab/base/file.h"
#include "convlab/kernel_file/tokens.h"

namespace convlab {
namespace fs = std::filesystem;
namespace {

constexpr int64_t kMostHeaderBytes = 4 << 20;

struct Headers {
  std::set<fs::path> seen;
  std::vector<fs::path> in_order;
};

/// Adds the headers that the text includes. Calls `each` with the text of each new one.
void find_headers(std::string_view text, const std::vector<fs::path>& folders, Headers& headers,
                  const std::function<void(std::string_view)>& each) {
  for (const Token& token : tokens_of(text)) {
    if (token.kind != Token::Kind::directive) continue;
    const std::optional<std::string_view> name = included_header(token.text);
    if (!name) continue;
    for (const fs::path& folder : folders) {
      const fs::path path = (folder / *name).lexically_normal();
      std::error_code error;
      if (!fs::is_regular_file(path, error)) continue;
      if (!headers.seen.insert(path).second) break;
      headers.in_order.push_back(path);
      const std::vector<uint8_t> bytes = read_file(path, kMostHeaderBytes);
      const std::string_view header{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
      each(header);
      std::vector<fs::path> within{path.parent_path()};
      within.insert(within.end(), folders.begin() + 1, folders.end());
      find_headers(header, within, headers, each);
      break;
    }
  }
}

}  // namespace

void add_headers(std::string_view text, const std::vector<fs::path>& folders, Fingerprint& fingerprint) {
  Headers headers;
  find_headers(text, folders, headers, [&](std::string_view header) { fingerprint.add(header); });
}

std::vector<fs::path> included_headers(std::string_view text, const std::vector<fs::path>& folders) {
  Headers headers;
  find_headers(text, folders, headers, [](std::string_view) {});
  return headers.in_order;
}

void add_command(const std::vector<std::string>& command, Fingerprint& fingerprint) {
  for (const std::string& word : command) fingerprint.add(word);
  std::error_code error;
  fingerprint.add(fmt::format("{} {}", fs::file_size(command.front(), error),
                              fs::last_write_time(command.front(), error).time_since_epoch().count()));
}

}  // namespace convlab
