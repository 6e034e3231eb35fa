// Knows the kernel files whose host code is watched, and their device variables.

#include "convlab/simt/host_code.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "convlab/base/symbol.h"
#include "convlab/simt/ranges.h"
#include "convlab/simt/symbols.h"

namespace convlab::simt {
namespace internal {
namespace {

constinit std::atomic<bool> anything_watched{false};

struct Watched {
  std::mutex mutex;
  std::vector<const void*> code;   ///< an address in each watched program or library
  std::vector<uintptr_t> exposed;  ///< the addresses of device variables that the host knows
};

Watched& watched() {
  static Watched& watched = *new Watched;  // never destroyed: static objects may still run host code at exit
  return watched;
}

}  // namespace

bool is_any_watched() { return anything_watched.load(std::memory_order_relaxed); }

std::vector<const Module*> watched_modules() {
  Watched& all = watched();
  std::vector<const Module*> modules;
  std::lock_guard lock(all.mutex);
  for (const void* address : all.code) modules.push_back(&Module::of(address));
  return modules;
}

DeviceVariable variable_at(const Module& module, uintptr_t address) {
  const Symbol* const symbol = module.object_at(address);
  return {.name = symbol ? short_symbol(symbol->mangled) : "a variable",
          .memory = module.is_constant(address) ? "__constant__" : "__device__",
          .offset = symbol ? static_cast<int64_t>(address - module.bias() - symbol->begin) : 0,
          .bytes = symbol ? symbol->bytes : 0};
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

}  // namespace internal

bool watch_host_code(const void* inside) noexcept {
  internal::Watched& all = internal::watched();
  std::lock_guard lock(all.mutex);
  all.code.push_back(inside);
  internal::anything_watched = true;
  internal::memory_version.fetch_add(1);
  return true;
}

}  // namespace convlab::simt
