#include "convlab/judge/inside.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/json.h"
#include "convlab/base/symbol.h"
#include "convlab/device/device.h"
#include "convlab/device/simt.h"
#include "convlab/judge/judgement.h"
#include "convlab/judge/launch_list.h"
#include "convlab/judge/recording.h"
#include "convlab/kernel_file/file_kernel.h"
#include "convlab/kernel_file/library.h"
#include "convlab/kernels/registry.h"
#include "convlab/measure/json_members.h"
#include "convlab/profile/occupancy.h"
#include "convlab/simt/memory.h"
#include "convlab/simt/product.h"
#include "convlab/simt/recorder.h"
#include "convlab/simt/symbols.h"

namespace convlab::judge {
namespace {

using simt::internal::Module;
using simt::internal::Symbol;

void answer(const std::string& path, const Json& json) {
  const std::string text = json_text(json, -1);
  const int file = ::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  if (file < 0) throw unavailable("{}: cannot be written", path);
  for (size_t at = 0; at < text.size();) {
    const ssize_t count = ::write(file, text.data() + at, text.size() - at);
    if (count <= 0) break;
    at += static_cast<size_t>(count);
  }
  ::close(file);
}

/// Where a loaded library lies.
const link_map& place_of_library(const std::string& path) {
  void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  link_map* place = nullptr;
  if (handle == nullptr || ::dlinfo(handle, RTLD_DI_LINKMAP, &place) != 0) {
    const char* why = ::dlerror();
    throw bad_input("cannot load the compiled kernel file: {}", why != nullptr ? why : "no reason given");
  }
  return *place;
}

std::string answer_of_crash, text_of_crash;  // what a signal's handler needs, made before

/// A host that touches the device's memory says so, if it can.
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
            "the host reads or writes memory of the device: it must copy it with cudaMemcpy, and cannot decide by it"}},
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

/// Calls a file that registers itself, or a function, as the kernel that it is. Why it does not take the problem, or "".
std::string call_kernel(const KernelSource& source, const std::string& library, const ConvProblem& problem,
                        ListRecorder& recorder) {
  load_kernel_file(source, library, "submission", DeviceKind::simt);
  const ConvKernel& kernel = require_conv_kernel("submission", DeviceKind::simt);
  const std::unique_ptr<Device> device = open_device("simt", {.threads = 1});
  const ConvStep step{.problem = problem};
  if (const Refusal refusal = kernel.refuses(step, device->caps())) return *refusal;
  const auto bytes = [&](auto bytes_of) { return bytes_of == nullptr ? size_t{0} : bytes_of(step, device->caps()); };
  const std::unique_ptr<Stream> stream = device->make_stream();
  const Buffer prepared = device->allocate(bytes(kernel.prepared_bytes)),
               workspace = device->allocate(bytes(kernel.workspace_bytes));
  const ConvArgs args{.step = step,
                      .x = recorder.device_x(),
                      .w = recorder.device_w(),
                      .y = recorder.device_y(),
                      .prepared = prepared.data(),
                      .workspace = workspace.data()};
  if (kernel.prepare != nullptr) kernel.prepare(args, *stream);
  kernel.launch(args, *stream);
  return "";
}

Json recorded(const std::string& source_path, const std::string& library, const ConvProblem& problem, uint64_t seed) {
  const KernelSource source = read_kernel_source(source_path);
  ListRecorder recorder(problem, seed);
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
  const LaunchList list = recorder.finish(on_host ? std::span<const float>(y) : std::span<const float>(), bias);
  return {{"list", to_json(list)}};
}

/// Carries a list out.
class SimtReplay {
 public:
  SimtReplay(const std::string& library, const LaunchList& list, const ConvProblem& problem, bool zeros,
             std::span<const uint8_t> inputs)
      : module_(Module::of(place_of_library(library).l_ld)), list_(list) {
    const auto bytes_x = static_cast<size_t>(problem.input_count()) * 4,
               bytes_w = static_cast<size_t>(problem.filter_count()) * 4;
    bytes_y_ = static_cast<size_t>(problem.output_count()) * 4;
    if (inputs.size() != bytes_x + bytes_w) throw bad_input("the inputs have another length");
    x_ = inputs.first(bytes_x);
    w_ = inputs.subspan(bytes_x);
    if (!list.on_device) return;
    add(kArrayX, bytes_x, "x");
    add(kArrayW, bytes_w, "w");
    add(kArrayY, bytes_y_, "y");
    simt::copy_to_device(arrays_[kArrayX], x_.data(), bytes_x);
    simt::copy_to_device(arrays_[kArrayW], w_.data(), bytes_w);
    simt::narrow(arrays_[kArrayX], bytes_x, "x", simt::RangeAccess::read_only);
    simt::narrow(arrays_[kArrayW], bytes_w, "w", simt::RangeAccess::read_only);
    if (zeros) simt::fill_on_device(arrays_[kArrayY], 0, bytes_y_);
  }

