// Turns what workers detected into readable findings with names, source lines, and help.

#include "convlab/simt/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <utility>

#include "convlab/base/symbol.h"
#include "convlab/base/text.h"
#include "convlab/simt/barriers.h"
#include "convlab/simt/bounds_help.h"
#include "convlab/simt/causes.h"
#include "convlab/simt/code_text.h"
#include "convlab/simt/grid.h"
#include "convlab/simt/host_memory.h"
#include "convlab/simt/source_text.h"
#include "convlab/simt/target.h"

namespace convlab::simt::internal {
namespace {

// Returns the number of elements in "'float [16][17]'".
size_t elements_of(std::string_view type) {
  size_t product = 1;
  for (size_t at = type.find('['); at != std::string_view::npos; at = type.find('[', at + 1)) {
    product *= std::max<size_t>(1, std::strtoull(type.data() + at + 1, nullptr, 10));
  }
  return product;
}

// Returns the shared array whose bounds an index left, or nullptr if it was not a shared array. The source has its name
// at the position that the compiler reports; without the source, the kernel's only shared array is assumed.
const Symbol* find_subscripted(const Grid& grid, const SubscriptSite& site, std::string& name) {
  name = subscripted_name(source_line(site.file, static_cast<int>(site.line)), static_cast<int>(site.column));
  // For a macro, the compiler reports the position where it is used.
  if (const std::string array = array_of_macro(source_text(site.file), name); !array.empty()) name = array;
  std::vector<const Symbol*> own;
  if (grid.kernel) own = grid.module->static_shared_of(*grid.kernel);
  if (name.empty()) return own.size() == 1 ? own.front() : nullptr;
  for (const Symbol* symbol : own) {
    if (short_symbol(symbol->mangled) == name) return symbol;
  }
  // It may be an array of a device function: the name and the type must match.
  for (const Symbol* other : grid.shared_arrays->symbols) {
    if (short_symbol(other->mangled) == name && other->bytes % elements_of(site.array_type->name) == 0) return other;
  }
  return nullptr;
}

// Returns the kernel's name. Template arguments of more than a line are left out: those of CUB's and Thrust's kernels
// have the functors' types.
std::string readable_kernel_name(const Grid& grid) {
  constexpr size_t kLongest = 100;
  std::string name = grid.kernel_name();
  return name.size() <= kLongest ? name : text_before(name, '<') + "<...>";
}

constexpr std::string_view kBarrierOutside =
    "move __syncthreads() out of the branch, so that all threads of the block call the same one";

/// Describes one fault.
class Description {
 public:
  Description(const Grid& grid, const RawFault& raw, int64_t block) : grid_(grid), raw_(raw) {
    fault_.kind = raw.kind;
    fault_.kernel = readable_kernel_name(grid);
    fault_.block = grid.block_position(block);
    fault_.thread = grid.thread_position(raw.thread);
    if (raw.other_thread >= 0 && raw.other_thread < grid.block_threads) {
      fault_.other_thread = grid.thread_position(raw.other_thread);
    }
    fault_.access_bytes = raw.access_bytes;
    fault_.is_write = raw.is_write;
    fault_.times = raw.times;
  }

  Fault take() {
    if (raw_.subscript) {
      describe_subscript();
    } else {
      here_.place = place_of(*grid_.module, {raw_.code, raw_.location});
      target_ = target_of(grid_, raw_, here_.place);
      fault_.array = target_.array;
      fault_.offset = target_.offset;
      describe_kind();
    }
    here_.thread = to_text(fault_.thread);
    if (here_.subject.empty()) here_.subject = raw_.subscript ? fault_.array : target_.subject;
    here_.writes_it = raw_.is_write;
    finding_.kind = name_of(fault_.kind);
    finding_.labels.insert(finding_.labels.begin(), std::move(here_));
    for (Label& label : finding_.labels) {
      const std::filesystem::path path = source_file(label.place.file);
      if (label.place.line != 0 && !path.empty()) label.place.file = path.string();
    }
    finding_.kernel = fault_.kernel;
    finding_.block = to_text(fault_.block);
    finding_.array = fault_.array;
    if (raw_.times > 1) finding_.notes.push_back(fmt::format("{} more at this line in the block", raw_.times - 1));
    if (!target_.meaning.empty()) finding_.notes.push_back(fmt::format("{} is {}", target_.element, target_.meaning));
    if (!target_.host_name.empty() && !fault_.other_thread) {
      finding_.notes.push_back(fmt::format("the host passes {} as '{}'", target_.host_name, target_.array));
    }
    fault_.finding = std::move(finding_);
    return std::move(fault_);
  }

