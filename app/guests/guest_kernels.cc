// Compiles kernel files, and runs commands on them in child processes.

#include "app/guests/guest_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "app/guests/guest.h"
#include "app/program.h"
#include "app/results/file_times.h"
#include "app/results/output.h"
#include "app/results/output_streams.h"
#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/device/cuda.h"
#include "convlab/device/simt.h"
#include "convlab/kernel_file/compiler.h"
#include "convlab/kernel_file/file_kernel.h"
#include "convlab/kernel_file/host_command.h"
#include "convlab/kernels/registry.h"

namespace convlab::app {
namespace {

constexpr const char* kVariable = "CONVLAB_KERNEL_FILES";  // passes the kernel files to a child process

std::vector<std::string> program_arguments;
bool is_guest = false;

DeviceKind kind_of(const std::string& device) {
  if (device == "cpu") return DeviceKind::cpu;
  return device == "simt" ? DeviceKind::simt : DeviceKind::cuda;
}

/// Returns 1 for "cuda:1".
int index_of(const std::string& device) {
  const size_t colon = device.find(':');
  return colon == std::string::npos || device.substr(colon) == ":all"
             ? 0
             : static_cast<int>(parse_int(device.substr(colon + 1), "--device cuda:N", 0, 1023));
}

/// `files`: device, library, path and name of each file, one per line.
void load_files(const std::string& files) {
  const std::vector<std::string> lines = split(files, '\n');
  for (size_t i = 0; i + 3 < lines.size(); i += 4) {
    const KernelSource source = read_kernel_source(lines[i + 2]);
    set_simt_strictness(is_of_course(source.kind) ? SimtStrictness::lenient : SimtStrictness::usual);
    load_kernel_file(source, lines[i + 1], lines[i + 3], kind_of(lines[i]));
  }
}

/// Prints the beginning of the files' output to standard error.
void show_prints(const GuestEnd& end, const std::vector<std::string>& files) {
  if (end.printed_bytes == 0) return;
  constexpr size_t kMostLines = 20;
  std::vector<std::string> lines = split(end.printed, '\n');
  if (lines.back().empty()) lines.pop_back();
  note("{} printed {} bytes:", fmt::join(files, ", "), end.printed_bytes);
  for (size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) {
    fmt::print(messages_stream(), "  {}\n", printable(lines[i]));
  }
  if (lines.size() > kMostLines || end.printed_bytes > static_cast<int64_t>(end.printed.size())) {
    fmt::print(messages_stream(), "  ...\n");
  }
}

}  // namespace

std::string path_of_kernel(const std::string& name) {
  if (names_kernel_file(name)) return name;
  return (header_root() / require_kernel(name, DeviceKind::simt).info.file).string();
}

std::string device_for(const KernelSource& source, const std::string& asked) {
  if (asked.empty() || asked == "auto") return !source.cuda ? "cpu" : cuda_present() ? "cuda" : "simt";
  if (source.cuda == (asked == "cpu")) {
    throw bad_input("{}: --device {} is not supported: the file is for {}", source.path.string(), asked,
                    source.cuda ? "GPUs; use cuda or simt" : "CPUs; use cpu");
  }
  return asked;
}

CompiledFile compile_for(const KernelSource& source, const std::string& device, GuestWork work,
                         const std::vector<std::string>& definitions) {
  CompileOptions options{.counted = work == GuestWork::counting, .definitions = definitions};
  Toolchain toolchain = Toolchain::cpu;
  if (device == "simt") {
    if (!simt_present()) throw unavailable("--device simt: {}", how_to_get_simt());
    toolchain = Toolchain::simt;
  } else if (device != "cpu") {
    toolchain = Toolchain::nvcc;
    if (!cuda_present()) {
      throw unavailable("{}: cuda is {}; without a GPU, use --device simt", source.path.string(),
                        list_cuda().front().description);
    }
    options.compute_capability = cuda_compute_capability(index_of(device));
  }
  return compile_kernel_file(source, toolchain, options);
}

void begin_program(int argc, char** argv) {
  program_arguments.assign(argv, argv + argc);
  const char* files = std::getenv(kVariable);
  if (files == nullptr) return;
  const std::string text = files;
  ::unsetenv(kVariable);  // processes that this one starts must not load the files, too
  is_guest = true;
  become_guest();
  set_streams(kHostOutput, kHostMessages);
  load_files(text);
}

void end_program(int status) {
  if (!is_guest) return;
  if (status == 0) {
    for (const FileTime& each : file_times()) note("{}", file_time_text(each));
  }
  std::fflush(nullptr);  // the parent does not wait for later output
  tell_host(fmt::format("ended {}", status));
  tell_host("done");
}

void run_guest_with(const std::vector<GuestKernel>& kernels, std::vector<std::string> arguments,
                    const std::function<void(std::string_view line)>& on_line) {
  std::string files;
  std::vector<std::string> names;
  for (const GuestKernel& each : kernels) {
    if (each.path.find('\n') != std::string::npos)
      throw bad_input("{}: line breaks in file names are not supported", printable(each.path));
    files += fmt::format("{}\n{}\n{}\n{}\n", each.device, each.library, each.path, each.name);
    names.push_back(each.name);
  }
  constexpr std::string_view kEnded = "ended ";
  std::optional<int> status;
  ::setenv(kVariable, files.c_str(), 1);
  const GuestEnd end = run_guest(std::move(arguments), INFINITY, [&](std::string_view line) {
    if (!line.starts_with(kEnded)) return on_line(line);
    status = static_cast<int>(parse_int(line.substr(kEnded.size()), "status of a child process", 0, 255));
  });
  ::unsetenv(kVariable);
  show_prints(end, names);
  if (end.how != GuestEnd::How::done) throw wrong_result("{}: {}", fmt::join(names, ", "), describe(end, INFINITY));
  if (status.value_or(0) != 0) throw ExitStatus{*status};
}

bool run_in_guest(const std::vector<std::string>& kernels, const std::string& device, GuestWork work) {
  if (is_guest) return false;
  std::vector<GuestKernel> files;
  std::string chosen;
  for (const std::string& name : kernels) {
    if (work != GuestWork::counting && !names_kernel_file(name)) continue;
    const std::string path = path_of_kernel(name);
    const KernelSource source = read_kernel_source(path);
    chosen = device_for(source, chosen.empty() ? device : chosen);
    const std::string library = compile_for(source, chosen, work).library.string();
    // A file of two kernels of this program is loaded once, and replaces both.
    if (std::ranges::find(files, library, &GuestKernel::library) == files.end()) {
      files.push_back({chosen, library, path, name});
    }
  }
  if (files.empty()) return false;
  std::vector<std::string> arguments = program_arguments;
  if (chosen != device) arguments.insert(arguments.end(), {"--device", chosen});
  run_guest_with(files, std::move(arguments), [](std::string_view) {});
  return true;
}

}  // namespace convlab::app
