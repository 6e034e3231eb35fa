// Implements simt, CUDA kernels executed and checked on the host, as a device.

#include "convlab/device/simt.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "convlab/base/error.h"
#include "convlab/base/limits.h"
#include "convlab/device/cpu.h"
#include "convlab/device/simt_launches.h"
#include "convlab/device/thread_pool.h"
#include "convlab/simt/code_place.h"
#include "convlab/simt/counting.h"
#include "convlab/simt/cuda/runtime.h"
#include "convlab/simt/element.h"
#include "convlab/simt/failed_call.h"
#include "convlab/simt/fault.h"
#include "convlab/simt/field_element.h"
#include "convlab/simt/host_arrays.h"
#include "convlab/simt/host_faults.h"
#include "convlab/simt/last_writer.h"
#include "convlab/simt/launch.h"
#include "convlab/simt/launch_log.h"
#include "convlab/simt/memory.h"
#include "convlab/simt/progress.h"
#include "convlab/simt/settings.h"
#include "convlab/simt/static_shared.h"

namespace convlab {
namespace {

/// Runs work synchronously when it is enqueued.
class SimtStream final : public Stream {
 public:
  SimtStream(const DeviceCaps& caps, ThreadPool& threads) : caps_(caps), threads_(threads) {}
  const DeviceCaps& caps() const override { return caps_; }
  void upload(void* to, const void* from, size_t bytes) override { simt::copy_to_device(to, from, bytes); }
  void download(void* to, const void* from, size_t bytes) override { simt::copy_to_host(to, from, bytes); }
  void fill(void* memory, int byte, size_t bytes) override { simt::fill_on_device(memory, byte, bytes); }
  void synchronize() override { check_simt_host_code(); }
  ThreadPool* threads() override { return &threads_; }
  void* native() override { return nullptr; }

 private:
  const DeviceCaps& caps_;
  ThreadPool& threads_;
};

class SimtDevice final : public Device {
 public:
  explicit SimtDevice(const DeviceOptions& options) : threads_(options.threads) {
    simt::set_workers(threads_.size());
    caps_ = {.kind = DeviceKind::simt,
             .name = std::string(name_of(DeviceKind::simt)),
             .description = fmt::format("CUDA kernels executed and checked on the CPU: {}, {} thread{}", cpu_name(),
                                        threads_.size(), threads_.size() == 1 ? "" : "s"),
             .compute_capability = 80,
             .multiprocessors = 2,     // few, so that blocks have several work items, as on a GPU
             .cache_bytes = 64 << 10,  // small, so that arrays exceed it, as on a GPU
             .shared_bytes_per_block = simt::kMaxSharedBytes,
             .threads = threads_.size(),
             .memory_bytes = usable_memory_bytes()};
  }

  const DeviceCaps& caps() const override { return caps_; }

  Buffer allocate(size_t bytes) override {
    // Linux overcommits memory and kills the process that uses too much, so check the limit here.
    const auto limit = static_cast<size_t>(caps_.memory_bytes);
    const size_t wanted = bytes > limit ? bytes : simt::host_bytes(bytes);
    if (!take(wanted, limit)) {
      throw unavailable(
          "simt: out of memory: an array of {} bytes needs {} bytes with its shadow memory; {} bytes are available and "
          "{} are in use; use a smaller batch",
          bytes, wanted, limit, held_->load());
    }
    void* array = nullptr;
    try {
      array = simt::allocate(bytes == 0 ? 1 : bytes, "a device array");
    } catch (...) {
      *held_ -= wanted;
      throw;
    }
    return {array, bytes, [wanted, held = held_](void* memory) {
              simt::release(memory);
              *held -= wanted;
            }};
  }

  std::unique_ptr<Stream> make_stream() override { return std::make_unique<SimtStream>(caps_, threads_); }

 private:
  /// Counts these bytes as held and returns true; if they do not fit, does nothing and returns false.
  bool take(size_t bytes, size_t limit) {
    size_t held = *held_;
    do {
      if (held > limit || bytes > limit - held) return false;
    } while (!held_->compare_exchange_weak(held, held + bytes));
    return true;
  }

