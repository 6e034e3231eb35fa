// Precompiles the headers of simt kernel files, so that g++ does not parse them for each file.

#include "convlab/kernel_file/precompiled.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/fingerprint.h"
#include "convlab/base/process.h"
#include "convlab/kernel_file/calls.h"
#include "convlab/kernel_file/host_command.h"
#include "convlab/kernel_file/inputs.h"

namespace convlab {
namespace fs = std::filesystem;
namespace {

/// Headers that every kernel file of kind own includes.
constexpr const char* kOwnHeaders =
    "#include \"convlab/device/cuda_compat.h\"\n#include \"convlab/kernels/registry.h\"\n";

constexpr size_t kMostKept = 6;
constexpr double kLimitS = 60;
constexpr const char *kHeader = "first.h", *kPrecompiled = "first.h.gch";

/// Writes and compiles the header in `place`, then renames `place` to `folder`. Returns whether the result exists.
bool make(const fs::path& folder, const fs::path& place, const std::string& text, std::vector<std::string> command) {
  std::error_code error;
  fs::create_directories(place, error);
  write_file(place / kHeader, text);
  command.insert(command.end(),
                 {"-x", "c++-header", (place / kHeader).string(), "-o", (place / kPrecompiled).string()});
  const bool made = run_process(command.front(), command, kLimitS).status == 0;
  if (made) {
    fs::create_directories(folder.parent_path(), error);
    // A cache cleaner may have left an incomplete folder.
    if (!fs::exists(folder / kPrecompiled, error)) fs::remove_all(folder, error);
    fs::rename(place, folder, error);  // fails if another process was faster
  }
  fs::remove_all(place, error);
  return made && fs::exists(folder / kPrecompiled, error);
}

/// Removes all but the kMostKept most recently used folders.
void keep_newest(const fs::path& folders) {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> all;
  for (const fs::directory_entry& each : fs::directory_iterator(folders, error)) {
    all.emplace_back(each.last_write_time(error), each.path());
  }
  std::ranges::sort(all, std::greater());
  for (size_t i = kMostKept; i < all.size(); ++i) fs::remove_all(all[i].second, error);
}

}  // namespace

fs::path precompiled_headers(FileKind kind, const std::vector<std::string>& command, const fs::path& first,
                             const fs::path& root, const Cache& cache) try {
  const std::string text = fmt::format("#include \"{}\"\n{}", first.string(),
                                       kind == FileKind::own ? kOwnHeaders : headers_before(kind, true));
  Fingerprint key;
  add_command(command, key);
  key.add(text);
  const fs::path own = root / "convlab/kernel_file";
  add_headers(text, {first.parent_path(), root, own / "include", own / "simt_include"}, key);
  const fs::path folders = cache.path_of("headers"), folder = folders / key.hex();
  std::error_code error;
  if (fs::exists(folder / kPrecompiled, error)) {
    fs::last_write_time(folder, fs::file_time_type::clock::now(), error);
    return folder / kHeader;
  }
  if (!make(folder, cache.place_for("headers"), text, command)) return {};
  keep_newest(folders);
  return folder / kHeader;
} catch (const Error&) {
  return {};  // the file compiles without it, only more slowly
}

fs::path precompiled_headers(FileKind kind, const fs::path& root, const Cache& cache, Instrumentation seen,
                             const HostCompiler& compiler) {
  // clang++'s precompiled headers name the folder in which they were made.
  if (cache.is_temporary() || compiler.is_clang) return {};
  const bool own = kind == FileKind::own;
  std::vector<std::string> command = host_command(own, Toolchain::simt, root, compiler);
  for (std::string& flag : simt_flags(own, seen, compiler)) command.push_back(std::move(flag));
  return precompiled_headers(kind, command, first_header(root), root, cache);
}

}  // namespace convlab
