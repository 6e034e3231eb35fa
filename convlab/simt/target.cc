// Finds the array that an access of a kernel was meant for, with the names and indices of the kernel's source.

#include "convlab/simt/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "convlab/base/names.h"
#include "convlab/base/symbol.h"
#include "convlab/base/text.h"
#include "convlab/simt/element.h"
#include "convlab/simt/extents.h"
#include "convlab/simt/grid.h"
#include "convlab/simt/heap_blocks.h"
#include "convlab/simt/memory.h"
#include "convlab/simt/parameters.h"
#include "convlab/simt/source_text.h"

namespace convlab::simt::internal {
namespace {

// Returns "past the end (32 elements)".
std::string beyond(int64_t offset, int64_t bytes, int access_bytes) {
  if (offset < 0) return "before the start";
  const std::string_view where = offset < bytes ? "across the end" : "past the end";
  return fmt::format("{} ({})", where, elements_text(static_cast<size_t>(bytes), access_bytes));
}

bool is_name(std::string_view text) { return !text.empty() && text.find_first_of(" (") == std::string_view::npos; }

class TargetSearch {
 public:
  TargetSearch(const Grid& grid, const RawFault& raw, const SourcePlace& here) : grid_(grid), raw_(raw), here_(here) {}

  Target run() {
    switch (raw_.space) {
      case RawFault::Space::none:
        break;
      case RawFault::Space::static_shared:
        find_static_shared();
        break;
      case RawFault::Space::dynamic_shared:
        find_dynamic_shared();
        break;
      case RawFault::Space::global:
        find_global();
        break;
    }
    if (target_.subject.empty() && is_name(target_.array)) target_.subject = target_.array;
    return std::move(target_);
  }

 private:
  void find_dynamic_shared() {
    target_.array = dynamic_array_in_source(source_text(here_.file), source_line(here_.file, here_.line));
    const bool is_named = !target_.array.empty();
    target_.memory = is_named ? fmt::format("dynamic shared memory '{}'", target_.array) : "dynamic shared memory";
    if (!is_named) target_.array = target_.memory;
    target_.offset = static_cast<int64_t>(raw_.address);
    target_.element = element_text(target_.array, target_.offset, raw_.access_bytes);
    target_.beyond = beyond(target_.offset, static_cast<int64_t>(grid_.shared_bytes), raw_.access_bytes);
  }

  void find_static_shared() {
    const auto at = static_cast<int64_t>(raw_.address);
    const Symbol* symbol = grid_.shared_arrays->nearest(at);
    target_.memory = "shared memory";
    if (!symbol) {
      target_.offset = at;
      target_.element = "shared memory outside of the kernel's arrays";
      return;
    }
    target_.array = short_symbol(symbol->mangled);
    target_.offset = at - static_cast<int64_t>(symbol->begin);
    target_.memory = fmt::format("shared memory '{}'", target_.array);
    const auto bytes = static_cast<int64_t>(symbol->bytes);
    target_.beyond = beyond(target_.offset, bytes, raw_.access_bytes);
    const int64_t index = element_index(target_.offset, raw_.access_bytes);
    std::vector<int64_t> extents;
    if (index >= 0 && raw_.access_bytes > 0) {
      extents = extents_in_source(source_text(here_.file), target_.array, bytes / raw_.access_bytes);
    }
    target_.element = extents.empty() ? element_text(target_.array, target_.offset, raw_.access_bytes)
                                      : target_.array + subscripts(extents, index);
  }

  void find_heap() {
    target_.memory = "memory of malloc()";
    const std::optional<DeviceHeap::Block> block = DeviceHeap::instance().block_at(raw_.address);
    if (!block) {
      target_.element = "the device heap, where malloc() has returned nothing";
      return;
    }
    target_.offset = static_cast<int64_t>(raw_.address - block->base);
    target_.array = "malloc()";
    target_.element = fmt::format("element {}", element_index(target_.offset, raw_.access_bytes));
    target_.history.push_back({.place = grid_.module->place(block->given), .text = "malloc() returned it here"});
    target_.is_released = block->taken != nullptr;
    if (target_.is_released) {
      target_.history.push_back({.place = grid_.module->place(block->taken), .text = "free() frees it here"});
    } else {
      target_.beyond = beyond(target_.offset, static_cast<int64_t>(block->bytes), raw_.access_bytes);
    }
  }

  // Sets the target to an array of the program. `name`: what the host calls it.
  void set_array(const std::string& name, uintptr_t base, size_t bytes) {
    const Parameter parameter = parameter_at(base, bytes);
    const bool is_renamed = parameter.is_start && !parameter.name.empty() && parameter.name != name;
    target_.array = is_renamed ? parameter.name : name;
    target_.subject = parameter.name;
    if (is_renamed && is_name(name)) target_.host_name = name;
    target_.offset = static_cast<int64_t>(raw_.address - base);
    target_.memory = target_.array.empty() ? "global memory" : fmt::format("global memory '{}'", target_.array);
    target_.element =
        element_text(target_.array.empty() ? "an array" : target_.array, target_.offset, raw_.access_bytes);
    target_.meaning = meaning_text(name, bytes, target_.offset, raw_.access_bytes);
  }

