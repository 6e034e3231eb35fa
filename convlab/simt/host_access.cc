// Keeps host and device memory apart: reports host code that accesses device memory, and describes host memory in
// kernels.

#include "convlab/simt/host_access.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <vector>

#include "convlab/base/symbol.h"
#include "convlab/simt/element.h"
#include "convlab/simt/execution.h"
#include "convlab/simt/host_arrays.h"
#include "convlab/simt/host_code.h"
#include "convlab/simt/in_flight.h"
#include "convlab/simt/target.h"

namespace convlab::simt {
namespace internal {
namespace {

constinit std::atomic<bool> anything_watched{false};

struct Watched {
  std::mutex mutex;
  std::vector<const void*> code;  ///< an address in each watched program or library
  std::vector<Fault> faults;
  std::vector<uintptr_t> exposed;  ///< the addresses of device variables that the host knows
};

Watched& watched() {
  static Watched& watched = *new Watched;  // never destroyed: static objects may still run host code at exit
  return watched;
}

std::vector<const Module*> watched_modules() {
  Watched& all = watched();
  std::vector<const Module*> modules;
  std::lock_guard lock(all.mutex);
  for (const void* address : all.code) modules.push_back(&Module::of(address));
  return modules;
}

/// An address range around a looked-up address that contains no device memory.
struct Gap {
  uint64_t version = 0;
  uintptr_t base = 0;
  size_t bytes = 0;

