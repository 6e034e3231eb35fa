#include "convlab/device/simt.h"

#include <cstring>

#include "convlab/base/error.h"
#include "convlab/base/limits.h"
#include "convlab/device/cpu.h"
#include "convlab/device/thread_pool.h"
#include "convlab/simt/launch.h"
#include "convlab/simt/memory.h"

namespace convlab {
namespace {

/// Work is done when it is given.
class SimtStream final : public Stream {
 public:
  SimtStream(const DeviceCaps& caps, ThreadPool& threads) : caps_(caps), threads_(threads) {}
  const DeviceCaps& caps() const override { return caps_; }
  void upload(void* to, const void* from, size_t bytes) override { simt::copy_to_device(to, from, bytes); }
  void download(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  void fill(void* memory, int byte, size_t bytes) override { simt::fill_on_device(memory, byte, bytes); }
  void synchronize() override {}
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
             .description = fmt::format("CUDA kernels executed and checked on the host: {}, {} thread{}", cpu_name(),
                                        threads_.size(), threads_.size() == 1 ? "" : "s"),
             .compute_capability = 80,
             .multiprocessors = 2,  // few, so that blocks have several tasks, as on a GPU
             .shared_bytes_per_block = simt::kMaxSharedBytes,
             .threads = threads_.size(),
             .memory_bytes = usable_memory_bytes()};
  }

  const DeviceCaps& caps() const override { return caps_; }

  Buffer allocate(size_t bytes) override {
    return {simt::allocate(bytes == 0 ? 1 : bytes, "an array of the device"), bytes,
            [](void* memory) { simt::release(memory); }};
  }

  std::unique_ptr<Stream> make_stream() override { return std::make_unique<SimtStream>(caps_, threads_); }

 private:
  ThreadPool threads_;
  DeviceCaps caps_;
};

}  // namespace

std::unique_ptr<Device> open_simt(const DeviceOptions& options) { return std::make_unique<SimtDevice>(options); }

bool simt_present() { return true; }

}  // namespace convlab