 private:
  std::string_view verb() const { return raw_.is_write ? "writes" : "reads"; }
  std::string thread() const { return "thread " + to_text(fault_.thread); }
  std::string thread_does() const { return fmt::format("{} {}{}", thread(), verb(), bytes_text()); }
  // Returns " 12 bytes at" for a memcpy, whose access size is not that of one element.
  std::string bytes_text() const {
    const auto bytes = static_cast<unsigned>(raw_.access_bytes);
    return std::has_single_bit(bytes) && bytes <= 16 ? "" : fmt::format(" {} bytes at", bytes);
  }

  void set_text(std::string text) { finding_.text = std::move(text); }
  void show_history() {
    if (!target_.history.empty()) target_.host_name.clear();  // the labels have it
    std::ranges::move(target_.history, std::back_inserter(finding_.labels));
  }

  void describe_subscript() {
    const SubscriptSite& site = *raw_.subscript;
    const Symbol* symbol = find_subscripted(grid_, site, fault_.array);
    if (symbol) fault_.array = short_symbol(symbol->mangled);
    if (!symbol) fault_.kind = FaultKind::out_of_bounds_local;
    here_.place = {site.file, static_cast<int>(site.line), 0};
    const std::string named = fault_.array.empty() ? "" : fmt::format(" '{}'", fault_.array);
    set_text(fmt::format("index out of bounds of {}array{}", symbol ? "shared " : "", named));
    std::string_view type = site.array_type->name;
    if (type.starts_with('\'') && type.ends_with('\'')) type = type.substr(1, type.size() - 2);
    here_.text = fmt::format("{} uses index {}; the type is {}", thread(), raw_.index, type);
    finding_.help = "declare the array larger, or keep the index inside of it";
  }

  // ---- kinds

  void describe_kind() {
    switch (fault_.kind) {
      case FaultKind::out_of_bounds_global:
      case FaultKind::host_memory:
        return describe_out_of_global();
      case FaultKind::out_of_bounds_shared:
        return describe_out_of_shared();
      case FaultKind::misaligned:
        return describe_misaligned();
      case FaultKind::uninitialized_shared:
      case FaultKind::uninitialized_global:
        return describe_uninitialized();
      case FaultKind::race_shared:
        return describe_race_in_block();
      case FaultKind::race_global:
        return raw_.other_block ? describe_race_of_blocks() : describe_race_in_block();
      case FaultKind::redundant_write:
        return describe_redundant_write();
      case FaultKind::divergent_barrier:
      case FaultKind::missed_barrier:
        return describe_divergent_barrier();
      case FaultKind::stuck:
        return describe_stuck();
      default:
        return describe_instruction();
    }
  }

  void describe_out_of_global() {
    if (const std::string host = describe_host_memory(grid_, raw_.address, raw_.access_bytes); !host.empty()) {
      fault_.kind = FaultKind::host_memory;
      fault_.array.clear();
      fault_.offset = 0;
      target_ = {};
      set_text("kernel accesses host memory");
      here_.text = fmt::format("{} {}", thread_does(), host);
      finding_.notes.emplace_back("a GPU ends the kernel with cudaErrorIllegalAddress");
      finding_.help = "allocate the array with cudaMalloc, copy it with cudaMemcpy, and pass the device pointer";
      return;
    }
    if (!raw_.headline.empty()) {
      set_text(raw_.headline);
      here_.text = fmt::format("{}: {}", thread(), raw_.detail);
      return;
    }
    here_.text = fmt::format("{} {}", thread_does(), target_.element);
    if (raw_.address < 4096) {
      set_text("null pointer access");
      finding_.help = "pass a pointer to device memory; is an allocation or an argument missing?";
    } else if (!target_.read_only.empty()) {
      set_text(fmt::format("write to {}", target_.memory));
      here_.text += ", but " + target_.read_only;
      finding_.help = target_.is_constant ? "set it from the host with cudaMemcpyToSymbol, or declare it __device__"
                                          : "write to an output array instead";
    } else if (target_.is_released) {
      set_text(fmt::format("use of {} after it was freed", target_.memory));
      show_history();
      finding_.help = "free it after its last use";
    } else {
      set_text(fmt::format("out-of-bounds {} of {}", raw_.is_write ? "write" : "read", target_.memory));
      if (!target_.beyond.empty()) here_.text += ", " + target_.beyond;
      show_history();
      finding_.help = bounds_help(grid_, raw_, target_, fault_.block);
      if (grid_.where.line() != 0) finding_.labels.push_back(launch_label(grid_));
    }
  }

