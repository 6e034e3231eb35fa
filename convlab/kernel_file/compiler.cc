// Compiles kernel files with nvcc or the host compiler, and caches the results.

#include "convlab/kernel_file/compiler.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <optional>
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
#include "convlab/diagnostics/compiler_output.h"
#include "convlab/diagnostics/source_lines.h"
#include "convlab/diagnostics/text_form.h"
#include "convlab/kernel_file/braces.h"
#include "convlab/kernel_file/cache.h"
#include "convlab/kernel_file/compile_help.h"
#include "convlab/kernel_file/inputs.h"
#include "convlab/kernel_file/kernel_binders.h"
#include "convlab/kernel_file/precompiled.h"
#include "convlab/kernel_file/unrolled.h"

namespace convlab {
namespace fs = std::filesystem;
namespace {

constexpr uintmax_t kMostCacheBytes = uintmax_t{512} << 20;
constexpr int64_t kMostPreprocessedBytes = 16 << 20;

/// Returns the folder next to a portable binary with the third-party headers that convlab's headers include; "" if
/// there is none.
fs::path portable_headers() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path() / "include";
  return fs::is_directory(folder, error) ? folder : fs::path();
}

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

std::string nvcc() {
  if (std::string found = found_tool("nvcc"); !found.empty()) return found;
  throw unavailable("nvcc not found in PATH or /usr/local/cuda/bin; install the CUDA toolkit, or use --device simt");
}

std::string host_compiler() {
  for (const char* candidate : {CONVLAB_HOST_COMPILER, "g++", "c++"}) {
    if (std::string found = found_program(candidate); !found.empty()) return found;
  }
  throw unavailable("no C++ compiler found to compile kernel files; install g++");
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> result = split(text, ' ');
  std::erase(result, "");
  return result;
}

/// unrolled() handles loops with a known trip count. Unrolling the remaining loops at run time would only add code.
constexpr const char* kNoRuntimeUnrolling = "-fdisable-rtl-loop2_unroll";
constexpr const char* kInclude = "-include";

/// Returns the host compiler's command with include folders and language options.
std::vector<std::string> host_command(bool own, Toolchain toolchain, const fs::path& root) {
  std::vector<std::string> command{host_compiler(), "-fPIC", "-I",
                                   root.string(),   "-I",    (root / "convlab/kernel_file/include").string()};
  const auto add = [&](std::vector<std::string> more) { command.insert(command.end(), more.begin(), more.end()); };
  if (const fs::path portable = portable_headers(); own && !portable.empty()) add({"-I", portable.string()});
  if (toolchain == Toolchain::simt) {
    add({"-std=gnu++20", "-DCONVLAB_SIMT", "-isystem", (root / "convlab/kernel_file/simt_include").string()});
  } else {
    add({own ? "-std=gnu++20" : "-std=gnu++17", "-fopenmp"});
  }
  return command;
}

/// Returns the flags that instrument a kernel file for simt.
std::vector<std::string> simt_flags(bool own, bool counted) {
  std::vector<std::string> flags = words(CONVLAB_SIMT_FLAGS);
  const auto add = [&](std::vector<std::string> more) { flags.insert(flags.end(), more.begin(), more.end()); };
  // trace-pc makes each basic block report its start. Bounds and alignment checks would split basic blocks that are
  // whole on a GPU, and SRA would split vector loads.
  if (counted) {
    add({"-fsanitize-coverage=trace-pc", "-fno-sanitize=bounds,alignment", "-fno-tree-sra"});
#ifndef __clang__
    add({kNoRuntimeUnrolling});
#endif
  }
#ifndef __clang__
  // clang has hooks for these. g++ would inline them as accesses without hooks; as calls, they reach the wrapped
  // functions.
  add({"-fno-builtin-memcpy", "-fno-builtin-memmove", "-fno-builtin-memset", "-fno-builtin-malloc",
       "-fno-builtin-free"});
#endif
  if (!own) add({"-w", "-fpermissive"});
  return flags;
}

/// The header that simt's kernel files include first.
fs::path first_header(const fs::path& root) { return root / "convlab/simt/cuda/copies.h"; }

/// Returns the compiler command, without the names of its input and output.
std::vector<std::string> command_of(const KernelSource& source, Toolchain toolchain, const CompileOptions& options,
                                    const fs::path& root) {
  const bool own = source.kind == FileKind::own;
  const fs::path folder = fs::absolute(source.path).parent_path();
  std::vector<std::string> command;
  const auto add = [&](std::vector<std::string> more) { command.insert(command.end(), more.begin(), more.end()); };
  const auto define = [&] {
    for (const std::string& definition : options.definitions) command.push_back("-D" + definition);
  };
  if (toolchain == Toolchain::nvcc) {
    // sm_90a, because 9.0 has architecture-specific instructions such as wgmma.
    const int capability = options.compute_capability;
    add({nvcc(), "-lineinfo", "-O3", own ? "-std=c++20" : "-std=c++17",
         fmt::format("-arch=sm_{}{}", capability, capability == 90 ? "a" : ""), "--expt-relaxed-constexpr",
         "-Wno-deprecated-gpu-targets", "-DFMT_USE_CONSTEXPR=1", "-I", folder.string(), "-I", root.string(), "-I",
         (root / "convlab/kernel_file/include").string()});
    if (options.output == CompilerOutput::library) {
      add({"-shared", "-Xcompiler", "-fPIC", "-cudart", "static", "-Xlinker", "--exclude-libs,ALL"});
      add({"-Xlinker", "-Bsymbolic"});  // its template instantiations must not bind to the program's
      if (source.text.find("cublas") != std::string::npos) add({"-lcublas"});
    } else {
      add({"-cubin"});
      if (options.output == CompilerOutput::registers) add({"-Xptxas", "-v"});
    }
    if (const fs::path portable = portable_headers(); own && !portable.empty()) add({"-I", portable.string()});
    if (!own) add({"-Xcompiler", "-w", "-w", "-Xcompiler", "-fpermissive"});
    define();
    return command;
  }
  add(host_command(own, toolchain, root));
  add({"-iquote", folder.string()});
  define();
  if (options.output == CompilerOutput::warnings) {
    // No simt instrumentation: it hides some of these warnings and causes others.
    add({"-c", "-O1", "-fpermissive", "-Wuninitialized", "-Wmaybe-uninitialized", "-Wreturn-type"});
    return command;
  }
  add({"-shared"});
  if (toolchain == Toolchain::cpu) {
    add({"-O3", "-march=native", "-g1"});
    if (!own) add({"-w", "-fpermissive"});
    return command;
  }
  add(simt_flags(own, options.counted));
#ifndef __clang__
  add({kInclude, first_header(root).string()});
#endif
  // In kernels these calls use the device heap: see convlab/simt/device_heap.h and hooks.cc. On the host, simt records
  // array sizes: see convlab/simt/host_arrays.h.
  add({"-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free",
       "-Wl,--wrap=_Znwm,--wrap=_Znam,--wrap=_ZdlPv,--wrap=_ZdaPv,--wrap=_ZdlPvm,--wrap=_ZdaPvm"});
  // No libtsan: simt implements the thread sanitizer's interface instead.
  add({"-Wl,--wrap=__cxa_allocate_exception,--wrap=__assert_fail,--wrap=printf,--wrap=__printf_chk,-Bsymbolic",
       "-nodefaultlibs", "-lstdc++", "-lm", "-lgcc_s", "-lc"});
  return command;
}

/// Replaces the first header that the command includes by its precompiled version. A counted file is compiled from
/// preprocessed text, which includes nothing.
void take_precompiled(CompilerCommand& command, FileKind kind, bool counted, const fs::path& root, const Cache& cache) {
  const auto include = std::ranges::find(command.words, kInclude);
  if (include == command.words.end() || counted || cache.is_temporary()) return;
  const bool own = kind == FileKind::own;
  std::vector<std::string> headers = host_command(own, Toolchain::simt, root);
  for (std::string& flag : simt_flags(own, counted)) headers.push_back(std::move(flag));
  const fs::path header = precompiled_headers(kind, headers, first_header(root), root, cache);
  if (header.empty()) return;
  *std::next(include) = header.string();
  command.shown.push_back(header.parent_path());
}

std::string fingerprint_of(const KernelSource& source, const std::string& unit, const std::vector<std::string>& command,
                           const fs::path& root) {
  Fingerprint fingerprint;
  fingerprint.add(unit);
  add_command(command, fingerprint);
  const fs::path own = root / "convlab/kernel_file";
  add_headers(unit, {fs::absolute(source.path).parent_path(), root, own / "include", own / "simt_include"},
              fingerprint);
  return fingerprint.hex();
}

/// Returns at most kMostLines of the compiler's lines, without those about the generated file `unit`, which the user
/// does not know.
std::string shown(const std::string& complaint, const std::string& unit) {
  constexpr size_t kMostLines = 40;
  std::vector<std::string> lines = split(complaint, '\n');
  std::erase_if(lines, [&](const std::string& line) {
    const bool of_option = line.find("note: disable pass") != std::string::npos;  // caused by kNoRuntimeUnrolling
    return line.empty() || of_option || line.find(unit) != std::string::npos;
  });
  std::string text;
  for (size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) text += "\n  " + printable(lines[i]);
  if (lines.size() > kMostLines) text += fmt::format("\n  and {} more lines", lines.size() - kMostLines);
  return text;
}

/// Throws the findings as the error of a file that does not compile.
[[noreturn]] void throw_findings(const KernelSource& source, std::vector<Finding> findings) {
  SourceLines lines;
  lines.add(source.path.string(), source.text);
  std::string text = fmt::format("{} does not compile:", source.path.string());
  for (const Finding& each : findings) text += "\n" + text_form(each, lines, {});
  throw FindingError(ErrorKind::bad_input, text.substr(0, text.find_last_not_of('\n') + 1), std::move(findings));
}

/// Returns the finding of an unbalanced brace and the compiler's errors before its line: later ones follow from it.
std::vector<Finding> with_cause(Finding brace, const std::vector<Finding>& errors) {
  const SourcePlace place = place_of(brace);
  std::vector<Finding> findings{std::move(brace)};
  std::ranges::copy_if(errors, std::back_inserter(findings), [&](const Finding& each) {
    return place_of(each).line < place.line && fs::absolute(place_of(each).file) == fs::absolute(place.file);
  });
  return findings;
}

/// Throws the error of a failed compilation.
[[noreturn]] void complain(const KernelSource& source, const CompilerCommand& command, const ProcessRun& run) {
  const std::string file = source.path.string(), program = command.words.front();
  const std::string complaint = without_binders(run.complaint + run.output);
  if (run.out_of_time) throw bad_input("{}: {} did not finish within {:g} s", file, program, command.limit_s);
  constexpr int kSignals = 128, kMostSignal = 64;  // nvcc's own exit status may be 255
  if (run.status > kSignals && run.status <= kSignals + kMostSignal) {
    throw bad_input("{}: {} crashed (signal {}):{}", file, program, run.status - kSignals,
                    shown(complaint, command.text.string()));
  }
  std::vector<Finding> findings = findings_in(complaint);
  std::erase_if(findings, [](const Finding& each) { return each.severity != Severity::error; });
  if (std::optional<Finding> brace = unbalanced_brace(source.text, file)) {
    throw_findings(source, with_cause(std::move(*brace), findings));
  }
  const std::string hint = help_for(source, complaint, findings);
  throw FindingError(ErrorKind::bad_input,
                     fmt::format("{} does not compile:{}{}", file, shown(complaint, command.text.string()),
                                 hint.empty() ? "" : fmt::format("\n  help: {}", hint)),
                     std::move(findings));
}

/// Throws FindingError(bad_input) if code of one side uses functions or variables of the other. nvcc finds that itself.
void check_sides(const KernelSource& source, const CompilerCommand& command, const CompilerRunner& runner) {
  const SideCheck check(source);
  if (!check.suspects()) return;
  CompilerCommand asking = command;
  std::erase(asking.words, "-w");
  for (const char* word : {"-fsyntax-only", "-Wdeprecated-declarations", "-ftrack-macro-expansion=0"}) {
    asking.words.emplace_back(word);
  }
  write_file(asking.text, compilation_unit(source, Toolchain::simt, check.marks()));
  const ProcessRun run = runner(asking);
  if (run.status != 0) return;  // other errors also show without the marks
  std::vector<Finding> findings = check.errors(run.complaint + run.output);
  if (findings.empty()) return;
  std::error_code error;
  fs::remove(asking.text, error);
  throw_findings(source, std::move(findings));
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
  static const Cache cache;  // a temporary cache lasts until the program exits
  const char* const suffix = toolchain == Toolchain::nvcc ? ".cu" : ".cc";
  const auto compile = [&](const fs::path& made) {
    take_precompiled(command, source.kind, options.counted, root, cache);
    command.made = made;
    command.text = made.string() + suffix;
    // The input precedes the libraries that it needs on the command line.
    command.words.insert(command.words.begin() + 1, {"-o", made.string(), command.text.string()});
    if (toolchain == Toolchain::simt) check_sides(source, command, runner);
    write_file(command.text, unit);
    ProcessRun run;
    if (options.counted) {
      CompilerCommand preprocess = command;
      preprocess.words.push_back("-E");
      run = runner(preprocess);
      if (run.status == 0) write_file(command.text, unrolled(read_text(made, kMostPreprocessedBytes)));
      // The preprocessed text already contains the forced include.
      const auto included = std::ranges::find(command.words, kInclude);
      if (included != command.words.end()) command.words.erase(included, included + 2);
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

  const std::string name = fingerprint_of(source, unit, command.words, root) + ".so";
  const fs::path library = cache.path_of(name);
  std::error_code error;
  if (fs::exists(library, error)) {
    fs::last_write_time(library, fs::file_time_type::clock::now(), error);
    return {.library = library};
  }
  const fs::path made = cache.place_for(name);
  const ProcessRun run = compile(made);
  if (options.output == CompilerOutput::registers || options.output == CompilerOutput::warnings)
    write_file(made, run.complaint + run.output);
  fs::rename(made, library, error);
  if (error) throw unavailable("{}: cannot store in the cache: {}", library.string(), error.message());
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

std::vector<Finding> warnings_of(const KernelSource& source) try {
  constexpr size_t kMost = 5;
  const CompiledFile made =
      compile_kernel_file(source, source.cuda ? Toolchain::simt : Toolchain::cpu, {.output = CompilerOutput::warnings});
  const std::string path = fs::absolute(source.path).string();
  std::vector<Finding> warnings = merged(findings_in(read_text(made.library)));
  std::erase_if(warnings, [&](const Finding& each) {
    const bool wanted = each.text.ends_with("uninitialized]") || each.text.ends_with("[-Wreturn-type]");
    return !wanted || place_of(each).file != path;
  });
  for (Finding& each : warnings) {
    each.labels.resize(1);
    add_help(each);
    each.count = 1;  // g++ repeats the warning for each template instance
  }
  if (warnings.size() > kMost) warnings.resize(kMost);
  return warnings;
} catch (const Error&) {
  return {};
}

std::map<std::string, int> registers_of(const KernelSource& source, int compute_capability) {
  const CompiledFile made = compile_kernel_file(
      source, Toolchain::nvcc, {.compute_capability = compute_capability, .output = CompilerOutput::registers});
  return registers_in(read_text(made.library));
}

}  // namespace convlab