  void end_before(uintptr_t begin, size_t size, uintptr_t address) {
    if (begin > address) bytes = std::min(bytes, begin - base);
    if (const uintptr_t end = begin + size; end <= address && end > base) {
      bytes -= end - base;
      base = end;
    }
  }
};

constexpr size_t kGaps = 64;  // indexed by code address: each access in a loop has its own
constinit thread_local std::array<Gap, kGaps> gaps{};

/// What host code accesses but must not.
struct Touched {
  std::string text;     ///< "device memory 'y'", for the headline
  std::string element;  ///< "y[3]"
  std::string help;
  std::string name;
  int64_t offset;
  FaultKind kind = FaultKind::host_access;
  std::optional<Label> other = {};
};

Touched touched_range(const Range& range, uintptr_t address, size_t bytes) {
  const auto offset = static_cast<int64_t>(address - range.base);
  const std::string name = range.name.empty() ? "an array" : range.name;
  return {.text = range.name.empty() ? "device memory" : fmt::format("device memory '{}'", range.name),
          .element = element_text(name, offset, static_cast<int>(bytes)),
          .help = "copy it with cudaMemcpy; with a GPU the program would crash here (SIGSEGV)",
          .name = range.name,
          .offset = offset};
}

DeviceVariable variable_at(const Module& module, uintptr_t address) {
  const Symbol* const symbol = module.object_at(address);
  return {.name = symbol ? short_symbol(symbol->mangled) : "a variable",
          .memory = module.is_constant(address) ? "__constant__" : "__device__",
          .offset = symbol ? static_cast<int64_t>(address - module.bias() - symbol->begin) : 0,
          .bytes = symbol ? symbol->bytes : 0};
}

Touched touched_variable(const Module& module, uintptr_t address, size_t bytes) {
  const DeviceVariable variable = variable_at(module, address);
  return {.text = fmt::format("{} variable '{}'", variable.memory, variable.name),
          .element = bytes >= variable.bytes ? variable.name
                                             : element_text(variable.name, variable.offset, static_cast<int>(bytes)),
          .help = "use cudaMemcpyToSymbol or cudaMemcpyFromSymbol: the device has a variable of its own",
          .name = variable.name,
          .offset = variable.offset};
}

std::optional<Touched> touched_in_flight(const InFlight& work, uintptr_t address, bool is_write) {
  if (address - work.base >= work.bytes || (!is_write && !work.device_writes)) return std::nullopt;
  const std::string_view does = work.device_writes ? "may still write it" : "may still read it";
  return Touched{.text = fmt::format("memory before {} has finished", work.what),
                 .element = "the memory",
                 .help = "call cudaStreamSynchronize or cudaDeviceSynchronize first",
                 .name = "",
                 .offset = static_cast<int64_t>(address - work.base),
                 .kind = FaultKind::not_awaited,
                 .other = Label{.place = work.place, .text = fmt::format("{} {}", work.what, does)}};
}

// Slow path, when the address is in no known gap.
[[gnu::noinline, gnu::cold]] void look_up(Gap& gap, uintptr_t address, size_t bytes, AccessKind kind,
                                          const void* code) {
  const uint64_t version = memory_version.load(std::memory_order_acquire);
  const auto ranges = current_ranges();
  const std::vector<const Module*> modules = watched_modules();
  Gap found{version, 0, SIZE_MAX};
  std::optional<Touched> touched;
  for (const auto& range : *ranges) {
    if (!range->initialized) continue;  // host memory that kernels may access
    found.end_before(range->base, range->bytes, address);
    if (address - range->base < range->bytes) touched = touched_range(*range, address, bytes);
  }
  for (const Module* module : modules) {
    for (const Module::Segment& section : module->device_sections()) {
      if (!section.writable) continue;
      found.end_before(section.base, section.bytes, address);
      if (address - section.base < section.bytes) touched = touched_variable(*module, address, bytes);
    }
  }
  // Volatile and atomic accesses may poll the progress of the device.
  const bool may_look = kind != AccessKind::read && kind != AccessKind::write;
  for (const InFlight& work : in_flight()) {
    found.end_before(work.base, work.bytes, address);
    if (!touched && !may_look) touched = touched_in_flight(work, address, is_write(kind));
  }
  if (!touched) {
    gap = found;
    return;
  }
  const auto at = reinterpret_cast<uintptr_t>(code);
  const auto by =
      std::ranges::find_if(modules, [&](const Module* module) { return module->segment_at(at) != nullptr; });
  if (by == modules.end()) return;  // convlab's own code is trusted
  Fault fault{};
  fault.kind = touched->kind;
  fault.array = touched->name;
  fault.offset = touched->offset;
  fault.access_bytes = static_cast<int>(bytes);
  fault.is_write = is_write(kind);
  const std::string_view verb = fault.is_write ? "writes" : "reads";
  fault.finding = {.kind = std::string(name_of(fault.kind)),
                   .text = fmt::format("host code {} {}", verb, touched->text),
                   .array = touched->name,
                   .labels = {{.place = (*by)->place(code),
                               .text = fmt::format("{} {} here", verb, touched->element),
                               .subject = touched->name,
                               .writes_it = fault.is_write}},
                   .help = touched->help};
  if (touched->other) fault.finding.labels.push_back(*touched->other);
  keep_host_fault(std::move(fault));
}

/// Returns the mapping at an address from /proc/self/maps: "[stack]", a file's path, or "" for anonymous memory;
/// nullopt if nothing is mapped there.
std::optional<std::string> mapping_at(uintptr_t address) {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line)) {
    unsigned long begin = 0, end = 0;
    int path = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %*s %*s %*s %*s %n", &begin, &end, &path) < 2) continue;
    if (address - begin < end - begin) return path > 0 ? line.substr(static_cast<size_t>(path)) : "";
  }
  return std::nullopt;
}

/// The kernel's pointer argument with the largest value up to an address: its number, from 1, and its value.
struct PointerArgument {
  size_t number = 0;
  uintptr_t value = 0;
};

PointerArgument argument_before(const Grid& grid, uintptr_t address) {
  constexpr uintptr_t kFar = uintptr_t{1} << 32, kLeast = 4096;
  PointerArgument best;
  for_each_word(grid.call, [&](size_t argument, uintptr_t value) {
    if (value >= kLeast && value <= address && address - value < kFar && value > best.value)
      best = {argument + 1, value};
  });
  return best;
}

}  // namespace

