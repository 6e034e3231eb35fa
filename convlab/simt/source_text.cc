// Reads the sources of kernels, for names and dimensions that the program's symbols do not have.

#include "convlab/simt/source_text.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <numeric>

#include "convlab/base/error.h"
#include "convlab/base/resources.h"
#include "convlab/diagnostics/source_lines.h"

namespace convlab::simt::internal {

std::filesystem::path source_file(const std::filesystem::path& path) try {
  if (path.is_absolute()) return path;
  const auto named = std::ranges::find_if(path, [](const std::filesystem::path& part) { return part != ".."; });
  return find_resource(std::accumulate(named, path.end(), std::filesystem::path(), std::divides<>()));
} catch (const Error&) {
  return {};
}

std::string source_text(const std::filesystem::path& path) {
  std::ifstream file(source_file(path));
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string source_line(const std::filesystem::path& path, int line) {
  return SourceLines().line(source_file(path).string(), line).value_or("");
}

}  // namespace convlab::simt::internal