  void describe_out_of_shared() {
    if (!raw_.detail.empty()) {
      set_text("asynchronous copy to memory that is not shared");
      here_.text = fmt::format("{}: {}", thread(), raw_.detail);
      return;
    }
    set_text(fmt::format("out-of-bounds {} of {}", raw_.is_write ? "write" : "read", target_.memory));
    here_.text = fmt::format("{} {}, {}", thread_does(), target_.element, target_.beyond);
    if (raw_.space == RawFault::Space::dynamic_shared) {
      finding_.labels.push_back(dynamic_shared_label(grid_, raw_));
      finding_.help = "pass enough bytes as the third launch argument, <<<grid, block, bytes>>>, or correct the index";
    } else {
      finding_.help = "declare the array larger, or keep the index inside of it";
    }
  }

  void describe_misaligned() {
    set_text("misaligned address");
    if (raw_.detail.empty()) {
      here_.text = fmt::format("{} {} bytes at {}, which is not aligned to {} bytes", thread_does(), raw_.access_bytes,
                               target_.element, raw_.access_bytes);
      finding_.help =
          fmt::format("use an index at which {} bytes are aligned, or access single elements", raw_.access_bytes);
    } else {
      here_.text = fmt::format("{}: {}", thread(), raw_.detail);
    }
  }

  void describe_uninitialized() {
    set_text(fmt::format("{} of uninitialized {}", raw_.is_write ? "atomic update" : "read", target_.memory));
    here_.text = fmt::format("{} {}", raw_.is_write ? thread() + " adds to" : thread_does(), target_.element);
    if (target_.is_unset) {
      fault_.kind = FaultKind::uninitialized_constant;
      here_.text += ", which the host never set";
      finding_.help = "set it with cudaMemcpyToSymbol before the launch, or give it an initializer";
    } else if (raw_.is_write) {
      here_.text += ", which was never written";
      finding_.help = "set the array to zero before the launch, for example with cudaMemset";
    } else if (fault_.kind == FaultKind::uninitialized_shared) {
      here_.text += ", which no thread of the block has written";
      finding_.help = "load the element before it is read; possibly a halo or a tail of the tile is not loaded";
    } else if (target_.is_blank) {
      here_.text += "; nothing has been copied to the array";
      finding_.help = "copy the data before the launch: cudaMemcpy(destination, source, bytes, cudaMemcpyHostToDevice)";
    } else {
      here_.text += ", which was never written";
      finding_.help = "possibly a copy to the device is missing or too short, or a sum has no initial value";
    }
    show_history();
  }

  /// Returns the other side of a race as a label.
  Label other_side(std::string who, bool wrote, SourcePlace place) const {
    return {.place = std::move(place),
            .text = fmt::format("{} {} {}", who, wrote ? "writes" : "reads", target_.element),
            .thread = fault_.other_thread ? to_text(*fault_.other_thread) : "",
            .subject = target_.subject,
            .writes_it = wrote};
  }

  void describe_race_in_block() {
    here_.text = fmt::format("{} {}", thread_does(), target_.element);
    const std::string other_thread = "thread " + to_text(*fault_.other_thread);
    if (raw_.unawaited_copy) {
      set_text(fmt::format("{} of {} during an asynchronous copy", raw_.is_write ? "write" : "read", target_.memory));
      here_.text += fmt::format(", where a copy of {} has not arrived", other_thread);
      finding_.help = "wait for the copy, for example with __pipeline_wait_prior(0), and then call __syncthreads()";
      return;
    }
    set_text(fmt::format("data race on {}", target_.memory));
    Label other = other_side(other_thread, raw_.other_wrote,
                             raw_.other_code ? grid_.module->place(raw_.other_code) : SourcePlace{});
    other.text += "; no barrier between";
    const int line = here_.place.line, other_line = other.place.line;
    const bool same_file = other.place.file == here_.place.file && line != 0 && other_line != 0;
    const int first = std::min(line, other_line), last = std::max(line, other_line);
    const std::string source = same_file ? source_text(here_.place.file) : "";
    const int barrier = barrier_between(source, first, last);
    Label skipped{};
    if (barrier != 0 && raw_.before_barriers) {
      skipped = {.place = {here_.place.file, barrier, 0},
                 .text = fmt::format("{} does not wait here", line == last ? thread() : other_thread),
                 .subject = "__syncthreads"};
      finding_.help = std::string(kBarrierOutside);
    } else if (same_file && first < last) {
      finding_.help = missing_barrier(source, first, last);
    } else if (same_file && raw_.is_write && raw_.other_wrote) {
      finding_.help = "possibly two threads compute the same index; to add up results, use atomicAdd";
    } else if (same_file && updates_in_place(source_line(here_.place.file, line), target_.subject)) {
      finding_.help = "threads change the element at once: use an atomic operation such as atomicAdd";
    } else if (same_file) {
      finding_.help = fmt::format("split line {}: put __syncthreads() between the write and the read", line);
    } else {
      finding_.help = "add __syncthreads() between the two accesses";
    }
    finding_.labels.push_back(std::move(other));
    if (!skipped.text.empty()) finding_.labels.push_back(std::move(skipped));
  }

