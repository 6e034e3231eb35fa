// Builds the host compiler's commands, and finds compilers.

#include "convlab/kernel_file/host_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "convlab/base/error.h"
#include "convlab/base/resources.h"
#include "convlab/base/text.h"

namespace convlab {
namespace fs = std::filesystem;
namespace {

/// Returns the program's path if it is executable, otherwise "". Searches PATH if the name has no folder.
std::string found_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path != nullptr ? path : "/usr/bin:/bin", ':')) {
    std::string candidate = fmt::format("{}/{}", folder.empty() ? "." : folder, name);
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> result = split(text, ' ');
  std::erase(result, "");
  return result;
}

/// unrolled() handles loops with a known trip count. Unrolling the remaining loops at run time would only add code.
constexpr const char* kNoRuntimeUnrolling = "-fdisable-rtl-loop2_unroll";
}  // namespace

fs::path header_root() {
  return find_resource("convlab/kernel_file/entry.h").parent_path().parent_path().parent_path();
}

std::string found_tool(const std::string& name) {
  const char* home = std::getenv("CUDA_HOME");
  for (const std::string& candidate : {name, fmt::format("{}/bin/{}", home != nullptr ? home : "/usr/local/cuda", name),
                                       "/usr/local/cuda/bin/" + name}) {
    if (std::string found = found_program(candidate); !found.empty()) return found;
  }
  return "";
}

fs::path portable_headers() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path() / "include";
  return fs::is_directory(folder, error) ? folder : fs::path();
}

HostCompiler host_compiler(const std::string& name) {
  std::vector<std::string> candidates{CONVLAB_HOST_COMPILER, "g++", "c++", "clang++"};
  if (!name.empty()) candidates = {name};
  for (const std::string& candidate : candidates) {
    std::string found = found_program(candidate);
    if (found.empty()) continue;
    std::error_code error;  // c++ may be a link to clang++
    const bool is_clang = fs::canonical(found, error).filename().string().find("clang") != std::string::npos;
    return {std::move(found), is_clang};
  }
  if (!name.empty()) throw unavailable("{}: there is no such compiler", name);
  throw unavailable("no C++ compiler found to compile kernel files; install g++");
}

/// Include guards of the CUDA toolkit's headers whose contents simt has itself. If a toolkit is installed, its other
/// headers (cufft.h) would include them. Programs also test some of these names: NVIDIA's helper_cuda.h does.
constexpr std::array<std::string_view, 14> kToolkitGuards{
    "__BUILTIN_TYPES_H__",    "__CHANNEL_DESCRIPTOR_H__", "__CUDA_BF16_H__",    "__CUDA_DEVICE_RUNTIME_API_H__",
    "__CUDA_FP16_H__",        "__CUDA_RUNTIME_API_H__",   "__CUDA_RUNTIME_H__", "__DEVICE_TYPES_H__",
    "__DRIVER_FUNCTIONS_H__", "__DRIVER_TYPES_H__",       "__HOST_DEFINES_H__", "__SURFACE_TYPES_H__",
    "__TEXTURE_TYPES_H__",    "__VECTOR_TYPES_H__"};

std::vector<std::string> host_command(bool own, Toolchain toolchain, const fs::path& root,
                                      const HostCompiler& compiler) {
  std::vector<std::string> command{compiler.path,
                                   "-fPIC",
                                   "-fno-semantic-interposition",
                                   "-I",
                                   root.string(),
                                   "-I",
                                   (root / "convlab/kernel_file/include").string()};
  const auto add = [&](std::vector<std::string> more) { command.insert(command.end(), more.begin(), more.end()); };
  if (const fs::path portable = portable_headers(); own && !portable.empty()) add({"-I", portable.string()});
  if (toolchain == Toolchain::simt) {
    add({"-std=gnu++20", "-DCONVLAB_SIMT", "-isystem", (root / "convlab/kernel_file/simt_include").string()});
    for (const std::string_view guard : kToolkitGuards) command.push_back(fmt::format("-D{}=", guard));
  } else {
    add({own ? "-std=gnu++20" : "-std=gnu++17", "-fopenmp"});
  }
  return command;
}

std::vector<std::string> simt_flags(bool own, Instrumentation seen, const HostCompiler& compiler) {
  std::vector<std::string> flags = words(compiler.is_clang ? CONVLAB_SIMT_FLAGS_OF_CLANG : CONVLAB_SIMT_FLAGS_OF_GNU);
  const auto add = [&](std::vector<std::string> more) { flags.insert(flags.end(), more.begin(), more.end()); };
  if (!seen.accesses) add({"-fno-sanitize=thread", "-DCONVLAB_SIMT_UNCHECKED"});
  if (!seen.bounds) add({"-fno-sanitize=bounds"});
  if (!seen.alignment) add({"-fno-sanitize=alignment"});
  // trace-pc makes each basic block report its start. Bounds and alignment checks would split basic blocks that are
  // whole on a GPU, and SRA would split vector loads.
  if (seen.counted) {
    add({"-fsanitize-coverage=trace-pc", "-fno-sanitize=bounds,alignment"});
    if (!compiler.is_clang) add({"-fno-tree-sra", kNoRuntimeUnrolling});
  }
  // clang has hooks for these. g++ would inline them as accesses without hooks; as calls, they reach the wrapped
  // functions.
  if (!compiler.is_clang) {
    add({"-fno-builtin-memcpy", "-fno-builtin-memmove", "-fno-builtin-memset", "-fno-builtin-malloc",
         "-fno-builtin-free"});
  }
  if (!own) add({"-w"});
  if (!own && !compiler.is_clang) add({"-fpermissive"});
  return flags;
}

std::vector<std::string> simt_link_flags() {
  return {"-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free",
          "-Wl,--wrap=_Znwm,--wrap=_Znam,--wrap=_ZdlPv,--wrap=_ZdaPv,--wrap=_ZdlPvm,--wrap=_ZdaPvm",
          "-Wl,--wrap=__cxa_allocate_exception,--wrap=__assert_fail,--wrap=printf,--wrap=__printf_chk,--wrap=clock",
          "-Wl,--wrap=modf,--wrap=modff,--wrap=frexp,--wrap=frexpf",
          "-Wl,--wrap=remquo,--wrap=remquof,--wrap=sincos,--wrap=sincosf"};
}

fs::path first_header(const fs::path& root) { return root / "convlab/simt/cuda/copies.h"; }

}  // namespace convlab