  void run() {
    for (const Operation& op : list_.operations) run(op);
  }

  std::vector<char> output() {
    std::vector<char> y(bytes_y_, 0);
    if (list_.on_device) {
      simt::copy_to_host(y.data(), arrays_[kArrayY], bytes_y_);
      return y;
    }
    size_t at = 0;
    for (const OutputPiece& piece : list_.output) {
      if (piece.download >= 0)
        std::memcpy(y.data() + at, downloads_.at(static_cast<size_t>(piece.download)).data() + piece.offset,
                    static_cast<size_t>(piece.bytes));
      at += static_cast<size_t>(piece.bytes);
    }
    return y;
  }

 private:
  void add(int number, size_t bytes, std::string_view name) {
    arrays_[number] = static_cast<char*>(simt::allocate(bytes, name));
  }

  char* target(const Operation& op) { return arrays_.at(op.array) + op.offset; }

  const void* source(const Operation& op) const {
    switch (op.source.kind) {
      case HostBytes::Kind::x:
        return x_.data() + op.source.offset;
      case HostBytes::Kind::w:
        return w_.data() + op.source.offset;
      case HostBytes::Kind::download:
        return downloads_.at(static_cast<size_t>(op.source.download)).data() + op.source.offset;
      case HostBytes::Kind::literal:
        break;
    }
    return op.source.literal.data();
  }

  uintptr_t address(const Symbol* symbol, const std::string& name) const {
    if (symbol == nullptr) throw bad_input("the file has no {}", name);
    return symbol->begin + module_.bias();
  }

  uintptr_t variable(const std::string& name, int64_t offset, int64_t bytes) const {
    const Symbol* symbol = module_.object_named(name);
    const uintptr_t begin = address(symbol, name);
    const auto all = static_cast<int64_t>(symbol->bytes);
    if (offset < 0 || bytes > all || offset > all - bytes)
      throw bad_input("it passes the end of {}", short_symbol(name));
    return begin + static_cast<uintptr_t>(offset);
  }

  void launch(const Operation& op) {
    std::vector<char> memory(static_cast<size_t>(op.argument_bytes) + sizeof(void*), 0);
    const uintptr_t kernel = address(module_.function_named(op.symbol), op.symbol);
    const uintptr_t invoke = address(module_.function_named(op.invoke), op.invoke);
    std::memcpy(memory.data(), &kernel, sizeof(kernel));
    for (const LaunchArgument& argument : op.arguments) {
      char* const place = memory.data() + argument.place;
      std::memcpy(place, argument.bytes.data(), argument.bytes.size());
      for (const PointerInArgument& pointer : argument.pointers) {
        const uintptr_t value = pointer.array >= 0
                                    ? reinterpret_cast<uintptr_t>(arrays_.at(pointer.array) + pointer.offset)
                                    : variable(pointer.variable, pointer.offset, 0);
        std::memcpy(place + pointer.at, &value, sizeof(value));
      }
    }
    simt::launch_grid({reinterpret_cast<const void*>(kernel),
                       reinterpret_cast<void (*)(const void*)>(invoke),
                       memory.data(),
                       static_cast<size_t>(op.argument_bytes),
                       {}},
                      {.grid = {op.grid[0], op.grid[1], op.grid[2]},
                       .block = {op.block[0], op.block[1], op.block[2]},
                       .shared_bytes = static_cast<size_t>(op.shared_bytes)});
  }

  void multiply(const Operation& op) {
    simt::Product product = op.product;
    product.a.data = arrays_.at(op.a.array) + op.a.offset;
    product.b.data = arrays_.at(op.b.array) + op.b.offset;
    product.c.data = arrays_.at(op.c.array) + op.c.offset;
    simt::multiply(product);
  }