  /// Returns the other block's side of a race, without a line if none is known.
  Label other_block_side() {
    const OtherAccess& other = *raw_.other_block;
    if (other.block < 0) return {.text = "another block reads " + target_.element};
    fault_.other_block = grid_.block_position(other.block);
    fault_.other_thread = grid_.thread_position(other.thread);
    const bool is_known = other.site.code || other.site.where.line() != 0;
    return other_side(fmt::format("thread {} of block {}", to_text(*fault_.other_thread), to_text(*fault_.other_block)),
                      other.wrote, is_known ? place_of(*grid_.module, other.site) : SourcePlace{});
  }

  void describe_race_of_blocks() {
    set_text(fmt::format("data race between blocks on {}", target_.memory));
    here_.text = fmt::format("{} of block {} {} {}", thread(), to_text(fault_.block), verb(), target_.element);
    Label other = other_block_side();
    other.text += grid_.barrier ? "; no grid.sync() between" : "; blocks run in any order";
    finding_.labels.push_back(std::move(other));
    const bool both_write = raw_.is_write && raw_.other_block->wrote;
    finding_.help = both_write
                        ? "possibly a bounds check or an index is wrong, so that two blocks compute the same element; "
                          "to add up results, use atomicAdd"
                    : grid_.barrier ? "call grid.sync() between the two accesses, or use atomic operations"
                                    : "let one kernel write and the next one read, or use atomic operations";
  }

  void describe_redundant_write() {
    Label other = raw_.other_block ? other_block_side()
                                   : other_side("thread " + to_text(*fault_.other_thread), true,
                                                raw_.other_code ? grid_.module->place(raw_.other_code) : SourcePlace{});
    const int64_t count = raw_.other_block ? grid_.redundant.count(raw_.address) : raw_.writers;
    const std::string_view who = raw_.other_block ? "blocks"
                                 : raw_.by_warps  ? "warps of a block"
                                                  : "threads of a block";
    set_text(fmt::format("redundant write: {} {} store the same value in {}", count, who, target_.memory));
    here_.text = fmt::format("{} {}", thread_does(), target_.element);
    other.text += ", the same value";
    finding_.labels.push_back(std::move(other));
    finding_.help = "let one thread write the element; possibly a bounds check is missing";
  }

  void describe_grid_barrier() {
    here_.subject = "sync";
    if (raw_.waiting == 0) {
      set_text("grid.sync() in a launch that is not cooperative");
      here_.text = thread();
      if (grid_.where.line() != 0) {
        finding_.labels.push_back({.place = place_of(*grid_.module, {nullptr, grid_.where}), .text = "launched here"});
      }
      finding_.help = "launch the kernel with cudaLaunchCooperativeKernel()";
      return;
    }
    set_text("grid.sync() is not reached by all threads of the grid");
    here_.text = fmt::format("{} of block {} waits here", thread(), to_text(fault_.block));
    const std::string other =
        raw_.other_block ? fmt::format("block {}", to_text(grid_.block_position(raw_.other_block->block)))
                         : fmt::format("thread {} of the block", to_text(fault_.other_thread.value_or(Position{})));
    if (raw_.other_location.line() != 0) {
      finding_.labels.push_back(
          {.place = place_of(*grid_.module, {nullptr, raw_.other_location}), .text = other + " waits here instead"});
    } else {
      finding_.labels.push_back({.text = other + " has exited"});
    }
    finding_.help = "let all threads of all blocks call grid.sync() equally often, outside of branches";
  }

