// Checks launch shapes, runs grids on a pool of workers, and throws the faults that they find.

#include "convlab/simt/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "convlab/base/error.h"
#include "convlab/base/symbol.h"
#include "convlab/simt/call_recorder.h"
#include "convlab/simt/counting.h"
#include "convlab/simt/describe.h"
#include "convlab/simt/fault.h"
#include "convlab/simt/grid_counts.h"
#include "convlab/simt/host_code.h"
#include "convlab/simt/host_faults.h"
#include "convlab/simt/in_flight.h"
#include "convlab/simt/last_writer.h"
#include "convlab/simt/launch_log.h"
#include "convlab/simt/scheduler.h"
#include "convlab/simt/settings.h"
#include "convlab/simt/warp.h"

namespace convlab::simt {
namespace {

using internal::Grid;
using internal::Scheduler;

// Schedulers of past launches, for reuse.
class SchedulerPool {
 public:
  static SchedulerPool& instance() {
    static SchedulerPool& pool =
        *new SchedulerPool;  // never destroyed: a launch may come from a static object's destructor
    return pool;
  }

  std::unique_ptr<Scheduler> take() {
    {
      std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto scheduler = std::move(idle_.back());
        idle_.pop_back();
        return scheduler;
      }
    }
    return std::make_unique<Scheduler>();
  }

