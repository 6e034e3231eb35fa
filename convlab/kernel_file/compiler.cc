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
#include "convlab/base/fingerprint.h"
#include "convlab/base/process.h"
#include "convlab/base/resources.h"
#include "convlab/base/symbol.h"
#include "convlab/base/text.h"
#include "convlab/kernel_file/cache.h"
#include "convlab/kernel_file/tokens.h"
#include "convlab/kernel_file/unrolled.h"

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
  if (std::string found = found_tool("nvcc"); !found.empty()) return found;
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

/// unrolled() is about loops whose rounds the compiler can count; others would only grow.
constexpr const char* kNoRuntimeUnrolling = "-fdisable-rtl-loop2_unroll";

/// The command, without the names of its input and output.
std::vector<std::string> command_of(const KernelSource& source, Toolchain toolchain, const CompileOptions& options,
                                    const fs::path& root) {
  const bool own = source.kind == FileKind::own;
  const fs::path folder = fs::absolute(source.path).parent_path();
  const fs::path portable = portable_headers();
  std::vector<std::string> command;
  const auto add = [&](std::vector<std::string> more) { command.insert(command.end(), more.begin(), more.end()); };
  const auto define = [&] {
    for (const std::string& definition : options.definitions) command.push_back("-D" + definition);
  };
  if (toolchain == Toolchain::nvcc) {
    // 9.0 has instructions of its own, which only code for it alone may use.
    const int capability = options.compute_capability;
    add({nvcc(), "-lineinfo", "-O3", own ? "-std=c++20" : "-std=c++17",
         fmt::format("-arch=sm_{}{}", capability, capability == 90 ? "a" : ""), "--expt-relaxed-constexpr",
         "-Wno-deprecated-gpu-targets", "-DFMT_USE_CONSTEXPR=1", "-I", folder.string(), "-I", root.string(), "-I",
         (root / "convlab/kernel_file/include").string()});
    if (options.output == CompilerOutput::library) {
      add({"-shared", "-Xcompiler", "-fPIC", "-cudart", "static", "-Xlinker", "--exclude-libs,ALL"});
      add({"-Xlinker", "-Bsymbolic"});  // its templates are not the program's of the same name
      if (source.text.find("cublas") != std::string::npos) add({"-lcublas"});
    } else {
      add({"-cubin"});
      if (options.output == CompilerOutput::registers) add({"-Xptxas", "-v"});
    }
    if (own && !portable.empty()) add({"-I", portable.string()});
    if (!own) add({"-Xcompiler", "-w", "-w", "-Xcompiler", "-fpermissive"});
    define();
    return command;
  }
  add({host_compiler(), "-shared", "-fPIC", "-I", root.string(), "-I", (root / "convlab/kernel_file/include").string(),
       "-iquote", folder.string()});
  if (own && !portable.empty()) add({"-I", portable.string()});
  if (toolchain == Toolchain::simt) {
    add({"-std=gnu++20", "-DCONVLAB_SIMT", "-isystem", (root / "convlab/kernel_file/simt_include").string()});
    add(words(CONVLAB_SIMT_FLAGS));
    // Each basic block tells that it begins. Checks of bounds and alignment would cut blocks up that a GPU has whole.
    // Vectors are loaded whole, as they are written.
    if (options.counted) {
      add({"-fsanitize-coverage=trace-pc", "-fno-sanitize=bounds,alignment", "-fno-tree-sra"});
#ifndef __clang__
      add({kNoRuntimeUnrolling});
#endif
    }
    // Without the thread sanitizer's own library, in whose place simt stands.
    add({"-Wl,--wrap=__cxa_allocate_exception,--wrap=__assert_fail,--wrap=printf,--wrap=__printf_chk,-Bsymbolic",
         "-nodefaultlibs", "-lstdc++", "-lm", "-lgcc_s", "-lc"});
  } else {
    add({own ? "-std=gnu++20" : "-std=gnu++17", "-O3", "-march=native", "-fopenmp", "-g1"});
  }
  if (!own) add({"-w", "-fpermissive"});
  define();
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
  std::erase_if(lines, [&](const std::string& line) {
    const bool of_option = line.find("note: disable pass") != std::string::npos;  // of kNoRuntimeUnrolling
    return line.empty() || of_option || line.find(unit) != std::string::npos;
  });
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

std::string found_tool(const std::string& name) {
  const char* home = std::getenv("CUDA_HOME");
  for (const std::string& candidate : {name, fmt::format("{}/bin/{}", home != nullptr ? home : "/usr/local/cuda", name),
                                       "/usr/local/cuda/bin/" + name}) {
    if (std::string found = found_program(candidate); !found.empty()) return found;
  }
  return "";
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
    ProcessRun run;
    if (options.counted) {
      CompilerCommand preprocess = command;
      preprocess.words.push_back("-E");
      run = runner(preprocess);
      if (run.status == 0) write_file(command.text, unrolled(read_text(made)));
    }
    if (run.status <= 0) run = runner(command);
    std::error_code error;
    fs::remove(command.text, error);
    if (run.status == 0) return run;
    fs::remove(made, error);
    complain(source, command, run);
  };
  if (!options.folder.empty()) {
    const fs::path made = options.folder / (options.output != CompilerOutput::library ? "kernels.cubin"
                                            : options.counted                         ? "counted.so"
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
  if (options.output == CompilerOutput::registers) write_file(made, run.complaint + run.output);
  fs::rename(made, library, error);
  if (error) throw unavailable("{}: cannot be put into the cache: {}", library.string(), error.message());
  cache.shrink(kMostCacheBytes);
  return {.library = library, .seconds = run.elapsed_s, .complaints = run.complaint + run.output};
}

std::map<std::string, int> registers_in(std::string_view words_of_ptxas) {
  constexpr std::string_view kEntry = "Compiling entry function '", kUsed = "Used ";
  std::map<std::string, int> registers;
  std::string kernel;
  for (const std::string& line : split(words_of_ptxas, '\n')) {
    if (const size_t at = line.find(kEntry); at != std::string::npos) {
      const std::string name = line.substr(at + kEntry.size());
      kernel = short_symbol(name.substr(0, name.find('\'')));
    } else if (const size_t used = line.find(kUsed); used != std::string::npos && !kernel.empty()) {
      int& most = registers[kernel];
      most = std::max(most, std::atoi(line.c_str() + used + kUsed.size()));
    }
  }
  return registers;
}

std::map<std::string, int> registers_of(const KernelSource& source, int compute_capability) {
  const CompiledFile made = compile_kernel_file(
      source, Toolchain::nvcc, {.compute_capability = compute_capability, .output = CompilerOutput::registers});
  return registers_in(read_text(made.library));
}

}  // namespace convlab