  ThreadPool threads_;
  DeviceCaps caps_;
  std::shared_ptr<std::atomic<size_t>> held_ = std::make_shared<std::atomic<size_t>>(0);  // bytes held by buffers
};

std::vector<Finding> findings_of(const std::vector<simt::Fault>& faults) {
  std::vector<Finding> findings;
  for (const simt::Fault& fault : faults) findings.push_back(fault.finding);
  return findings;
}

}  // namespace

std::unique_ptr<Device> open_simt(const DeviceOptions& options) { return std::make_unique<SimtDevice>(options); }

bool simt_present() { return true; }
std::string_view how_to_get_simt() { return ""; }

void narrow_simt_memory(const void* memory, size_t bytes, std::string_view name, bool writable) {
  simt::narrow(memory, bytes, name, writable ? simt::RangeAccess::read_write : simt::RangeAccess::read_only);
}

void set_simt_array_shapes(const std::vector<SimtArrayShape>& shapes) {
  std::vector<simt::ArrayShape> all;
  for (const SimtArrayShape& each : shapes) all.push_back({each.name, each.axes, each.extents});
  simt::set_array_shapes(std::move(all));
}

void set_simt_stuck_after(double seconds) { simt::set_stuck_after(seconds); }

void end_simt_launches() { simt::end_launches(); }

std::string simt_place_in(const std::string& library) { return simt::place_in_library(library); }

std::vector<Finding> simt_faults() {
  try {
    throw;
  } catch (const simt::FaultError& error) {
    return findings_of(error.faults());
  } catch (...) {
    return {};
  }
}

void set_simt_field(SimtField field) {
  simt::set_field_mode(field == SimtField::degrees ? simt::FieldMode::degrees : simt::FieldMode::values);
}

void set_simt_strictness(SimtStrictness strictness) {
  switch (strictness) {
    case SimtStrictness::strict:
      return simt::set_strictness(simt::Strictness::strict);
    case SimtStrictness::usual:
      return simt::set_strictness(simt::Strictness::usual);
    case SimtStrictness::lenient:
      return simt::set_strictness(simt::Strictness::lenient);
  }
}

int64_t simt_blocks_begun() { return simt::blocks_begun(); }

void check_simt_host_code() { simt::throw_host_faults(); }

std::vector<Finding> take_simt_notes() { return findings_of(simt::take_notes()); }

std::optional<Finding> take_simt_failed_call() {
  const std::optional<simt::FailedCall> failed = simt::take_failed_call();
  return failed ? std::optional(finding_of(*failed)) : std::nullopt;
}

void on_simt_failed_call(std::function<void(const Finding&)> listener) {
  simt::on_failed_call(
      [listener = std::move(listener)](const simt::FailedCall& failed) { listener(finding_of(failed)); });
}

SimtHostArray::SimtHostArray(const void* array, size_t bytes) : array_(array) {
  simt::remember_host_array(array, bytes);
  simt::internal::forget_copies(array, bytes);
}
SimtHostArray::~SimtHostArray() { simt::forget_host_array(array_); }

bool came_from_simt(const void* host) { return simt::came_from_device(host); }

std::string take_simt_leaks() { return simt::take_runtime_leaks(); }

std::string simt_refusal(const void* in_library) { return simt::static_shared_excess(in_library); }

std::optional<Label> simt_writer(const void* host) {
  if (!simt::came_from_device(host)) return std::nullopt;
  const auto writer = simt::last_writer(host);
  if (writer && writer->kernel.empty()) return std::nullopt;
  std::optional<Label> label(std::in_place);
  label->text = kNoWriter;
  if (writer) {
    label->place = writer->place;
    label->thread = simt::to_text(writer->thread);
    label->text = fmt::format("thread {} of block {} writes it", label->thread, simt::to_text(writer->block));
  }
  return label;
}

std::vector<SimtLaunches> take_simt_launches() {
  const auto text = [](const simt::cuda::dim3& extent) {
    return fmt::format("({},{},{})", extent.x, extent.y, extent.z);
  };
  const auto volume = [](const simt::cuda::dim3& extent) { return int64_t{extent.x} * extent.y * extent.z; };
  constexpr size_t kMost = 16;  // as many as a reader looks at
  std::vector<SimtLaunches> all;
  for (const simt::PastLaunches& each : simt::take_launches()) {
    if (all.size() == kMost) break;
    all.push_back({.place = each.place,
                   .kernel = each.kernel,
                   .shape = fmt::format("grid {} x block {}", text(each.grid), text(each.block)),
                   .threads = volume(each.grid) * volume(each.block),
                   .count = each.count});
  }
  return all;
}

std::map<std::string, int> take_simt_large_blocks() { return simt::take_large_blocks(); }

void start_simt_counting() { simt::start_counting(); }
std::vector<KernelCounts> stop_simt_counting() { return simt::stop_counting(); }
int64_t simt_filled_bytes() { return simt::filled_bytes(); }

}  // namespace convlab
