#include "convlab/simt/launch.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "convlab/base/symbol.h"
#include "convlab/simt/execution.h"
#include "convlab/simt/last_writer.h"
#include "convlab/simt/recorder.h"

namespace convlab::simt {
namespace {

using internal::Grid;
using internal::Worker;

std::atomic<int> worker_count{0};
std::atomic<Strictness> strictness_now{Strictness::strict};
std::atomic<Recorder*> recorder_now{nullptr};

int usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
  return std::max(1u, std::thread::hardware_concurrency());
}

// Workers of past launches, for later ones.
class WorkerPool {
 public:
  static WorkerPool& instance() {
    static WorkerPool& pool = *new WorkerPool;  // never destroyed: a launch may come from a static object's destructor
    return pool;
  }

  std::unique_ptr<Worker> take() {
    {
      std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto worker = std::move(idle_.back());
        idle_.pop_back();
        return worker;
      }
    }
    return std::make_unique<Worker>();
  }

  void give_back(std::unique_ptr<Worker> worker) {
    std::lock_guard lock(mutex_);
    idle_.push_back(std::move(worker));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> idle_;
};

void work(Grid& grid) noexcept {
  try {
    auto worker = WorkerPool::instance().take();
    worker->run(grid);
    WorkerPool::instance().give_back(std::move(worker));
  } catch (...) {
    std::lock_guard lock(grid.mutex);
    grid.error = std::current_exception();
    grid.next_block = grid.blocks;
  }
}

void check_extent(const char* what, LaunchExtent e, int64_t max_x, int64_t max_y, int64_t max_z) {
  if (e.x >= 1 && e.x <= max_x && e.y >= 1 && e.y <= max_y && e.z >= 1 && e.z <= max_z) return;
  throw bad_input("a launch's {} of {} x {} x {} is not within 1..{} x 1..{} x 1..{}", what, e.x, e.y, e.z, max_x,
                  max_y, max_z);
}

cuda::dim3 narrow(LaunchExtent e) {
  return {static_cast<unsigned>(e.x), static_cast<unsigned>(e.y), static_cast<unsigned>(e.z)};
}

}  // namespace

void set_workers(int count) { worker_count = std::max(0, count); }

void set_recorder(Recorder* recorder) { recorder_now = recorder; }
Recorder* recorder() { return recorder_now; }

void set_strictness(Strictness strictness) { strictness_now = strictness; }

bool internal::is_lenient() { return strictness_now == Strictness::lenient; }

int workers() {
  const int count = worker_count;
  return count > 0 ? count : usable_cpus();
}

void check_launch(const LaunchShape& shape) {
  check_extent("grid", shape.grid, kMaxGridX, kMaxGridYZ, kMaxGridYZ);
  check_extent("block", shape.block, kMaxBlockXY, kMaxBlockXY, kMaxBlockZ);
  const int64_t threads = shape.block.x * shape.block.y * shape.block.z;
  if (threads > kMaxBlockThreads) {
    throw bad_input("a launch's block of {} x {} x {} has {} threads, more than {}", shape.block.x, shape.block.y,
                    shape.block.z, threads, kMaxBlockThreads);
  }
  if (shape.shared_bytes > kMaxSharedBytes) {
    throw bad_input("a launch wants {} bytes of dynamic shared memory; a block has {}", shape.shared_bytes,
                    kMaxSharedBytes);
  }
}

void launch_grid(const KernelCall& call, const LaunchShape& shape) {
  check_launch(shape);
  if (Recorder* const records = recorder()) return records->launch(call, shape);
  Grid grid;
  grid.call = call;
  grid.grid = narrow(shape.grid);
  grid.block = narrow(shape.block);
  grid.block_threads = static_cast<int>(shape.block.x * shape.block.y * shape.block.z);
  // Below 2^31 * 2^16 * 2^16 = 2^63.
  grid.blocks = shape.grid.x * shape.grid.y * shape.grid.z;
  grid.shared_bytes = shape.shared_bytes;
  grid.module = &internal::Module::of(call.function);
  grid.ranges = internal::current_ranges();

  grid.kernel = grid.module->function_at(reinterpret_cast<uintptr_t>(call.function));
  grid.shared_arrays = &grid.module->shared_arrays_of(grid.kernel);
  grid.races.begin(grid.blocks);
  grid.counted = internal::is_counting();
  const internal::Symbol* const kernel = grid.kernel;
  const size_t static_bytes = kernel ? grid.module->static_shared_bytes(*kernel) : 0;
  if (static_bytes > kMaxSharedBytes || shape.shared_bytes > kMaxSharedBytes - static_bytes) {
    throw bad_input("kernel {} wants {} bytes of static and {} of dynamic shared memory; a block has {} in all",
                    kernel ? short_symbol(kernel->mangled) : "", static_bytes, shape.shared_bytes, kMaxSharedBytes);
  }

  const int64_t helpers = std::min<int64_t>(workers(), grid.blocks) - 1;
  {
    std::vector<std::jthread> threads_beside;
    for (int64_t i = 0; i < helpers; ++i) {
      try {
        threads_beside.emplace_back([&grid] { work(grid); });
      } catch (const std::system_error&) {
        break;  // the system starts no more threads: the running ones do all of it
      }
    }
    work(grid);
  }
  internal::keep_notes(grid);
  grid.printed.show(grid.first_fault_block);
  if (grid.error) std::rethrow_exception(grid.error);
  if (grid.faults.empty()) internal::report_doubts(grid);
  if (!grid.faults.empty()) throw FaultError(internal::describe(grid));
  internal::remember_launch(grid);
  if (grid.counted) internal::keep_counts(grid);
}

}  // namespace convlab::simt
