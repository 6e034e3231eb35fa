#include "convlab/simt/fault.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <numeric>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/base/resources.h"
#include "convlab/base/symbol.h"
#include "convlab/simt/execution.h"

namespace convlab::simt {
namespace {

// One mistake shows in several places: a missing barrier as two races, say.
std::string first_message(const std::vector<Fault>& faults) {
  if (faults.empty()) return "";
  const size_t others = faults.size() - 1;
  if (others == 0) return faults[0].message;
  return fmt::format("{}; {} other fault{} of this block may follow from it", faults[0].message, others,
                     others == 1 ? "" : "s");
}

/// The place of a source, as the compiler was given it: absolute, or from a build folder in the repository. "" where
/// the sources are not here.
std::filesystem::path source_file(const std::filesystem::path& path) try {
  if (path.is_absolute()) return path;
  const auto named = std::ranges::find_if(path, [](const std::filesystem::path& part) { return part != ".."; });
  return find_resource(std::accumulate(named, path.end(), std::filesystem::path(), std::divides<>()));
} catch (const Error&) {
  return {};
}

std::string line_of_file(const char* path, uint32_t number) {
  std::ifstream file(source_file(path));
  std::string line;
  for (uint32_t i = 0; i < number; ++i) {
    if (!std::getline(file, line)) return "";
  }
  return line;
}

std::string file_and_line(std::string_view path, unsigned line) {
  return fmt::format("{}:{}", path.substr(path.rfind('/') + 1), line);
}

std::string times_text(int64_t times) { return times > 1 ? fmt::format(" ({} times in this block)", times) : ""; }

}  // namespace

std::string_view name_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::out_of_bounds_global:
      return "out of bounds of global memory";
    case FaultKind::out_of_bounds_shared:
      return "out of bounds of shared memory";
    case FaultKind::out_of_bounds_local:
      return "out of bounds of an array";
    case FaultKind::misaligned:
      return "misaligned address";
    case FaultKind::uninitialised_shared:
      return "uninitialised shared memory";
    case FaultKind::uninitialised_global:
      return "uninitialised global memory";
    case FaultKind::race_shared:
      return "race on shared memory";
    case FaultKind::race_global:
      return "race on global memory";
    case FaultKind::divergent_barrier:
      return "barrier not reached by all threads";
    case FaultKind::divergent_warp:
      return "warp operation not reached by all lanes";
    case FaultKind::inactive_lane:
      return "inactive lane";
    case FaultKind::stack_overflow:
      return "stack overflow";
    case FaultKind::division:
      return "integer division";
    case FaultKind::exception:
      return "exception";
    case FaultKind::processor:
      return "refused by the processor";
    case FaultKind::stuck:
      return "no progress";
    case FaultKind::trap:
      return "trap";
    case FaultKind::assertion:
      return "assertion failed";
  }
  return "fault";
}

std::string to_text(Position p) { return fmt::format("({},{},{})", p.x, p.y, p.z); }

FaultError::FaultError(std::vector<Fault> faults)
    : Error(ErrorKind::wrong_result, first_message(faults)), faults_(std::move(faults)) {}

