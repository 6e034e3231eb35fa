#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

#include "convlab/base/stage.h"

namespace convlab {

class ThreadPool;

/// cpu: host code. cuda: an NVIDIA GPU. simt: the CUDA kernels, executed and checked on the host.
enum class DeviceKind { cpu, cuda, simt };

std::string_view name_of(DeviceKind kind);

/// What a kernel may ask about the machine that it may run on.
struct DeviceCaps {
  DeviceKind kind = DeviceKind::cpu;
  std::string name;                   ///< as open_device() takes it, with a GPU's number: "cuda:0"
  std::string description;            ///< "Intel Xeon ..., 2 threads, AVX3" or "NVIDIA H200"
  int compute_capability = 0;         ///< 90 for 9.0; 0 on a CPU; simt claims 80
  int multiprocessors = 0;            ///< 0 on a CPU
  int64_t cache_bytes = 0;            ///< of the cache that multiprocessors share; simt claims 64 KiB; 0 on a CPU
  size_t shared_bytes_per_block = 0;  ///< the most that a block may opt in to; 0 on a CPU
  int threads = 1;                    ///< threads of host work, Stream::threads()->size(); 1 on cuda
  int64_t memory_bytes = 0;           ///< what a run may plan with: the GPU's, or the container's
};

/// What addresses of memory on GPUs are multiples of, in bytes.
inline constexpr size_t kGpuAlignment = 256;

/// Memory of a device, which the value's end gives back. Addresses are aligned to kGpuAlignment on GPUs and 64 on
/// hosts.
class Buffer {
 public:
  using Release = std::function<void(void*)>;
  Buffer() = default;
  Buffer(void* data, size_t bytes, Release release) : data_(data, std::move(release)), bytes_(bytes) {}

  void* data() const { return data_.get(); }
  size_t bytes() const { return bytes_; }
  explicit operator bool() const { return data_ != nullptr; }

 private:
  std::unique_ptr<void, Release> data_{nullptr, [](void*) {}};
  size_t bytes_ = 0;
};

/// Recorded work of a stream, ready to be done again: the same launches, with the same addresses and sizes.
class Replay {
 public:
  virtual ~Replay() = default;

  /// Gives the work to the stream that recorded it.
  virtual void run() = 0;
};

/// Work in order on one device. Calls may return before the work is done; synchronize() waits and reports its errors.
class Stream {
 public:
  virtual ~Stream() = default;

  /// What kernels may ask about the stream's device.
  virtual const DeviceCaps& caps() const = 0;
  virtual void upload(void* device_memory, const void* host_memory, size_t bytes) = 0;
  virtual void download(void* host_memory, const void* device_memory, size_t bytes) = 0;
  virtual void fill(void* device_memory, int byte, size_t bytes) = 0;

  /// From one place in the device's memory to another. On a host, an upload does the same.
  virtual void copy(void* to, const void* from, size_t bytes) { upload(to, from, bytes); }

  virtual void synchronize() = 0;

  /// This stream begins what it is given from now on when `other`, of the same device, has done everything given to it
  /// so far. On a host that is already done.
  virtual void wait_for(Stream& other) { static_cast<void>(other); }

  /// The same of a cudaStream_t that somebody else made; and the other way round, so that it waits for this one.
  virtual void wait_for_native(void* other) { static_cast<void>(other); }
  virtual void hold_native(void* other) { static_cast<void>(other); }

  /// Records what `work` gives to this stream, without doing it: each run() of the result does it, at the price of one
  /// launch. Libraries search and load at their first launch, so work that was never done cannot be recorded. nullptr
  /// where the device cannot record, or not this work; then give the work as usual.
  virtual std::unique_ptr<Replay> record(const std::function<void()>& work) {
    static_cast<void>(work);
    return nullptr;
  }

  /// Gives `work` to this stream and waits. Seconds that the device itself took: between events on a GPU, by the clock
  /// on a host.
  virtual double time(const std::function<void()>& work);

  /// The threads that host kernels of this stream share; on cuda, nullptr.
  virtual ThreadPool* threads() = 0;

  /// The cudaStream_t of a cuda or simt stream; on the CPU, nullptr.
  virtual void* native() = 0;

  /// What a library keeps from call to call (a handle, the algorithm that a search chose): one T per stream, made at
  /// first use and destroyed with the stream, so that kernels themselves stay without state.
  template <class T>
  T& attached() {
    std::shared_ptr<void>& slot = attachments_[typeid(T)];
    if (!slot) slot = std::make_shared<T>();
    return *static_cast<T*>(slot.get());
  }

 private:
  std::map<std::type_index, std::shared_ptr<void>> attachments_;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceCaps& caps() const = 0;

  /// Uninitialised memory, or Error(unavailable) that says how much was asked for and how much there is.
  virtual Buffer allocate(size_t bytes) = 0;
  virtual std::unique_ptr<Stream> make_stream() = 0;

  /// Work that the calling thread gives from now on goes to this device: each thread calls this before its first work,
  /// and again where it uses several devices. Only GPUs need it.
  virtual void make_current() {}

  /// Whether kernels may read and write memory at this address, as far as the device can tell.
  virtual bool reaches(const void* address) { return address != nullptr; }

  /// Keeps an array of the host in its place while the result lives, so that a GPU copies from and to it at the speed
  /// of the bus and beside other work. The array must outlive the result. Elsewhere, or where the system refuses, the
  /// result is empty, and copies still work.
  virtual Buffer page_lock(void* host_memory, size_t bytes) {
    static_cast<void>(host_memory), static_cast<void>(bytes);
    return {};
  }
};

struct DeviceOptions {
  int threads = 0;                    ///< threads of host work; 0: as many as this process may use (see usable_threads)
  StageObserver* observer = nullptr;  ///< hears the stages while the device is opened; may be null
};

/// The name of all GPUs, for open_devices().
inline constexpr std::string_view kAllGpus = "cuda:all";

/// Opens "cpu", "cuda", "cuda:1", "simt", or "auto" (cuda where there is a usable one, otherwise cpu).
/// Error(bad_input) for another name, Error(unavailable) with the reason where the device is missing.
std::unique_ptr<Device> open_device(std::string_view name, const DeviceOptions& options);

/// As open_device(), one device; for kAllGpus one or more, by number. Error(unavailable) where one cannot be opened.
std::vector<std::unique_ptr<Device>> open_devices(std::string_view name, const DeviceOptions& options);

struct DeviceListing {
  std::string name, description;
};

/// Every device that open_device can open here, for `convlab list devices`.
std::vector<DeviceListing> list_devices();

}  // namespace convlab
