// Compiles and links whole CUDA programs for simt.

#include "convlab/kernel_file/program_compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <future>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/fingerprint.h"
#include "convlab/base/process.h"
#include "convlab/base/resources.h"
#include "convlab/kernel_file/cache.h"
#include "convlab/kernel_file/compile_failure.h"
#include "convlab/kernel_file/compiler.h"
#include "convlab/kernel_file/host_command.h"
#include "convlab/kernel_file/inputs.h"
#include "convlab/kernel_file/precompiled.h"
#include "convlab/kernel_file/source.h"
#include "convlab/kernel_file/translation.h"

namespace convlab {
namespace fs = std::filesystem;
namespace {

const Cache& cache() {
  static const Cache one;
  return one;
}

/// Returns the folder of the shared library that programs link: that of a build folder's program, or an installation's.
fs::path library_folder() {
  constexpr const char* kName = "libconvlab-cuda.so";
  std::error_code error;
  fs::path beside = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (fs::exists(beside / kName, error)) return beside;
  return find_resource(fs::path("lib/convlab") / kName).parent_path();
}

std::vector<fs::path> absolute(const std::vector<fs::path>& folders) {
  std::vector<fs::path> all;
  for (const fs::path& folder : folders) all.push_back(fs::absolute(folder));
  return all;
}

std::vector<std::string> compile_command(const KernelSource& source, const ProgramSources& program,
                                         const fs::path& root, const HostCompiler& compiler) {
  if (program.seen.counted && compiler.is_clang) throw unavailable("{}: --counters needs g++", compiler.path);
  std::vector<std::string> command = host_command(false, Toolchain::simt, root, compiler);
  const auto add = [&](std::vector<std::string> more) { command.insert(command.end(), more.begin(), more.end()); };
  add({"-iquote", fs::absolute(source.path).parent_path().string(), "-c"});
  for (const fs::path& folder : absolute(program.folders)) add({"-I", folder.string()});
  add(simt_flags(false, program.seen, compiler));
  add(program.host_options);
  return command;
}

/// Returns what -D, -U and -include ask for as lines of the source. They come after simt's own headers, which they must
/// not change: those have names such as N, too.
std::string first_lines(const ProgramSources& program) {
  std::string lines;
  for (const std::string& each : program.definitions) {
    const size_t equals = each.find('=');
    if (each.starts_with('-')) {
      lines += fmt::format("#undef {}\n", each.substr(1));
    } else if (equals == std::string::npos) {
      lines += fmt::format("#define {} 1\n", each);
    } else {
      lines += fmt::format("#define {} {}\n", each.substr(0, equals), each.substr(equals + 1));
    }
  }
  for (const fs::path& each : program.includes) lines += fmt::format("#include \"{}\"\n", fs::absolute(each).string());
  return lines;
}

/// Returns the object that keeps the program's settings, for simt/program/program_settings.cc.
fs::path compile_settings(const ProgramSources& program) {
  std::string lines;
  for (const auto& [name, value] : program.settings) lines += fmt::format("{}={}\n", name, value);
  const std::string text = fmt::format(
      "extern \"C\" {{\nextern const char convlab_program_settings[];\n"
      "const char convlab_program_settings[] = R\"convlab({})convlab\";\n}}\n",
      lines);
  Fingerprint key;
  key.add(text);
  const fs::path source =
      cache().find_or_make(key.hex() + ".settings.cc", [&](const fs::path& made) { write_file(made, text); });
  return compile_program_source(source, {.compiler = program.compiler});
}

}  // namespace

bool is_cuda_source(const fs::path& file) { return file.extension() == ".cu"; }

bool is_program_source(const fs::path& file) {
  constexpr std::array<std::string_view, 6> kSuffixes{".cu", ".cc", ".cpp", ".cxx", ".c++", ".c"};
  return std::ranges::find(kSuffixes, file.extension().string()) != kSuffixes.end();
}

fs::path compile_program_source(const fs::path& file, const ProgramSources& program) {
  const fs::path root = header_root();
  const KernelSource source = read_program_source(file, program.all_cuda || is_cuda_source(file));
  const std::vector<fs::path> folders = absolute(program.folders);
  const std::string unit = program_unit(source, folders, first_lines(program));
  const HostCompiler compiler = host_compiler(program.compiler);
  CompilerCommand command{.words = compile_command(source, program, root, compiler), .limit_s = program.limit_s};
  Fingerprint key;
  key.add(unit);
  add_command(command.words, key);
  std::vector<fs::path> searched{fs::absolute(file).parent_path(), root, root / "convlab/kernel_file/simt_include"};
  searched.insert(searched.end(), folders.begin(), folders.end());
  add_headers(unit, searched, key);
  return cache().find_or_make(key.hex() + ".o", [&](const fs::path& made) {
    command.made = made;
    command.text = made.string() + ".cc";
    fs::path first = first_header(root);
    if (source.cuda && !program.seen.counted) {
      fs::path header = precompiled_headers(FileKind::program, root, cache(), program.seen, compiler);
      if (!header.empty()) first = std::move(header);
    }
    command.words.insert(command.words.begin() + 1,
                         {"-o", made.string(), command.text.string(), "-include", first.string()});
    const ProcessRun run = run_compiler(command, unit, program.seen.counted, run_plainly);
    if (run.status == 0) return;
    std::error_code error;
    fs::remove(made, error);
    throw_compile_error(source, command, run);
  });
}

std::vector<fs::path> program_headers(const fs::path& file, const ProgramSources& program) {
  std::vector<fs::path> searched{file.parent_path()};
  searched.insert(searched.end(), program.folders.begin(), program.folders.end());
  return included_headers(read_program_source(file, false).text, searched);
}

fs::path build_program(const ProgramSources& program) {
  std::vector<fs::path> inputs(program.files.size());
  std::vector<std::future<void>> compiling;
  const size_t at_once = std::max(1u, std::thread::hardware_concurrency());
  for (size_t i = 0; i < program.files.size(); ++i) {
    if (!is_program_source(program.files[i])) {
      inputs[i] = fs::absolute(program.files[i]);
      continue;
    }
    if (compiling.size() >= at_once) compiling[compiling.size() - at_once].wait();
    compiling.push_back(std::async(
        std::launch::async, [&program, &inputs, i] { inputs[i] = compile_program_source(program.files[i], program); }));
  }
  for (std::future<void>& each : compiling) each.wait();
  for (std::future<void>& each : compiling) each.get();
  if (!program.settings.empty()) inputs.push_back(compile_settings(program));

  const fs::path libraries = library_folder();
  std::vector<std::string> command{host_compiler(program.compiler).path,
                                   program.shared_library ? "-shared" : "-rdynamic", "-pthread"};
  std::ranges::copy(program.host_options, std::back_inserter(command));  // -fopenmp needs its library
  for (const fs::path& input : inputs) command.push_back(input.string());
  std::ranges::move(simt_link_flags(), std::back_inserter(command));
  command.insert(command.end(), program.link_options.begin(), program.link_options.end());
  command.insert(command.end(),
                 {"-L" + libraries.string(), "-lconvlab-cuda", "-Wl,-rpath," + libraries.string(), "-lm"});
  Fingerprint key;
  add_command(command, key);
  for (const fs::path& file : program.files) {
    if (is_program_source(file)) continue;  // its object is named by its content
    std::error_code error;
    key.add(fmt::format("{}", fs::last_write_time(file, error).time_since_epoch().count()));
  }
  return cache().find_or_make(key.hex() + ".program", [&](const fs::path& made) {
    command.insert(command.begin() + 1, {"-o", made.string()});
    const ProcessRun run = run_process(command.front(), command, program.limit_s);
    if (run.status != 0) throw bad_input("the program does not link:\n{}{}", run.complaint, run.output);
  });
}

}  // namespace convlab
