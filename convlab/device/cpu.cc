// Implements the CPU as a device.

#include "convlab/device/cpu.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "convlab/base/checked.h"
#include "convlab/base/limits.h"
#include "convlab/device/thread_pool.h"

namespace convlab {
namespace {

/// Bytes. Kernels that read many parts of an array at once, as those in nchw16n do, miss the TLB with small pages.
constexpr int64_t kLargePage = int64_t{2} << 20;

class CpuStream final : public Stream {
 public:
  CpuStream(const DeviceCaps& caps, ThreadPool& threads) : caps_(caps), threads_(threads) {}
  const DeviceCaps& caps() const override { return caps_; }
  void upload(void* to, const void* from, size_t bytes) override { copy(to, from, bytes); }
  void download(void* to, const void* from, size_t bytes) override { copy(to, from, bytes); }
  void fill(void* memory, int byte, size_t bytes) override { std::memset(memory, byte, bytes); }
  void copy(void* to, const void* from, size_t bytes) override {
    if (bytes != 0) std::memcpy(to, from, bytes);  // memcpy must not get the null pointer of an empty std::vector
  }
  void synchronize() override {}
  ThreadPool* threads() override { return &threads_; }
  void* native() override { return nullptr; }

 private:
  const DeviceCaps& caps_;
  ThreadPool& threads_;
};

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(const DeviceOptions& options) : threads_(options.threads) {
    caps_.kind = DeviceKind::cpu;
    caps_.name = name_of(caps_.kind);
    caps_.description = fmt::format("{}, {} thread{}", cpu_name(), threads_.size(), threads_.size() == 1 ? "" : "s");
    caps_.threads = threads_.size();
    caps_.memory_bytes = usable_memory_bytes();
  }
  const DeviceCaps& caps() const override { return caps_; }

  Buffer allocate(size_t bytes) override {
    // Linux overcommits memory and kills the process that uses too much, so check the limit here.
    if (bytes > static_cast<size_t>(caps_.memory_bytes)) {
      throw unavailable("out of memory: {} bytes are needed and {} bytes are available; use a smaller batch", bytes,
                        caps_.memory_bytes);
    }
    constexpr int64_t kLine = 64;
    const int64_t wanted = std::max<int64_t>(static_cast<int64_t>(bytes), 1);
    const int64_t alignment = wanted < kLargePage ? kLine : kLargePage;
    const auto rounded = static_cast<size_t>(round_up(wanted, alignment));
    void* memory = std::aligned_alloc(static_cast<size_t>(alignment), rounded);
    if (memory == nullptr) throw unavailable("out of memory: cannot allocate {} bytes; use a smaller batch", bytes);
    // A hint: if it fails, pages are small and kernels slower.
    if (alignment == kLargePage) madvise(memory, rounded, MADV_HUGEPAGE);
    return {memory, bytes, [](void* address) { std::free(address); }};
  }

  std::unique_ptr<Stream> make_stream() override { return std::make_unique<CpuStream>(caps_, threads_); }

 private:
  ThreadPool threads_;
  DeviceCaps caps_;
};

}  // namespace

std::unique_ptr<Device> open_cpu(const DeviceOptions& options) { return std::make_unique<CpuDevice>(options); }

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
#if defined(__aarch64__)
  return "aarch64";
#else
  return "CPU";
#endif
}

}  // namespace convlab
