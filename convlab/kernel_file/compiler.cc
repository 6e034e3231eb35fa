#include "convlab/kernel_file/compiler.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/process.h"
#include "convlab/base/resources.h"
#include "convlab/base/text.h"
#include "convlab/kernel_file/cache.h"
#include "convlab/kernel_file/tokens.h"

namespace convlab {
namespace fs = std::filesystem;
namespace {

constexpr uintmax_t kMostCacheBytes = uintmax_t{512} << 20;
constexpr int64_t kMostHeaderBytes = 4 << 20;

/// The folder beside a portable binary with other projects' headers that convlab's own read; "" if there is none.
fs::path portable_headers() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path() / "include";
  return fs::is_directory(folder, error) ? folder : fs::path();
}

/// The program's path if it can be run; "" if it cannot. Without a folder in its name we look in PATH.
std::string found_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path != nullptr ? path : "/usr/bin:/bin", ':')) {
    const std::string candidate = fmt::format("{}/{}", folder.empty() ? "." : folder, name);
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

std::string nvcc() {
  const char* home = std::getenv("CUDA_HOME");
  for (const std::string& candidate :
       {std::string("nvcc"), fmt::format("{}/bin/nvcc", home != nullptr ? home : "/usr/local/cuda"),
        std::string("/usr/local/cuda/bin/nvcc")}) {
    if (std::string found = found_program(candidate); !found.empty()) return found;
  }
  throw unavailable(
      "there is no nvcc to compile kernel files for a GPU: neither in PATH nor in /usr/local/cuda/bin; install CUDA's "
      "toolkit, or give --device simt");
}

std::string host_compiler() {
  for (const char* candidate : {CONVLAB_HOST_COMPILER, "g++", "c++"}) {
    if (std::string found = found_program(candidate); !found.empty()) return found;
  }
  throw unavailable("there is no C++ compiler to compile kernel files: install g++");
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> result = split(text, ' ');
  std::erase(result, "");
  return result;
}

/// The command, without the names of its input and output.
std::vector<std::string> command_of(const KernelSource& source, Toolchain toolchain, const CompileOptions& options,
                                    const fs::path& root) {
  const bool own = source.kind == FileKind::own;
  const fs::path folder = fs::absolute(source.path).parent_path();
  const fs::path portable = portable_headers();
  std::vector<std::string> command;
  const auto add = [&](std::vector<std::string> more) { command.insert(command.end(), more.begin(), more.end()); };
  if (toolchain == Toolchain::nvcc) {
    // 9.0 has instructions of its own, which only code for it alone may use.
    const int capability = options.compute_capability;
    add({nvcc(), "-lineinfo"});
    if (options.cubin) {
      add({"-cubin"});
    } else {
      add({"-shared", "-Xcompiler", "-fPIC", "-cudart", "static", "-Xlinker", "--exclude-libs,ALL", "-Xlinker",
           "-Bsymbolic"});  // its templates are not the program's of the same name
    }
    add({"-O3", own ? "-std=c++20" : "-std=c++17",
         fmt::format("-arch=sm_{}{}", capability, capability == 90 ? "a" : ""), "--expt-relaxed-constexpr",
         "-Wno-deprecated-gpu-targets", "-DFMT_USE_CONSTEXPR=1", "-I", folder.string(), "-I", root.string(), "-I",
         (root / "convlab/kernel_file/include").string()});
    if (source.text.find("cublas") != std::string::npos && !options.cubin) add({"-lcublas"});
    if (own && !portable.empty()) add({"-I", portable.string()});
    if (!own) add({"-Xcompiler", "-w", "-w", "-Xcompiler", "-fpermissive"});
    return command;
  }
  add({host_compiler(), "-shared", "-fPIC", "-I", root.string(), "-I", (root / "convlab/kernel_file/include").string(),
       "-iquote", folder.string()});
  if (own && !portable.empty()) add({"-I", portable.string()});
  if (toolchain == Toolchain::simt) {
    add({"-std=gnu++20", "-DCONVLAB_SIMT", "-isystem", (root / "convlab/kernel_file/simt_include").string()});
    add(words(CONVLAB_SIMT_FLAGS));
    // Each basic block tells that it begins. Checks of an array's bounds would cut blocks up that a GPU has whole. Vectors
    // are loaded whole, as they are written.
    if (options.counted) add({"-fsanitize-coverage=trace-pc", "-fno-sanitize=bounds", "-fno-tree-sra"});
    // Without the thread sanitizer's own library, in whose place simt stands.
    add({"-Wl,--wrap=__cxa_allocate_exception,-Bsymbolic", "-nodefaultlibs", "-lstdc++", "-lm", "-lgcc_s", "-lc"});
  } else {
    add({own ? "-std=gnu++20" : "-std=gnu++17", "-O3", "-march=native", "-fopenmp", "-g1"});
  }
  if (!own) add({"-w", "-fpermissive"});
  return command;
}

/// Adds the headers that the text includes and that we find: convlab's, and those beside the file.
void add_headers(std::string_view text, const std::vector<fs::path>& folders, std::set<fs::path>& seen,
                 Fingerprint& fingerprint) {
  for (const Token& token : tokens_of(text)) {
    if (token.kind != Token::Kind::directive) continue;
    const std::optional<std::string_view> name = included_header(token.text);
    if (!name) continue;
    for (const fs::path& folder : folders) {
      const fs::path path = folder / *name;
      std::error_code error;
      if (!fs::is_regular_file(path, error)) continue;
      if (!seen.insert(path.lexically_normal()).second) break;
      const std::vector<uint8_t> bytes = read_file(path, kMostHeaderBytes);
      const std::string_view header{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
      fingerprint.add(header);
      std::vector<fs::path> within{path.parent_path()};
      within.insert(within.end(), folders.begin() + 1, folders.end());
      add_headers(header, within, seen, fingerprint);
      break;
    }
  }
}

std::string fingerprint_of(const KernelSource& source, const std::string& unit, const std::vector<std::string>& command,
                           const fs::path& root) {
  Fingerprint fingerprint;
  fingerprint.add(unit);
  for (const std::string& word : command) fingerprint.add(word);
  std::error_code error;
  fingerprint.add(fmt::format("{} {}", fs::file_size(command.front(), error),
                              fs::last_write_time(command.front(), error).time_since_epoch().count()));
  std::set<fs::path> seen;
  const fs::path own = root / "convlab/kernel_file";
  add_headers(unit, {fs::absolute(source.path).parent_path(), root, own / "include", own / "simt_include"}, seen,
              fingerprint);
  return fingerprint.hex();
}

/// The compiler's lines, without those that name only `unit`, which the user does not know, and not without end.
std::string shown(const std::string& complaint, const std::string& unit) {
  constexpr size_t kMostLines = 40;
  std::vector<std::string> lines = split(complaint, '\n');
  std::erase_if(lines, [&](const std::string& line) { return line.empty() || line.find(unit) != std::string::npos; });
  std::string text;
  for (size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) text += "\n  " + printable(lines[i]);
  if (lines.size() > kMostLines) text += fmt::format("\n  and {} lines more", lines.size() - kMostLines);
  return text;
}

struct Hint {
  std::string_view when, what;
};

/// What convlab knows better than the compiler.
constexpr std::array kHints{
    Hint{"No such file or directory",
         "the file includes what is not there: give convlab the folder's other files, too, or leave the include out"},
    Hint{"clockRate", "CUDA 13 has taken this member out of cudaDeviceProp: ask cudaDeviceGetAttribute()"},
    Hint{"deviceOverlap", "CUDA 13 has taken this member out of cudaDeviceProp: ask cudaDeviceGetAttribute()"},
    Hint{"No space left on device", "the cache's disk is full: set CONVLAB_CACHE to another folder"},
    Hint{"was not declared in this scope",
         "convlab compiles this file alone: what other files of its project declare is not there"},
};

std::string hint_for(const std::string& complaint) {
  for (const Hint& hint : kHints) {
    if (complaint.find(hint.when) != std::string::npos) return fmt::format("\n  ({})", hint.what);
  }
  return "";
}

/// The message of a compiler that has failed.
[[noreturn]] void complain(const KernelSource& source, const CompilerCommand& command, const ProcessRun& run) {
  const std::string file = source.path.string(), program = command.words.front();
  const std::string complaint = run.complaint + run.output;
  if (run.out_of_time) throw bad_input("{}: {} was not done after {:g} s", file, program, command.limit_s);
  constexpr int kSignals = 128, kMostSignal = 64;  // nvcc's own exit status may be 255
  if (run.status > kSignals && run.status <= kSignals + kMostSignal) {
    throw bad_input("{}: {} crashed (signal {}):{}", file, program, run.status - kSignals,
                    shown(complaint, command.text.string()));
  }
  throw bad_input("{} does not compile:{}{}", file, shown(complaint, command.text.string()), hint_for(complaint));
}

ProcessRun run_plainly(const CompilerCommand& command) {
  return run_process(command.words.front(), command.words, command.limit_s);
}

}  // namespace

fs::path header_root() {
  return find_resource("convlab/kernel_file/entry.h").parent_path().parent_path().parent_path();
}

CompiledFile compile_kernel_file(const KernelSource& source, Toolchain toolchain, const CompileOptions& options) {
  const fs::path root = header_root();
  const std::string unit = compilation_unit(source, toolchain);
  CompilerCommand command{
      .words = command_of(source, toolchain, options, root), .shown = {root / "convlab"}, .limit_s = options.limit_s};
  if (const fs::path portable = portable_headers(); !portable.empty()) command.shown.push_back(portable);
  const CompilerRunner& runner = options.runner ? options.runner : run_plainly;
  const char* const suffix = toolchain == Toolchain::nvcc ? ".cu" : ".cc";
  const auto compile = [&](const fs::path& made) {
    command.made = made;
    command.text = made.string() + suffix;
    write_file(command.text, unit);
    // Libraries come after what needs them.
    command.words.insert(command.words.begin() + 1, {"-o", made.string(), command.text.string()});
    const ProcessRun run = runner(command);
    std::error_code error;
    fs::remove(command.text, error);
    if (run.status == 0) return run;
    fs::remove(made, error);
    complain(source, command, run);
  };
  if (!options.folder.empty()) {
    const fs::path made = options.folder / (options.cubin     ? "kernels.cubin"
                                            : options.counted ? "counted.so"
                                                              : "file.so");
    const ProcessRun run = compile(made);
    return {.library = made, .seconds = run.elapsed_s, .complaints = run.complaint + run.output};
  }

  static const Cache cache;  // a temporary one lasts as long as the program
  const std::string name = fingerprint_of(source, unit, command.words, root) + ".so";
  const fs::path library = cache.path_of(name);
  std::error_code error;
  if (fs::exists(library, error)) {
    fs::last_write_time(library, fs::file_time_type::clock::now(), error);
    return {.library = library};
  }
  const fs::path made = cache.place_for(name);
  const ProcessRun run = compile(made);
  fs::rename(made, library, error);
  if (error) throw unavailable("{}: cannot be put into the cache: {}", library.string(), error.message());
  cache.shrink(kMostCacheBytes);
  return {.library = library, .seconds = run.elapsed_s, .complaints = run.complaint + run.output};
}

}  // namespace convlab
