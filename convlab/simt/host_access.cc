// Reports host code that accesses device memory.

#include "convlab/simt/host_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convlab/base/symbol.h"
#include "convlab/simt/element.h"
#include "convlab/simt/host_code.h"
#include "convlab/simt/host_faults.h"
#include "convlab/simt/in_flight.h"
#include "convlab/simt/ranges.h"
#include "convlab/simt/symbols.h"

namespace convlab::simt::internal {
namespace {

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

// A kernel that host code calls through a pointer or a template parameter, which no compiler rejects: nvcc's function
// of that name returns without a launch if there was no <<<...>>>.
void explain_call_without_launch(const Module& module, uintptr_t code, Finding& finding) {
  const Symbol* const function = module.function_at(code);
  if (function == nullptr || std::ranges::find(module.kernels(), function) == module.kernels().end()) return;
  const std::string name = short_symbol(function->mangled);
  finding.text = fmt::format("kernel '{}' is called without <<<grid, block>>>", name);
  finding.help = fmt::format("write {}<<<grid, block>>>(arguments); with a GPU this call launches nothing", name);
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
  explain_call_without_launch(**by, at, fault.finding);
  if (touched->other) fault.finding.labels.push_back(*touched->other);
  keep_host_fault(std::move(fault));
}

}  // namespace

void on_host_access(uintptr_t address, size_t bytes, AccessKind kind, const void* code) {
  if (!is_any_watched()) return;
  Gap& gap = gaps[(reinterpret_cast<uintptr_t>(code) >> 1) % kGaps];
  if (gap.version == memory_version.load(std::memory_order_relaxed) && address - gap.base < gap.bytes) return;
  look_up(gap, address, bytes, kind, code);
}

}  // namespace convlab::simt::internal
