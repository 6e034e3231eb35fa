// Implements convlab-jail, which runs untrusted code inside of jails.

#include "convlab/judge/inside_jail.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "convlab/base/entropy.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/json.h"
#include "convlab/device/device.h"
#include "convlab/device/devices.h"
#include "convlab/device/simt.h"
#include "convlab/judge/judgement.h"
#include "convlab/judge/launch_list.h"
#include "convlab/judge/library_place.h"
#include "convlab/judge/recording.h"
#include "convlab/judge/simt_replay.h"
#include "convlab/judge/system_calls.h"
#include "convlab/kernel_file/file_kernel.h"
#include "convlab/kernel_file/library.h"
#include "convlab/kernel_file/translation.h"
#include "convlab/kernels/registry.h"
#include "convlab/measure/json_members.h"
#include "convlab/simt/call_recorder.h"
#include "convlab/simt/settings.h"
#include "convlab/verify/noticed.h"
#include "convlab/warps/occupancy.h"

namespace convlab::judge {
namespace {

void write_to(const std::string& path, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  if (file < 0) throw unavailable("cannot write {}", path);
  for (size_t at = 0; at < text.size();) {
    const ssize_t count = ::write(file, text.data() + at, text.size() - at);
    if (count <= 0) break;
    at += static_cast<size_t>(count);
  }
  ::close(file);
}

void answer(const std::string& path, const Json& json) { write_to(path, json_text(json, -1)); }

std::string answer_of_crash, text_of_crash;  // prepared for the signal handler

/// Reports host code that accesses device memory, if this process still can.
void answer_and_end(int, siginfo_t* info, void*) {
  if (ListRecorder::is_of_device(info->si_addr)) {
    const int file = ::open(answer_of_crash.c_str(), O_WRONLY | O_TRUNC);
    if (file >= 0 && ::write(file, text_of_crash.data(), text_of_crash.size()) > 0) ::_exit(0);
  }
  ::signal(SIGSEGV, SIG_DFL);
  ::raise(SIGSEGV);
}

void watch_for_device_addresses(const std::string& path) {
  answer_of_crash = path;
  text_of_crash = json_text(
      Json{{"refused",
            "host code accesses device memory; copy it with cudaMemcpy, and do not let launches depend on it"}},
      -1);
  static std::array<char, 65536> stack;
  stack_t other{};
  other.ss_sp = stack.data();
  other.ss_size = stack.size();
  ::sigaltstack(&other, nullptr);
  struct sigaction action {};
  action.sa_sigaction = answer_and_end;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  ::sigaction(SIGSEGV, &action, nullptr);
}

/// Calls a file that registers itself, or a function, through its registered kernel. Returns why it does not support
/// the problem, or "".
std::string call_kernel(const KernelSource& source, const std::string& library, const ConvProblem& problem,
                        ListRecorder& recorder) {
  load_kernel_file(source, library, "submission", DeviceKind::simt);
  const Kernel& kernel = require_conv_kernel("submission", DeviceKind::simt);
  const std::unique_ptr<Device> device = open_device("simt", {.threads = 1});
  const ConvStep step{.problem = problem};
  if (const Refusal refusal = kernel.refuses(step, device->caps())) return *refusal;
  const std::unique_ptr<Stream> stream = device->make_stream();
  const Buffer prepared = device->allocate(prepared_bytes(kernel, step, device->caps())),
               workspace = device->allocate(workspace_bytes(kernel, step, device->caps()));
  const ConvArgs args{.step = step,
                      .x = recorder.device_x(),
                      .w = recorder.device_w(),
                      .y = recorder.device_y(),
                      .prepared = prepared.data(),
                      .workspace = workspace.data()};
  call(kernel.prepare, args, *stream);
  call(kernel.launch, args, *stream);
  return "";
}

/// Writes the list to `list_path` and returns the answer.
Json recorded(const std::string& source_path, const std::string& library, const ConvProblem& problem,
              const std::string& list_path) {
  const KernelSource source = read_kernel_source(source_path);
  ListRecorder recorder(problem, entropy());
  simt::set_recorder(&recorder);
  std::vector<float> x(static_cast<size_t>(problem.input_count())), w(static_cast<size_t>(problem.filter_count()));
  std::vector<float> y(static_cast<size_t>(problem.output_count()), 0.0f);
  bool on_host = false;
  if (source.kind == FileKind::own || source.kind == FileKind::function) {
    recorder.put_arrays_on_device();
    if (const std::string why = call_kernel(source, library, problem, recorder); !why.empty()) return {{"misfit", why}};
  } else {
    const LoadedFile file(library);
    if (file.entry() == nullptr) throw bad_input("the compiled file has no entry points");
    on_host = file.entry()->on_host;
    recorder.fill_x(x);
    recorder.fill_w(w);
    if (!on_host) recorder.put_arrays_on_device();
    call_file(*file.entry(), problem, on_host ? y.data() : recorder.device_y(),
              on_host ? x.data() : recorder.device_x(), on_host ? w.data() : recorder.device_w());
  }
  const uintptr_t bias = place_of_library(library).l_addr;
  write_to(list_path, list_text(recorder.finish(on_host ? std::span<const float>(y) : std::span<const float>(), bias)));
  Json result = {{"recorded", true}};
  const std::optional<Finding> call = take_simt_failed_call();
  if (call && call->kind != kHarmlessCall) result["findings"] = Json::array({to_json(*call)});
  return result;
}

Json counts_as_json(const std::vector<KernelCounts>& all) {
  Json json = Json::array();
  for (const KernelCounts& counts : all) {
    int64_t sectors = 0, least_sectors = 0, wavefronts = 0, conflicts = 0;
    for (const AccessType type : {AccessType::load, AccessType::store, AccessType::atomic}) {
      const MemoryCounts global = counts.total(MemorySpace::global, type),
                         shared = counts.total(MemorySpace::shared, type);
      sectors += global.sectors;
      least_sectors += global.least_sectors;
      wavefronts += shared.wavefronts;
      conflicts += shared.bank_conflicts();
    }
    json.push_back({{"kernel", counts.kernel},
                    {"launches", counts.launches},
                    {"flops", counts.flops},
                    {"global_sectors", sectors},
                    {"least_sectors", least_sectors},
                    {"shared_wavefronts", wavefronts},
                    {"bank_conflicts", conflicts},
                    {"occupancy", occupancy_of(counts).share}});
  }
  return json;
}

Json replayed(const JsonMembers& from) {
  std::string library, list_path, problem_text, inputs_path, output_path;
  bool lenient = false, zeros = false, counted = false;
  int threads = 0;
  from.read("library", library);
  from.read("list", list_path);
  from.read("problem", problem_text);
  from.read("inputs", inputs_path);
  from.read("output", output_path);
  from.read("lenient", lenient);
  from.read("zeros", zeros);
  from.read("counted", counted);
  from.read("threads", threads);
  const ConvProblem problem = parse_problem(problem_text);
  const std::vector<uint8_t> inputs = read_file(inputs_path);
  const LaunchList list = read_list(read_text(list_path, kMostListBytes), problem, INT64_MAX);
  constexpr double kStuckSeconds = 3;  // of CPU time, as in 'convlab verify'
  set_simt_stuck_after(kStuckSeconds);
  set_simt_strictness(lenient ? SimtStrictness::lenient : SimtStrictness::usual);
  simt::set_workers(threads);
  name_elements_of({.problem = problem});
  SimtReplay replay(library, list, problem, zeros, inputs);
  if (counted) start_simt_counting();
  try {
    replay.run();
  } catch (...) {
    const std::vector<Finding> faults = simt_faults();
    Json result = {{"fault", faults.empty() ? "" : faults.front().kind}, {"text", message_of_exception()}};
    if (!faults.empty()) result["findings"] = Json::array({to_json(faults.front())});
    return result;
  }
  Json result = {{"counts", counted ? counts_as_json(stop_simt_counting()) : Json::array()}};
  const std::vector<char> y = replay.output();
  const int file = ::open(output_path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0 || ::write(file, y.data(), y.size()) != std::ssize(y)) throw unavailable("cannot write {}", output_path);
  ::close(file);
  return result;
}

void read_inside(const Json& request) {
  const JsonMembers from(request, "request");
  std::string source_path, path;
  from.read("source", source_path);
  from.read("answer", path);
  try {
    const KernelSource source = read_kernel_source(source_path);
    answer(path, {{"bytes", compilation_unit(source, source.cuda ? Toolchain::simt : Toolchain::cpu).size()}});
  } catch (const Error& error) {
    answer(path, {{"refused", error.what()}});
  }
}

void record_inside(const Json& request) {
  const JsonMembers from(request, "request");
  std::string source, library, problem, list, path;
  from.read("source", source);
  from.read("library", library);
  from.read("problem", problem);
  from.read("list", list);
  from.read("answer", path);
  watch_for_device_addresses(path);
  try {
    answer(path, recorded(source, library, parse_problem(problem), list));
  } catch (const Error& error) {
    answer(path, {{error.kind() == ErrorKind::bad_input ? "refused" : "threw", error.what()}});
  } catch (...) {
    answer(path, {{"threw", message_of_exception()}});
  }
}

void replay_inside(const Json& request) {
  const JsonMembers from(request, "request");
  std::string path;
  from.read("answer", path);
  try {
    answer(path, replayed(from));
  } catch (...) {
    answer(path, {{"threw", message_of_exception()}});
  }
}

void run_inside(const Json& request) {
  constexpr int kGo = 3, kDone = 4, kMemory = 5;
  const JsonMembers from(request, "request");
  std::string source_path, library, problem_text, path;
  from.read("source", source_path);
  from.read("library", library);
  from.read("problem", problem_text);
  from.read("answer", path);
  const ConvProblem problem = parse_problem(problem_text);
  const auto count_x = static_cast<size_t>(problem.input_count()),
             count_w = static_cast<size_t>(problem.filter_count());
  const size_t bytes = (count_x + count_w + static_cast<size_t>(problem.output_count())) * sizeof(float);
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, kMemory, 0);
  if (memory == MAP_FAILED) throw unavailable("cannot map shared memory");
  float *const x = static_cast<float*>(memory), *const w = x + count_x, *const y = w + count_w;
  try {
    const KernelSource source = read_kernel_source(source_path);
    const std::unique_ptr<Device> device = open_device("cpu", {});
    const std::unique_ptr<Stream> stream = device->make_stream();
    const ConvStep step{.problem = problem};
    const bool is_kernel = source.kind == FileKind::own || source.kind == FileKind::function;
    std::optional<LoadedFile> file;
    const Kernel* kernel = nullptr;
    Buffer prepared, workspace;
    if (is_kernel) {
      load_kernel_file(source, library, "submission", DeviceKind::cpu);
      kernel = &require_conv_kernel("submission", DeviceKind::cpu);
      if (const Refusal refusal = kernel->refuses(step, device->caps())) return answer(path, {{"misfit", *refusal}});
      prepared = device->allocate(prepared_bytes(*kernel, step, device->caps()));
      workspace = device->allocate(workspace_bytes(*kernel, step, device->caps()));
    } else {
      file.emplace(library);
      if (file->entry() == nullptr) throw bad_input("the compiled file has no entry points");
    }
    char byte = 0;
    if (::write(kDone, &byte, 1) != 1) return;  // ready
    while (::read(kGo, &byte, 1) == 1) {
      if (is_kernel) {
        const ConvArgs args{
            .step = step, .x = x, .w = w, .y = y, .prepared = prepared.data(), .workspace = workspace.data()};
        call(kernel->prepare, args, *stream);
        call(kernel->launch, args, *stream);
        stream->synchronize();
      } else {
        call_file(*file->entry(), problem, y, x, w);
      }
      if (::write(kDone, &byte, 1) != 1) break;
    }
  } catch (...) {
    answer(path, {{"threw", message_of_exception()}});
  }
}

}  // namespace

void work_inside(const std::string& work, const std::filesystem::path& path) {
  constexpr int64_t kMostBytes = 1 << 20;
  const Json request = parse_json(read_text(path, kMostBytes), path.string());
  int64_t processes = 0;
  JsonMembers(request, "request").read("processes", processes);
  if (processes > 0) {
    const rlimit most{static_cast<rlim_t>(processes), static_cast<rlim_t>(processes)};
    ::setrlimit(RLIMIT_NPROC, &most);
    start_no_programs();
  }
  if (work == "read") return read_inside(request);
  if (work == "record") return record_inside(request);
  if (work == "replay") return replay_inside(request);
  if (work == "run") return run_inside(request);
  throw bad_input("unknown convlab-jail command '{}'", work);
}

std::string libraries_of_program() {
  ::dlopen("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL);  // for files with OpenMP
  std::string names;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        const std::string_view name = info->dlpi_name;
        if (name.starts_with('/')) *static_cast<std::string*>(data) += fmt::format("{}\n", name);
        return 0;
      },
      &names);
  return names;
}

}  // namespace convlab::judge