  void describe_divergent_barrier() {
    if (raw_.of_grid) return describe_grid_barrier();
    set_text("__syncthreads() is not reached by all threads of the block");
    here_.subject = "__syncthreads";
    here_.text = thread() + " waits here";
    if (raw_.waiting > 1) here_.text += fmt::format(", with {} more", raw_.waiting - 1);
    if (!fault_.other_thread) return;
    const std::string other = "thread " + to_text(*fault_.other_thread);
    if (raw_.other_location.line() != 0) {
      finding_.labels.push_back({.place = place_of(*grid_.module, {nullptr, raw_.other_location}),
                                 .text = other + " waits here instead",
                                 .thread = to_text(*fault_.other_thread),
                                 .subject = "__syncthreads"});
      finding_.help = std::string(kBarrierOutside);
    } else {
      finding_.labels.push_back({.text = other + " has exited", .thread = to_text(*fault_.other_thread)});
      finding_.help = exited_before_barrier(source_text(here_.place.file), here_.place.line);
    }
  }

  void describe_stuck() {
    if (!raw_.headline.empty()) {
      set_text(raw_.headline);
      here_.text = thread() + " waits here";
      finding_.help =
          "possibly a barrier expects more arrivals than there are, or a thread that should arrive waits too";
      return;
    }
    set_text(fmt::format("no progress {}", raw_.detail));
    here_.text = thread() + " is here";
    if (target_.element.empty()) {
      finding_.help =
          "possibly an endless loop, or a block that waits for one that has not started yet, or for the host: simt "
          "runs a kernel to its end when it is launched";
      return;
    }
    const std::string element = std::exchange(target_.element, "");
    target_.meaning.clear();
    here_.text += fmt::format(" and has last read {}", element);
    if (raw_.other_code) {
      finding_.labels.push_back({.place = grid_.module->place(raw_.other_code),
                                 .text = "it reads it here",
                                 .subject = here_.subject.empty() ? fault_.array : here_.subject});
    }
    finding_.help = fmt::format(
        "if it waits until another thread writes {}, declare that volatile, with a __threadfence() before the write: "
        "otherwise the compiler may read it only once",
        element);
  }

  // Describes the fault of an instruction, or of a thread that cannot continue.
  void describe_instruction() {
    here_.text = raw_.detail.empty() ? thread() : fmt::format("{}: {}", thread(), raw_.detail);
    switch (fault_.kind) {
      case FaultKind::divergent_warp:
        set_text("warp operation is not reached by all lanes of its mask");
        finding_.help = "call it outside of the branch, or with a mask of the lanes that call it";
        return;
      case FaultKind::inactive_lane:
      case FaultKind::absent_source:
        set_text("warp operation with an inactive lane");
        finding_.help = "let all lanes of the mask call it, and read only lanes that do";
        return;
      case FaultKind::stack_overflow:
        set_text("stack overflow");
        finding_.help = "make the thread's local arrays smaller, or its recursion less deep";
        return;
      case FaultKind::division:
        set_text("integer division by zero, or a quotient that does not fit");
        return;
      case FaultKind::exception:
        set_text("exception thrown in a kernel");
        return;
      case FaultKind::trap:
        set_text("__trap() ends the kernel");
        return;
      case FaultKind::assertion:
        set_text(fmt::format("assertion '{}' failed", raw_.detail));
        here_.text = thread();
        return;
      case FaultKind::no_polynomial:
        set_text(fmt::format("the kernel {}, so its result is not a polynomial of them", raw_.detail));
        here_.text = thread();
        return;
      case FaultKind::nested_launch:
        set_text("a kernel launches a kernel: simt does not support dynamic parallelism");
        finding_.help = "launch it in host code, after this kernel";
        return;
      default:
        set_text(raw_.headline.empty() ? "invalid instruction or address" : raw_.headline);
        return;
    }
  }

  const Grid& grid_;
  const RawFault& raw_;
  Fault fault_;
  Finding finding_;
  Label here_;
  Target target_;
};

}  // namespace

std::vector<Fault> describe(const Grid& grid, const std::vector<RawFault>& raw, int64_t block) {
  std::vector<Fault> faults;
  for (const RawFault& each : raw) faults.push_back(Description(grid, each, block).take());
  keep_causes(faults);
  return faults;
}

}  // namespace convlab::simt::internal