namespace internal {
namespace {

// The number of elements of "'float [16][17]'".
size_t elements_of(std::string_view type) {
  size_t product = 1;
  for (size_t at = type.find('['); at != std::string_view::npos; at = type.find('[', at + 1)) {
    product *= std::max<size_t>(1, std::strtoull(type.data() + at + 1, nullptr, 10));
  }
  return product;
}

// The shared array whose bounds an index left, or nullptr if it was no shared array. The source has its name, at the
// place that the compiler gives; without the source it can only be the kernel's one shared array.
const Symbol* find_subscripted(const Grid& grid, const SubscriptSite& site, std::string& name) {
  name = subscripted_name(line_of_file(site.file, site.line), static_cast<int>(site.column));
  std::vector<const Symbol*> own;
  if (grid.kernel) own = grid.module->static_shared_of(*grid.kernel);
  if (name.empty()) return own.size() == 1 ? own.front() : nullptr;
  for (const Symbol* symbol : own) {
    if (short_symbol(symbol->mangled) == name) return symbol;
  }
  // Perhaps an array of a device function: the name and the type must fit.
  for (const Symbol* other : grid.shared_arrays->symbols) {
    if (short_symbol(other->mangled) == name && other->bytes % elements_of(site.array_type->name) == 0) return other;
  }
  return nullptr;
}

// "writes what thread (0,0,0) read at conv.cu:31, with no barrier between".
std::string describe_race_in_block(const Grid& grid, const RawFault& raw, Fault& fault) {
  if (raw.unawaited_copy) {
    return fmt::format("{} where a copy of thread {} goes, which that has not waited for",
                       raw.is_write ? "writes" : "reads", to_text(*fault.other_thread));
  }
  if (raw.other_code) fault.other_where = grid.module->where(raw.other_code);
  return fmt::format("{} what thread {} {}{}, with no barrier between", raw.is_write ? "writes" : "reads",
                     to_text(*fault.other_thread), raw.other_wrote ? "wrote" : "read",
                     raw.other_code ? " at " + fault.other_where : "");
}

// "what thread (0,0,0) of block (1,0,0) wrote at conv.cu:31".
std::string describe_other(const Grid& grid, const RawFault& raw, Fault& fault) {
  const OtherAccess& other = *raw.other_block;
  if (other.block < 0) return "what another block read";
  fault.other_block = grid.block_position(other.block);
  fault.other_thread = grid.thread_position(other.thread);
  std::string text = fmt::format("what thread {} of block {} {}", to_text(*fault.other_thread),
                                 to_text(*fault.other_block), other.wrote ? "wrote" : "read");
  const bool is_known = other.site.code || other.site.where.line() != 0;
  if (!is_known) return text;
  fault.other_where = place_of(*grid.module, other.site);
  return text + " at " + fault.other_where;
}

// "4 bytes past the end of 'tile' (128 bytes)".
std::string describe_static_shared(const Grid& grid, const RawFault& raw, Fault& fault) {
  const auto at = static_cast<int64_t>(raw.address);
  const Symbol* symbol = grid.shared_arrays->nearest(at);
  if (!symbol) {
    fault.offset = at;
    return "where the kernel has no shared array";
  }
  fault.array = short_symbol(symbol->mangled);
  fault.offset = at - static_cast<int64_t>(symbol->begin);
  const auto bytes = static_cast<int64_t>(symbol->bytes);
  if (fault.kind != FaultKind::out_of_bounds_shared)
    return fmt::format("at byte {} of '{}'", fault.offset, fault.array);
  if (fault.offset < 0) {
    return fmt::format("{} bytes before the start of '{}' ({} bytes)", -fault.offset, fault.array, bytes);
  }
  if (fault.offset < bytes) return fmt::format("across the end of '{}' ({} bytes)", fault.array, bytes);
  return fmt::format("{} bytes past the end of '{}' ({} bytes)", fault.offset - bytes, fault.array, bytes);
}

// "12 bytes past the end of 'x' (400 bytes)".
std::string describe_global(const Grid& grid, const RawFault& raw, Fault& fault) {
  const Range* range = nearest_range(*grid.ranges, raw.address);
  if (raw.address < 4096) return fmt::format("at address {:#x}: a null pointer", raw.address);
  const Symbol* symbol = grid.module->object_at(raw.address);
  if (range && range->name.empty() && !symbol) symbol = grid.module->object_at(range->base);
  const bool inside = range && raw.address - range->base < range->bytes;
  if (symbol && !inside) {
    const uintptr_t begin = symbol->begin + grid.module->bias();
    fault.array = short_symbol(symbol->mangled);
    fault.offset = static_cast<int64_t>(raw.address - begin);
    return fmt::format("at byte {} of '{}' ({} bytes)", fault.offset, fault.array, symbol->bytes);
  }
  constexpr uintptr_t kNear = uintptr_t{1} << 30;  // beyond, the nearest allocation has nothing to do with it
  if (!range || (raw.address < range->base - kNear && range->base > kNear) ||
      (raw.address > range->base && raw.address - range->base > range->bytes + kNear)) {
    return fmt::format("at address {:#x}, where no device memory is near", raw.address);
  }
  fault.array = range->name.empty() && symbol ? short_symbol(symbol->mangled) : range->name;
  fault.offset = static_cast<int64_t>(raw.address - range->base);
  const int64_t past = fault.offset - static_cast<int64_t>(range->bytes);
  if (fault.kind != FaultKind::out_of_bounds_global) {
    return fmt::format("at byte {} of '{}' ({} bytes)", fault.offset, fault.array, range->bytes);
  }
  if (inside && past + raw.access_bytes <= 0) {
    return fmt::format("at byte {} of '{}', which is read-only", fault.offset, fault.array);
  }
  if (fault.offset < 0) {
    return fmt::format("{} bytes before the start of '{}' ({} bytes)", -fault.offset, fault.array, range->bytes);
  }
  if (inside) return fmt::format("across the end of '{}' ({} bytes)", fault.array, range->bytes);
  return fmt::format("{} bytes past the end of '{}' ({} bytes)", past, fault.array, range->bytes);
}

// "at byte 16 of 'x' (400 bytes)" and its like; "" where the fault is in no memory.
std::string describe_place(const Grid& grid, const RawFault& raw, Fault& fault) {
  switch (raw.space) {
    case RawFault::Space::none:
      break;
    case RawFault::Space::static_shared:
      return describe_static_shared(grid, raw, fault);
    case RawFault::Space::dynamic_shared:
      fault.array = "dynamic shared memory";
      fault.offset = static_cast<int64_t>(raw.address);
      return fmt::format("at byte {} of dynamic shared memory ({} bytes)", fault.offset, grid.shared_bytes);
    case RawFault::Space::global:
      return describe_global(grid, raw, fault);
  }
  return "";
}

Fault describe(const Grid& grid, const RawFault& raw, int64_t block, const std::string& kernel_name) {
  Fault fault;
  fault.kind = raw.kind;
  fault.kernel = kernel_name;
  fault.block = grid.block_position(block);
  fault.thread = grid.thread_position(raw.thread);
  if (raw.other_thread >= 0 && raw.other_thread < grid.block_threads) {
    fault.other_thread = grid.thread_position(raw.other_thread);
  }
  fault.access_bytes = raw.access_bytes;
  fault.is_write = raw.is_write;
  fault.times = raw.times;
  std::string detail = raw.detail;
  if (raw.subscript) {
    const SubscriptSite& site = *raw.subscript;
    const Symbol* symbol = find_subscripted(grid, site, fault.array);
    if (symbol) fault.array = short_symbol(symbol->mangled);
    if (!symbol) fault.kind = FaultKind::out_of_bounds_local;
    fault.where = file_and_line(site.file, site.line);
    detail = fmt::format("index {} does not exist in {}", raw.index, site.array_type->name);
    if (!fault.array.empty()) detail += fmt::format(" of array '{}'", fault.array);
  } else {
    fault.where = place_of(*grid.module, {raw.code, raw.location});
    if (raw.kind == FaultKind::race_shared || (raw.kind == FaultKind::race_global && !raw.other_block)) {
      detail = describe_race_in_block(grid, raw, fault);
    }
    if (raw.other_block) {
      detail = fmt::format("{} {}, and nothing orders the two", raw.is_write ? "writes" : "reads",
                           describe_other(grid, raw, fault));
    }
    const std::string place = describe_place(grid, raw, fault);
    if (raw.kind == FaultKind::stuck && !place.empty()) {
      const std::string where = raw.other_code ? ", at " + grid.module->where(raw.other_code) : "";
      detail += fmt::format(
          "; if it waits until another thread writes {}, which it read last{}: that is not volatile, so that a GPU's "
          "compiler may read it but once. Declare it volatile, with a __threadfence() before what follows",
          place, where);
    } else if (!place.empty()) {
      const std::string access =
          fmt::format("{} of {} bytes {}", raw.is_write ? "write" : "read", raw.access_bytes, place);
      detail = access + (detail.empty() ? "" : ": " + detail);
    }
  }
  fault.message = fmt::format("{}: kernel {}, block {}, thread {}: {}, at {}{}", name_of(fault.kind), fault.kernel,
                              to_text(fault.block), to_text(fault.thread), detail, fault.where, times_text(raw.times));
  if (detail.empty()) {
    fault.message = fmt::format("{}: kernel {}, block {}, thread {}, at {}{}", name_of(fault.kind), fault.kernel,
                                to_text(fault.block), to_text(fault.thread), fault.where, times_text(raw.times));
  }
  return fault;
}

std::mutex notes_mutex;
std::vector<Fault> notes;  // of all launches since the last question

}  // namespace

std::string place_of(const Module& module, const Site& site) {
  return site.where.line() != 0 ? file_and_line(site.where.file_name(), site.where.line()) : module.where(site.code);
}

std::string kernel_name_of(const Grid& grid) {
  if (grid.kernel) return short_symbol(grid.kernel->mangled);
  return fmt::format("at {:#x}", reinterpret_cast<uintptr_t>(grid.call.function) - grid.module->bias());
}

std::vector<Fault> describe(const Grid& grid) {
  const std::string name = kernel_name_of(grid);
  std::vector<Fault> faults;
  for (const RawFault& raw : grid.faults) faults.push_back(describe(grid, raw, grid.first_fault_block, name));
  return faults;
}

void keep_notes(const Grid& grid) {
  if (grid.noted.empty()) return;
  const std::string name = kernel_name_of(grid);
  std::lock_guard lock(notes_mutex);
  for (const RawFault& raw : grid.noted) {
    if (notes.size() >= FaultError::kMaxFaults) return;
    notes.push_back(describe(grid, raw, grid.noting_block, name));
  }
}

}  // namespace internal

std::vector<Fault> take_notes() {
  std::lock_guard lock(internal::notes_mutex);
  return std::exchange(internal::notes, {});
}

}  // namespace convlab::simt