  /// A parameter of the kernel that points into an array.
  struct Parameter {
    std::string name;
    bool is_start = false;  ///< it points to the array's first element
  };

  // Returns the parameter that points into the array: the one that the source line names, or the only one.
  Parameter parameter_at(uintptr_t base, size_t bytes) const {
    std::vector<Parameter> found;
    const std::vector<std::string> names = parameters_of(grid_);
    if (names.empty()) return {};
    for_each_word(grid_.call, [&](size_t argument, uintptr_t value) {
      const bool is_pointer = grid_.call.places[argument].bytes == sizeof(uintptr_t);
      if (is_pointer && value - base < bytes) found.push_back({names[argument], value == base});
    });
    const std::string line = source_line(here_.file, here_.line);
    for (const Parameter& each : found) {
      if (find_name(line, each.name) != std::string::npos) return each;
    }
    return found.size() == 1 ? found.front() : Parameter{};
  }

  void look_at_constant() {
    target_.is_constant = grid_.module->is_constant(raw_.address);
    target_.is_unset = grid_.module->is_unset_constant(raw_.address);
    if (target_.is_constant) target_.memory = fmt::format("__constant__ variable '{}'", target_.array);
  }

  // Adds where the host allocated the array.
  void add_allocation(const std::string& name, size_t bytes, const SourcePlace& place) {
    if (std::optional<Label> label = allocation_label(name, bytes, place)) target_.history.push_back(std::move(*label));
  }

  void find_global() {
    target_.memory = "global memory";
    if (raw_.address < 4096) {
      target_.element = fmt::format("address {:#x}", raw_.address);
      return;
    }
    if (DeviceHeap::instance().holds(raw_.address)) return find_heap();
    const Range* range = nearest_range(*grid_.ranges, raw_.address);
    const Symbol* symbol = grid_.module->object_at(raw_.address);
    if (range && range->name.empty() && !symbol) symbol = grid_.module->object_at(range->base);
    const bool inside = range && raw_.address - range->base < range->bytes;
    if (symbol && !inside) {
      set_array(short_symbol(symbol->mangled), symbol->begin + grid_.module->bias(), symbol->bytes);
      look_at_constant();
      if (target_.is_constant && raw_.is_write) target_.read_only = "kernels cannot write __constant__ memory";
      return;
    }
    if (const std::optional<Released> released = inside ? std::nullopt : released_at(raw_.address)) {
      set_array(released->name, released->base, released->bytes);
      target_.is_released = true;
      target_.history.push_back({.place = released->place, .text = released->how, .subject = "cudaFree"});
      add_allocation(released->name, released->bytes, released->allocated);
      return;
    }
    constexpr uintptr_t kNear = uintptr_t{1} << 30;  // farther away, the nearest allocation is probably unrelated
    if (!range || (raw_.address < range->base - kNear && range->base > kNear) ||
        (raw_.address > range->base && raw_.address - range->base > range->bytes + kNear)) {
      target_.element = fmt::format("address {:#x}, far from all device memory", raw_.address);
      return;
    }
    set_array(range->name.empty() && symbol ? short_symbol(symbol->mangled) : range->name, range->base, range->bytes);
    look_at_constant();
    const int64_t past = target_.offset - static_cast<int64_t>(range->bytes);
    if (inside && past + raw_.access_bytes <= 0) {
      target_.read_only = target_.is_constant ? "kernels cannot write __constant__ memory" : "it is read-only";
    } else {
      target_.beyond = beyond(target_.offset, static_cast<int64_t>(range->bytes), raw_.access_bytes);
    }
    add_allocation(range->name, range->bytes, range->allocated);
    const size_t words = range->initialized ? (range->bytes + 3) / 4 : 0;
    target_.is_blank = words > 0 && std::all_of(range->initialized.get(), range->initialized.get() + words,
                                                [](uint8_t is_written) { return is_written == 0; });
    if (past + raw_.access_bytes <= 0 || range->allocated.line == 0) return;
    target_.size_remedy = size_remedy(range->name, range->bytes);
    if (!target_.size_remedy.empty()) return;
    target_.history.back().text +=
        fmt::format(", and this access needs {}", static_cast<int64_t>(range->bytes) + past + raw_.access_bytes);
  }

  const Grid& grid_;
  const RawFault& raw_;
  const SourcePlace& here_;
  Target target_;
};

}  // namespace

std::vector<std::string> parameters_of(const Grid& grid) {
  if (!grid.kernel) return {};
  const char* const code = static_cast<const char*>(grid.call.function);
  const std::string kernel(text_before(short_symbol(grid.kernel->mangled), '<'));
  std::vector<std::string> names = parameters_in_source(source_text(grid.module->place(code + 1).file), kernel);
  return names.size() == grid.call.places.size() ? names : std::vector<std::string>{};
}

Target target_of(const Grid& grid, const RawFault& raw, const SourcePlace& here) {
  return TargetSearch(grid, raw, here).run();
}

}  // namespace convlab::simt::internal