void on_host_access(uintptr_t address, size_t bytes, AccessKind kind, const void* code) {
  if (!anything_watched.load(std::memory_order_relaxed)) return;
  Gap& gap = gaps[(reinterpret_cast<uintptr_t>(code) >> 1) % kGaps];
  if (gap.version == memory_version.load(std::memory_order_relaxed) && address - gap.base < gap.bytes) return;
  look_up(gap, address, bytes, kind, code);
}

bool is_watched(const Module& module) { return anything_watched && std::ranges::count(watched_modules(), &module) > 0; }

std::optional<DeviceVariable> device_variable_at(uintptr_t address) {
  if (!anything_watched) return std::nullopt;
  for (const Module* const module : watched_modules()) {
    if (std::ranges::any_of(module->device_sections(),
                            [&](const Module::Segment& section) { return address - section.base < section.bytes; })) {
      DeviceVariable variable = variable_at(*module, address);
      Watched& all = watched();
      std::lock_guard lock(all.mutex);
      variable.exposed = std::ranges::count(all.exposed, address - static_cast<uintptr_t>(variable.offset)) > 0;
      return variable;
    }
  }
  return std::nullopt;
}

void expose_device_variable(uintptr_t address) {
  Watched& all = watched();
  std::lock_guard lock(all.mutex);
  if (std::ranges::count(all.exposed, address) == 0) all.exposed.push_back(address);
}

bool is_mapped(uintptr_t address) { return mapping_at(address).has_value(); }

void keep_host_fault(Fault fault) {
  Watched& all = watched();
  std::lock_guard lock(all.mutex);
  const auto known = std::ranges::find_if(all.faults, [&](const Fault& each) {
    return same_cause(each.finding, fault.finding) && each.is_write == fault.is_write;
  });
  if (known != all.faults.end()) {
    ++known->times;
  } else if (all.faults.size() < FaultError::kMaxFaults) {
    all.faults.push_back(std::move(fault));
  }
}

std::string describe_host_memory(const Grid& grid, uintptr_t address, int access_bytes) {
  const PointerArgument argument = argument_before(grid, address);
  const uintptr_t base = argument.number > 0 ? argument.value : address;
  const Range* const range = nearest_range(*grid.ranges, base);
  const bool is_end = range && base - range->base <= range->bytes;  // page-locked or managed memory, overrun
  const bool was_released = released_at(base) && host_room(reinterpret_cast<const void*>(base)) == SIZE_MAX;
  if (is_end || is_in_device_block(base) || was_released) return "";
  const std::optional<std::string> mapping = mapping_at(base);
  // Without a pointer argument as evidence, heap memory may also be an access before an array's start.
  if (!mapping || (argument.number == 0 && *mapping != "[stack]")) return "";
  std::string what = "host memory (malloc or new)";
  if (*mapping == "[stack]") what = "the host stack";
  if (const Symbol* symbol = grid.module->object_at(base)) {
    what = fmt::format("host variable '{}'", short_symbol(symbol->mangled));
  } else if (mapping->starts_with('/')) {
    what = "host memory of " + *mapping;
  }
  if (argument.number == 0) return what;
  const std::vector<std::string> names = parameters_of(grid);
  const int64_t index = element_index(static_cast<int64_t>(address - base), access_bytes);
  if (names.empty()) return fmt::format("element {} of {} (argument {} of the kernel)", index, what, argument.number);
  return fmt::format("{}[{}], which is {}", names[argument.number - 1], index, what);
}

}  // namespace internal

bool watch_host_code(const void* inside) noexcept {
  internal::Watched& all = internal::watched();
  std::lock_guard lock(all.mutex);
  all.code.push_back(inside);
  internal::anything_watched = true;
  internal::memory_version.fetch_add(1);
  return true;
}

std::vector<Fault> take_host_faults() {
  internal::Watched& all = internal::watched();
  std::lock_guard lock(all.mutex);
  std::vector<Fault> faults = std::exchange(all.faults, {});
  for (Fault& fault : faults) fault.finding.count = fault.times;
  return faults;
}

void throw_host_faults() {
  if (std::vector<Fault> faults = take_host_faults(); !faults.empty()) throw FaultError(std::move(faults));
}

}  // namespace convlab::simt
