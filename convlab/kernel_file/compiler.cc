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
#include "convlab/kernel_file/compile_failure.h"
#include "convlab/kernel_file/compile_help.h"
#include "convlab/kernel_file/host_command.h"
#include "convlab/kernel_file/inputs.h"
#include "convlab/kernel_file/kernel_binders.h"
#include "convlab/kernel_file/precompiled.h"
#include "convlab/kernel_file/unrolled.h"

namespace convlab {
namespace fs = std::filesystem;
namespace {

constexpr int64_t kMostPreprocessedBytes = 16 << 20;

std::string nvcc() {
  if (std::string found = found_tool("nvcc"); !found.empty()) return found;
  throw unavailable("nvcc not found in PATH or /usr/local/cuda/bin; install the CUDA toolkit, or use --device simt");
}

constexpr const char* kInclude = "-include";

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
  add(simt_flags(own, {.counted = options.counted}));
#ifndef __clang__
  add({kInclude, first_header(root).string()});
#endif
  add(simt_link_flags());
  // No libtsan: simt implements the thread sanitizer's interface instead.
  add({"-Wl,-Bsymbolic", "-nodefaultlibs", "-lstdc++", "-lm", "-lgcc_s", "-lc"});
  return command;
}

/// Replaces the first header that the command includes by its precompiled version. A counted file is compiled from
/// preprocessed text, which includes nothing.
void take_precompiled(CompilerCommand& command, FileKind kind, bool counted, const fs::path& root, const Cache& cache) {
  const auto include = std::ranges::find(command.words, kInclude);
  if (include == command.words.end() || counted) return;
  const fs::path header = precompiled_headers(kind, root, cache);
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

}  // namespace

ProcessRun run_plainly(const CompilerCommand& command) {
  return run_process(command.words.front(), command.words, command.limit_s);
}

ProcessRun run_compiler(CompilerCommand command, const std::string& unit, bool counted, const CompilerRunner& runner) {
  write_file(command.text, unit);
  ProcessRun run;
  if (counted) {
    CompilerCommand preprocess = command;
    preprocess.words.push_back("-E");
    run = runner(preprocess);
    if (run.status == 0) write_file(command.text, unrolled(read_text(command.made, kMostPreprocessedBytes)));
    // The preprocessed text already contains the forced include.
    const auto included = std::ranges::find(command.words, kInclude);
    if (included != command.words.end()) command.words.erase(included, included + 2);
  }
  if (run.status <= 0) run = runner(command);
  std::error_code error;
  fs::remove(command.text, error);
  return run;
}

CompiledFile compile_kernel_file(const KernelSource& source, Toolchain toolchain, const CompileOptions& options) {
  const fs::path root = header_root();
  const std::string unit = compilation_unit(source, toolchain, {}, options.over_field);
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
    ProcessRun run = run_compiler(command, unit, options.counted, runner);
    if (run.status == 0) return run;
    std::error_code error;
    fs::remove(made, error);
    throw_compile_error(source, command, run);
  };
  if (!options.folder.empty()) {
    const fs::path made = options.folder / (options.output != CompilerOutput::library ? "kernels.cubin"
                                            : options.counted                         ? "counted.so"
                                                                                      : "file.so");
    const ProcessRun run = compile(made);
    return {.library = made, .seconds = run.elapsed_s, .complaints = run.complaint + run.output};
  }

  const std::string name = fingerprint_of(source, unit, command.words, root) + ".so";
  CompiledFile compiled;
  compiled.library = cache.find_or_make(name, [&](const fs::path& made) {
    const ProcessRun run = compile(made);
    compiled.seconds = run.elapsed_s;
    compiled.complaints = run.complaint + run.output;
    if (options.output == CompilerOutput::registers || options.output == CompilerOutput::warnings) {
      write_file(made, compiled.complaints);
    }
  });
  return compiled;
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