  void give_back(std::unique_ptr<Scheduler> scheduler) {
    std::lock_guard lock(mutex_);
    idle_.push_back(std::move(scheduler));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Scheduler>> idle_;
};

// Ends the launch with an error of simt itself.
void give_up(Grid& grid, std::exception_ptr error) {
  {
    std::lock_guard lock(grid.mutex);
    grid.error = std::move(error);
    grid.next_block = grid.blocks;
  }
  if (grid.barrier) grid.barrier->abandon();
}

void work(Grid& grid) noexcept {
  try {
    auto scheduler = SchedulerPool::instance().take();
    scheduler->run(grid);
    SchedulerPool::instance().give_back(std::move(scheduler));
  } catch (...) {
    give_up(grid, std::current_exception());
  }
}

// Returns why no device supports a grid or block of this extent; "" if one does.
std::string wrong_extent(const char* what, LaunchExtent e, int64_t max_x, int64_t max_y, int64_t max_z) {
  if (e.x >= 1 && e.x <= max_x && e.y >= 1 && e.y <= max_y && e.z >= 1 && e.z <= max_z) return "";
  const bool empty = e.x < 1 || e.y < 1 || e.z < 1;
  return empty ? fmt::format("{} dimensions {} x {} x {} must be at least 1", what, e.x, e.y, e.z)
               : fmt::format("{} dimensions {} x {} x {} exceed the limit of {} x {} x {}", what, e.x, e.y, e.z, max_x,
                             max_y, max_z);
}

std::string wrong_extent(const LaunchShape& shape) {
  if (std::string why = wrong_extent("grid", shape.grid, kMaxGridX, kMaxGridYZ, kMaxGridYZ); !why.empty()) return why;
  const LaunchExtent& block = shape.block;
  if (std::string why = wrong_extent("block", block, kMaxBlockXY, kMaxBlockXY, kMaxBlockZ); !why.empty()) return why;
  const int64_t threads = block.x * block.y * block.z;
  if (threads <= kMaxBlockThreads) return "";
  return fmt::format("a block of {} x {} x {} has {} threads; the limit is {} threads", block.x, block.y, block.z,
                     threads, kMaxBlockThreads);
}

/// Returns what to do about an extent that no device supports.
std::string extent_remedy(const LaunchShape& shape) {
  const auto is_empty = [](LaunchExtent e) { return e.x < 1 || e.y < 1 || e.z < 1; };
  if (is_empty(shape.grid) || is_empty(shape.block)) {
    return "possibly a division rounds down to 0: round up, (n + TILE - 1) / TILE";
  }
  const LaunchExtent& block = shape.block;
  if (!wrong_extent("block", block, kMaxBlockXY, kMaxBlockXY, kMaxBlockZ).empty() ||
      block.x * block.y * block.z > kMaxBlockThreads) {
    return fmt::format("use a smaller block: at most {} threads, such as 32 x 32", kMaxBlockThreads);
  }
  return fmt::format("put the largest dimension into x, whose limit is {}, or let each block do more", kMaxGridX);
}

std::string too_much_shared(size_t static_bytes, size_t dynamic_bytes) {
  return fmt::format("{} bytes of static and {} bytes of dynamic shared memory; the limit is {} bytes per block",
                     static_bytes, dynamic_bytes, kMaxSharedBytes);
}

cuda::dim3 narrow(LaunchExtent e) {
  return {static_cast<unsigned>(e.x), static_cast<unsigned>(e.y), static_cast<unsigned>(e.z)};
}

}  // namespace

void check_launch(const LaunchShape& shape) {
  if (const std::string why = wrong_extent(shape); !why.empty()) throw bad_input("{}", why);
  if (shape.shared_bytes > kMaxSharedBytes) throw bad_input("{}", too_much_shared(0, shape.shared_bytes));
}

std::optional<FailedCall> refused_launch(const void* kernel, const LaunchShape& shape,
                                         std::optional<size_t> dynamic_limit) {
  const internal::Module& module = internal::Module::of(kernel);
  const internal::Symbol* const symbol = module.function_at(reinterpret_cast<uintptr_t>(kernel));
  const size_t static_bytes = symbol ? module.static_shared_bytes(*symbol) : 0;
  const size_t usual = kUsualSharedBytes - std::min(kUsualSharedBytes, static_bytes);
  FailedCall refused{.kernel = symbol ? short_symbol(symbol->mangled) : "a kernel",
                     .place = internal::place_of(module, {nullptr, shape.where}),
                     .code = 1,
                     .error = "cudaErrorInvalidValue: invalid argument"};
  if (std::string why = wrong_extent(shape); !why.empty()) {
    refused.code = 9;
    refused.help = extent_remedy(shape);
    refused.error = "cudaErrorInvalidConfiguration: invalid configuration argument";
    refused.why = std::move(why);
  } else if (static_bytes > kMaxSharedBytes || shape.shared_bytes > kMaxSharedBytes - static_bytes) {
    refused.why = too_much_shared(static_bytes, shape.shared_bytes);
  } else if (shape.shared_bytes > dynamic_limit.value_or(usual)) {
    refused.why = fmt::format("{} bytes of dynamic shared memory; the limit is {} bytes{}", shape.shared_bytes,
                              dynamic_limit.value_or(usual), dynamic_limit ? ", set by cudaFuncSetAttribute" : "");
    refused.help = fmt::format(
        "call cudaFuncSetAttribute({}, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) before the launch",
        refused.kernel);
  } else {
    return std::nullopt;
  }
  return refused;
}

namespace {

struct LargeBlocks {
  std::mutex mutex;
  std::map<std::string, int> threads;  // by kernel
};
LargeBlocks& large_blocks() {
  static LargeBlocks& one = *new LargeBlocks;  // never destroyed, as above
  return one;
}

void keep_large_block(const Grid& grid) {
  constexpr int kUsual = 512;
  if (grid.block_threads <= kUsual) return;
  std::lock_guard lock(large_blocks().mutex);
  int& most = large_blocks().threads[grid.kernel_name()];
  most = std::max(most, grid.block_threads);
}

}  // namespace

namespace {

void raise_faults(const Grid& grid) {
  std::vector<Fault> found;
  for (const auto& [block, faults] : grid.passed) {
    std::ranges::move(internal::describe(grid, faults, block), std::back_inserter(found));
  }
  if (!grid.faults.empty()) {
    std::ranges::move(internal::describe(grid, grid.faults, grid.first_fault_block), std::back_inserter(found));
  }
  internal::raise(std::move(found));
}

// A cooperative launch needs an OS thread for each block.
void run_blocks(Grid& grid) {
  const int64_t wanted = grid.barrier ? grid.blocks : std::min<int64_t>(workers(), grid.blocks);
  std::vector<std::jthread> helpers;
  try {
    for (int64_t i = 1; i < wanted; ++i) helpers.emplace_back([&grid] { work(grid); });
  } catch (const std::system_error&) {
    // The system starts no more threads: the running ones execute all blocks.
    if (grid.barrier) {
      give_up(grid,
              std::make_exception_ptr(unavailable("simt: cannot start an OS thread for each of the {} blocks of a "
                                                  "cooperative launch",
                                                  grid.blocks)));
    }
  }
  work(grid);
}

}  // namespace

std::map<std::string, int> take_large_blocks() {
  std::lock_guard lock(large_blocks().mutex);
  return std::exchange(large_blocks().threads, {});
}

void launch_grid(const KernelCall& call, const LaunchShape& shape) {
  if (in_kernel()) fail_nested_launch(shape.where);
  if (std::optional<FailedCall> refused = refused_launch(call.function, shape, kMaxSharedBytes)) {
    const std::string text = in_one_line(finding_of(*refused));
    keep_failed_call(std::move(*refused));
    throw bad_input("{}", text);
  }
  if (Recorder* const records = recorder()) {
    return shape.cooperative ? records->refuse("a cooperative launch") : records->launch(call, shape);
  }
  throw_host_faults();  // on a GPU the program would have crashed before this launch
  Grid grid;
  grid.call = call;
  grid.grid = narrow(shape.grid);
  grid.block = narrow(shape.block);
  grid.block_threads = static_cast<int>(shape.block.x * shape.block.y * shape.block.z);
  // The limits keep the product below 2^31 * 2^16 * 2^16 = 2^63.
  grid.blocks = shape.grid.x * shape.grid.y * shape.grid.z;
  grid.order = internal::BlockOrder(schedule(), grid.blocks);
  grid.shared_bytes = shape.shared_bytes;
  grid.where = shape.where;
  grid.module = &internal::Module::of(call.function);
  grid.ranges = internal::current_ranges();

  grid.kernel = grid.module->function_at(reinterpret_cast<uintptr_t>(call.function));
  grid.shared_arrays = &grid.module->shared_arrays_of(grid.kernel);
  if (grid.blocks <= internal::GlobalRaces::kMostBlocks) {
    grid.races.begin(internal::take_block_serials(static_cast<uint64_t>(grid.blocks)), grid.blocks);
  }
  grid.counted = internal::is_counting();
  grid.apart = internal::is_watched(*grid.module);
  grid.goes_on = internal::has_fault_receiver();
  keep_large_block(grid);
  if (shape.cooperative) grid.barrier = std::make_unique<internal::GridBarrier>(grid.blocks);
  run_blocks(grid);
  if (!grid.noted.empty() && internal::has_room_for_notes()) {
    internal::keep_notes(internal::describe(grid, grid.noted, grid.noting_block));
  }
  grid.printed.show(grid.first_fault_block);
  if (grid.error) std::rethrow_exception(grid.error);
  if (grid.faults.empty()) grid.report_candidates();
  raise_faults(grid);
  internal::remember_launch(grid);
  internal::log_launch(grid, shape.where);
  if (grid.apart) {
    internal::begin_kernel(call, fmt::format("kernel {}", grid.kernel_name()),
                           internal::place_of(*grid.module, {nullptr, shape.where}));
  }
  if (!grid.counted) return;
  if (std::optional<KernelCounts> counts = internal::counts_of(grid)) internal::keep_counts(std::move(*counts));
}

}  // namespace convlab::simt