  void run(const Operation& op) {
    const auto bytes = static_cast<size_t>(op.bytes);
    switch (op.kind) {
      case Operation::Kind::allocate:
        return add(op.array, bytes, op.symbol);
      case Operation::Kind::release:
        simt::release(arrays_.at(op.array));
        arrays_.erase(op.array);
        return;
      case Operation::Kind::upload:
        return simt::copy_to_device(target(op), source(op), bytes);
      case Operation::Kind::download: {
        std::vector<char>& to = downloads_.emplace_back(bytes);
        return simt::copy_to_host(to.data(), target(op), bytes);
      }
      case Operation::Kind::copy:
        return simt::copy_on_device(target(op), arrays_.at(op.from_array) + op.from_offset, bytes);
      case Operation::Kind::fill:
        return simt::fill_on_device(target(op), op.byte, bytes);
      case Operation::Kind::set_symbol: {
        const Symbol* symbol = module_.object_named(op.symbol);
        void* const begin = reinterpret_cast<void*>(address(symbol, op.symbol));
        const void* const from = op.from_array >= 0 ? arrays_.at(op.from_array) + op.from_offset : source(op);
        return simt::copy_to_symbol(begin, symbol->bytes, from, bytes, static_cast<size_t>(op.offset),
                                    op.constant ? simt::RangeAccess::read_only : simt::RangeAccess::read_write);
      }
      case Operation::Kind::launch:
        return launch(op);
      case Operation::Kind::multiply:
        return multiply(op);
      case Operation::Kind::record:
      case Operation::Kind::wait:
      case Operation::Kind::synchronize:
        return;  // everything is done when it is given
    }
  }

  const Module& module_;
  const LaunchList& list_;
  std::span<const uint8_t> x_, w_;
  size_t bytes_y_ = 0;
  std::map<int, char*> arrays_;
  std::vector<std::vector<char>> downloads_;
};

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
  const std::vector<uint8_t> text = read_file(list_path, kMostListBytes), inputs = read_file(inputs_path);
  const LaunchList list =
      read_list(parse_json({reinterpret_cast<const char*>(text.data()), text.size()}, list_path), problem, INT64_MAX);
  if (lenient) make_simt_lenient();
  simt::set_workers(threads);
  SimtReplay replay(library, list, problem, zeros, inputs);
  if (counted) start_simt_counting();
  try {
    replay.run();
  } catch (...) {
    const std::vector<SimtFault> faults = simt_faults();
    return {{"fault", faults.empty() ? "" : faults.front().kind}, {"text", message_of_exception()}};
  }
  Json result = {{"counts", counted ? counts_as_json(stop_simt_counting()) : Json::array()}};
  const std::vector<char> y = replay.output();
  const int file = ::open(output_path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0 || ::write(file, y.data(), y.size()) != std::ssize(y))
    throw unavailable("{}: cannot be written", output_path);
  ::close(file);
  return result;
}

void record_inside(const Json& request) {
  const JsonMembers from(request, "request");
  std::string source, library, problem, path;
  int64_t seed = 0;
  from.read("source", source);
  from.read("library", library);
  from.read("problem", problem);
  from.read("seed", seed);
  from.read("answer", path);
  watch_for_device_addresses(path);
  try {
    answer(path, recorded(source, library, parse_problem(problem), static_cast<uint64_t>(seed)));
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
  if (memory == MAP_FAILED) throw unavailable("cannot share memory");
  float *const x = static_cast<float*>(memory), *const w = x + count_x, *const y = w + count_w;
  try {
    const KernelSource source = read_kernel_source(source_path);
    const std::unique_ptr<Device> device = open_device("cpu", {});
    const std::unique_ptr<Stream> stream = device->make_stream();
    const ConvStep step{.problem = problem};
    const bool is_kernel = source.kind == FileKind::own || source.kind == FileKind::function;
    std::optional<LoadedFile> file;
    const ConvKernel* kernel = nullptr;
    Buffer prepared, workspace;
    if (is_kernel) {
      load_kernel_file(source, library, "submission", DeviceKind::cpu);
      kernel = &require_conv_kernel("submission", DeviceKind::cpu);
      if (const Refusal refusal = kernel->refuses(step, device->caps())) return answer(path, {{"misfit", *refusal}});
      if (kernel->prepared_bytes != nullptr) prepared = device->allocate(kernel->prepared_bytes(step, device->caps()));
      if (kernel->workspace_bytes != nullptr)
        workspace = device->allocate(kernel->workspace_bytes(step, device->caps()));
    } else {
      file.emplace(library);
      if (file->entry() == nullptr) throw bad_input("the compiled file has no entry points");
    }
    for (char byte = 0; ::read(kGo, &byte, 1) == 1;) {
      if (is_kernel) {
        const ConvArgs args{
            .step = step, .x = x, .w = w, .y = y, .prepared = prepared.data(), .workspace = workspace.data()};
        if (kernel->prepare != nullptr) kernel->prepare(args, *stream);
        kernel->launch(args, *stream);
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
  }
  if (work == "record") return record_inside(request);
  if (work == "replay") return replay_inside(request);
  if (work == "run") return run_inside(request);
  throw bad_input("'{}' is no work of convlab-jail's", work);
}

std::string libraries_of_program() {
  ::dlopen("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL);  // of files with OpenMP
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
