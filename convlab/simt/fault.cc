#include "convlab/simt/fault.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <mutex>
#include <numeric>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/base/resources.h"
#include "convlab/base/symbol.h"
#include "convlab/simt/element.h"
#include "convlab/simt/execution.h"
#include "convlab/simt/host_access.h"

namespace convlab::simt {
namespace {

// One mistake shows in several places: a missing barrier as two races, say.
std::string first_message(const std::vector<Fault>& faults) {
  if (faults.empty()) return "";
  const size_t others = faults.size() - 1;
  if (others == 0) return faults[0].message;
  return fmt::format("{}; {} other fault{}{} may follow from it", faults[0].message, others, others == 1 ? "" : "s",
                     faults[0].kernel.empty() ? "" : " of this block");
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

std::string text_of_file(const char* path) {
  std::ifstream file(source_file(path));
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string line_of_file(const char* path, uint32_t number) {
  std::ifstream file(source_file(path));
  std::string line;
  for (uint32_t i = 0; i < number; ++i) {
    if (!std::getline(file, line)) return "";
  }
  return line;
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
    case FaultKind::redundant_write:
      return "redundant write";
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
    case FaultKind::host_memory:
      return "host memory in a kernel";
    case FaultKind::host_access:
      return "device memory in host code";
    case FaultKind::not_awaited:
      return "missing synchronization";
    case FaultKind::copy_direction:
      return "wrong direction of a copy";
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
  // The compiler names the place where a macro is used.
  if (const std::string array = array_of_macro(text_of_file(site.file), name); !array.empty()) name = array;
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

// "what thread (0,0,0) read at conv.cu:31".
std::string describe_other_thread(const Grid& grid, const RawFault& raw, Fault& fault) {
  if (raw.other_code) fault.other_where = grid.module->where(raw.other_code);
  return fmt::format("what thread {} {}{}", to_text(*fault.other_thread), raw.other_wrote ? "wrote" : "read",
                     raw.other_code ? " at " + fault.other_where : "");
}

// "writes what thread (0,0,0) read at conv.cu:31, with no barrier between".
std::string describe_race_in_block(const Grid& grid, const RawFault& raw, Fault& fault) {
  if (raw.unawaited_copy) {
    return fmt::format("{} where a copy of thread {} goes, which that has not waited for",
                       raw.is_write ? "writes" : "reads", to_text(*fault.other_thread));
  }
  return fmt::format("{} {}, with no barrier between", raw.is_write ? "writes" : "reads",
                     describe_other_thread(grid, raw, fault));
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

// "4 blocks store the same value in 'sums', at conv.cu:31: ...": what happens, and then who is the first. `place`: "at
// sums[3]".
std::string describe_redundant_write(const Grid& grid, const RawFault& raw, const std::string& place, Fault& fault) {
  const std::string other =
      raw.other_block ? describe_other(grid, raw, fault) : describe_other_thread(grid, raw, fault);
  const int64_t count = raw.other_block ? grid.redundant.count(raw.address) : raw.writers;
  const std::string_view whose = raw.other_block ? "blocks" : raw.by_warps ? "warps of a block" : "threads of a block";
  std::string in = fault.array.empty() ? "" : fmt::format(" in '{}'", fault.array);
  if (raw.space == RawFault::Space::dynamic_shared) in = " in dynamic shared memory";
  return fmt::format(
      "{}: {} {} store the same value{}, at {}: kernel {}, block {}, thread {}: write of {} bytes {}: "
      "writes {}{}",
      name_of(fault.kind), count, whose, in, fault.where, fault.kernel, to_text(fault.block), to_text(fault.thread),
      raw.access_bytes, place, other, times_text(raw.times));
}

// ", past its end (32 elements)".
std::string beyond(const Fault& fault, int64_t bytes, int access_bytes) {
  const std::string_view where = fault.offset < 0       ? "before its start"
                                 : fault.offset < bytes ? "across its end"
                                                        : "past its end";
  return fmt::format(", {} ({})", where, elements_text(static_cast<size_t>(bytes), access_bytes));
}

// "at element 32 of 'tile', past its end (32 elements)".
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
  // Its dimensions are not known: the number is that of the element in memory.
  std::string element =
      fmt::format("at element {} of '{}'", element_index(fault.offset, raw.access_bytes), fault.array);
  if (fault.kind != FaultKind::out_of_bounds_shared) return element;
  return element + beyond(fault, bytes, raw.access_bytes);
}

// "at element 10 of what malloc() returned at conv.cu:31, past its end (10 elements)".
std::string describe_heap(const Grid& grid, const RawFault& raw, Fault& fault) {
  const std::optional<DeviceHeap::Block> block = DeviceHeap::instance().block_at(raw.address);
  if (!block) return "in the device's heap, where malloc() has returned nothing";
  fault.offset = static_cast<int64_t>(raw.address - block->base);
  fault.array = "malloc()";
  std::string element = fmt::format("at element {} of what malloc() returned at {}",
                                    element_index(fault.offset, raw.access_bytes), grid.module->where(block->given));
  if (fault.kind != FaultKind::out_of_bounds_global) return element;
  if (block->taken != nullptr)
    return fmt::format("{} and free() took back at {}", element, grid.module->where(block->taken));
  return element + beyond(fault, static_cast<int64_t>(block->bytes), raw.access_bytes);
}

// Why a kernel may not write to an element of the array, though it is there.
std::string describe_read_only(const Grid& grid, const RawFault& raw, const Fault& fault) {
  return fmt::format(", but '{}' is {}", fault.array,
                     grid.module->is_constant(raw.address)
                         ? "__constant__: a kernel cannot write to it (nvcc refuses it)"
                         : "read-only");
}

// "at x[100], past its end (100 elements)".
std::string describe_global(const Grid& grid, const RawFault& raw, Fault& fault) {
  const Range* range = nearest_range(*grid.ranges, raw.address);
  if (raw.address < 4096) return fmt::format("at address {:#x}: a null pointer", raw.address);
  if (DeviceHeap::instance().holds(raw.address)) return describe_heap(grid, raw, fault);
  const Symbol* symbol = grid.module->object_at(raw.address);
  if (range && range->name.empty() && !symbol) symbol = grid.module->object_at(range->base);
  const bool inside = range && raw.address - range->base < range->bytes;
  if (symbol && !inside) {
    const uintptr_t begin = symbol->begin + grid.module->bias();
    fault.array = short_symbol(symbol->mangled);
    fault.offset = static_cast<int64_t>(raw.address - begin);
    const std::string element = "at " + element_text(fault.array, symbol->bytes, fault.offset, raw.access_bytes);
    const bool writes_constant =
        raw.kind == FaultKind::out_of_bounds_global && raw.is_write && grid.module->is_constant(raw.address);
    return writes_constant ? element + describe_read_only(grid, raw, fault) : element;
  }
  if (const std::optional<Released> released = inside ? std::nullopt : released_at(raw.address)) {
    fault.array = released->name;
    fault.offset = static_cast<int64_t>(raw.address - released->base);
    return fmt::format("at {}, memory that {}",
                       element_text(fault.array, released->bytes, fault.offset, raw.access_bytes), released->how);
  }
  constexpr uintptr_t kNear = uintptr_t{1} << 30;  // beyond, the nearest allocation has nothing to do with it
  if (!range || (raw.address < range->base - kNear && range->base > kNear) ||
      (raw.address > range->base && raw.address - range->base > range->bytes + kNear)) {
    return fmt::format("at address {:#x}, where no device memory is near", raw.address);
  }
  fault.array = range->name.empty() && symbol ? short_symbol(symbol->mangled) : range->name;
  fault.offset = static_cast<int64_t>(raw.address - range->base);
  const int64_t past = fault.offset - static_cast<int64_t>(range->bytes);
  std::string element = "at " + element_text(fault.array, range->bytes, fault.offset, raw.access_bytes);
  if (fault.kind != FaultKind::out_of_bounds_global) return element;
  if (inside && past + raw.access_bytes <= 0) return element + describe_read_only(grid, raw, fault);
  return element + beyond(fault, static_cast<int64_t>(range->bytes), raw.access_bytes);
}

// "at x[4]" and its like; "" where the fault is in no memory.
std::string describe_place(const Grid& grid, const RawFault& raw, Fault& fault) {
  switch (raw.space) {
    case RawFault::Space::none:
      break;
    case RawFault::Space::static_shared:
      return describe_static_shared(grid, raw, fault);
    case RawFault::Space::dynamic_shared:
      fault.array = "dynamic shared memory";
      fault.offset = static_cast<int64_t>(raw.address);
      return fmt::format("at {} ({})", element_text(fault.array, grid.shared_bytes, fault.offset, raw.access_bytes),
                         elements_text(grid.shared_bytes, raw.access_bytes));
    case RawFault::Space::global:
      return describe_global(grid, raw, fault);
  }
  return "";
}

// What is wrong with the access to what nothing wrote.
std::string_view describe_unwritten(const Grid& grid, const RawFault& raw) {
  if (raw.space == RawFault::Space::global && grid.module->is_unset_constant(raw.address)) {
    return "it is __constant__, and nothing set it: no cudaMemcpyToSymbol(), no initializer";
  }
  return raw.is_write ? "an atomic operation adds to what nothing has written" : "nothing has written it";
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
    if (raw.other_block && raw.kind != FaultKind::redundant_write) {
      detail = fmt::format("{} {}, and nothing orders the two", raw.is_write ? "writes" : "reads",
                           describe_other(grid, raw, fault));
    }
    if (raw.kind == FaultKind::uninitialised_global || raw.kind == FaultKind::uninitialised_shared) {
      detail = describe_unwritten(grid, raw);
    }
    std::string place = describe_place(grid, raw, fault);
    if (raw.kind == FaultKind::redundant_write) {
      fault.message = describe_redundant_write(grid, raw, place, fault);
      return fault;
    }
    if (raw.kind == FaultKind::host_memory || raw.kind == FaultKind::out_of_bounds_global) {
      const std::string host = describe_host_memory(grid, raw.address, raw.access_bytes);
      if (!host.empty()) {
        fault.kind = FaultKind::host_memory;
        fault.array.clear();
        fault.offset = 0;
        place = "at " + host;
        detail = "a GPU would end with cudaErrorIllegalAddress";
      }
    }
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

// What threads race for behind a barrier that some do not reach follows from that.
void put_causes_first(std::vector<Fault>& faults) {
  std::stable_partition(faults.begin(), faults.end(), [](const Fault& each) {
    return each.kind == FaultKind::divergent_barrier || each.kind == FaultKind::divergent_warp;
  });
}

std::mutex notes_mutex;
std::vector<Fault> notes;  // of all launches since the last question

}  // namespace

std::string place_of(const Module& module, const Site& site) {
  if (site.where.line() != 0) return file_and_line(site.where.file_name(), site.where.line());
  return site.code ? module.where(site.code) : "a line that is not known";
}

std::string kernel_name_of(const Grid& grid) {
  if (grid.kernel) return short_symbol(grid.kernel->mangled);
  return fmt::format("at {:#x}", reinterpret_cast<uintptr_t>(grid.call.function) - grid.module->bias());
}

std::vector<Fault> describe(const Grid& grid) {
  const std::string name = kernel_name_of(grid);
  std::vector<Fault> faults;
  for (const RawFault& raw : grid.faults) faults.push_back(describe(grid, raw, grid.first_fault_block, name));
  put_causes_first(faults);
  return faults;
}

void keep_notes(const Grid& grid) {
  if (grid.noted.empty()) return;
  const std::string name = kernel_name_of(grid);
  std::lock_guard lock(notes_mutex);
  for (const RawFault& raw : grid.noted) {
    if (notes.size() >= FaultError::kMaxFaults) break;
    notes.push_back(describe(grid, raw, grid.noting_block, name));
  }
  put_causes_first(notes);
}

}  // namespace internal

std::vector<Fault> take_notes() {
  std::lock_guard lock(internal::notes_mutex);
  return std::exchange(internal::notes, {});
}

}  // namespace convlab::simt
