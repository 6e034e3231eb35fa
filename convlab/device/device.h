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

/// cpu: host code. cuda: an NVIDIA GPU. simt: CUDA kernels executed and checked on the host.
enum class DeviceKind { cpu, cuda, simt };

std::string_view name_of(DeviceKind kind);

/// The capabilities of a device, for kernels and plans.
struct DeviceCaps {
  DeviceKind kind = DeviceKind::cpu;
  std::string name;                   ///< as open_device() accepts it, with the GPU's index: "cuda:0"
  std::string description;            ///< "Intel Xeon ..., 2 threads" or "NVIDIA H200, ..."
  int compute_capability = 0;         ///< 90 for 9.0; 0 on a CPU; 80 on simt
  int multiprocessors = 0;            ///< 0 on a CPU
  int64_t cache_bytes = 0;            ///< of L2; 64 KiB on simt; 0 on a CPU
  size_t shared_bytes_per_block = 0;  ///< the opt-in maximum; 0 on a CPU
  int threads = 1;                    ///< host threads, Stream::threads()->size(); 1 on cuda
  int64_t memory_bytes = 0;           ///< usable by a run: the GPU's free memory, or the container's limit

  /// Whether kernels run on the host's processors: then they are done when a call returns, and the host's load changes
  /// their times.
  bool runs_on_host() const { return kind != DeviceKind::cuda; }
  /// Whether kernels may access the host's arrays: there is no other memory.
  bool shares_host_memory() const { return kind == DeviceKind::cpu; }
  /// Whether its kernels are CUDA kernels.
  bool runs_cuda() const { return kind != DeviceKind::cpu; }
  /// Whether times are those of the hardware that the kernels are written for.
  bool has_real_times() const { return kind != DeviceKind::simt; }
  /// Whether Stream::record() can succeed.
  bool records_graphs() const { return kind == DeviceKind::cuda; }
};

/// The alignment of memory on GPUs, in bytes.
inline constexpr size_t kGpuAlignment = 256;

/// Owns memory of a device. Addresses are aligned to kGpuAlignment on GPUs and to 64 bytes on hosts.
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

/// Recorded work of a stream that can be repeated: the same launches, with the same addresses and sizes.
class Replay {
 public:
  virtual ~Replay() = default;

  /// Enqueues the work in the stream that recorded it.
  virtual void run() = 0;
};

/// An in-order queue of work on one device. Calls may return before the work is done; synchronize() waits and reports
/// errors.
class Stream {
 public:
  virtual ~Stream() = default;

  /// The capabilities of the stream's device.
  virtual const DeviceCaps& caps() const = 0;
  virtual void upload(void* device_memory, const void* host_memory, size_t bytes) = 0;
  virtual void download(void* host_memory, const void* device_memory, size_t bytes) = 0;
  virtual void fill(void* device_memory, int byte, size_t bytes) = 0;

  /// Copies within the device's memory. On a host, this is the same as an upload.
  virtual void copy(void* to, const void* from, size_t bytes) { upload(to, from, bytes); }

  virtual void synchronize() = 0;

  /// Makes later work of this stream wait for all work enqueued so far in `other`, a stream of the same device. On a
  /// host, that work is already done.
  virtual void wait_for(Stream& other) { static_cast<void>(other); }

  /// wait_for_native(): same as wait_for(), for a cudaStream_t of the caller. hold_native(): makes later work of that
  /// stream wait for this one.
  virtual void wait_for_native(void* other) { static_cast<void>(other); }
  virtual void hold_native(void* other) { static_cast<void>(other); }

  /// Records the work that work() enqueues in this stream without executing it. Each run() of the result executes it,
  /// at the cost of one launch. Libraries search for algorithms and load code in their first launch, so the work must
  /// have run once before. Returns nullptr if the device cannot record this work; then enqueue it as usual.
  virtual std::unique_ptr<Replay> record(const std::function<void()>& work) {
    static_cast<void>(work);
    return nullptr;
  }

  /// Runs work(), which enqueues in this stream, and waits. Returns the seconds that the device took: between events on
  /// a GPU, by the clock on a host.
  virtual double time(const std::function<void()>& work);

  /// The threads that host kernels of this stream share; nullptr on cuda.
  virtual ThreadPool* threads() = 0;

  /// The cudaStream_t of a cuda stream; nullptr on other devices.
  virtual void* native() = 0;

  /// Returns the state that a library keeps between calls (a handle, the algorithm chosen by a search): one T per
  /// stream, created on first use and destroyed with the stream, so that kernels are stateless.
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

  /// Returns uninitialized memory. Throws Error(unavailable) with the requested size if there is not enough.
  virtual Buffer allocate(size_t bytes) = 0;
  virtual std::unique_ptr<Stream> make_stream() = 0;

  /// Makes this the calling thread's device. Each thread calls this before its first work, and again if it uses several
  /// devices. Only GPUs need it.
  virtual void make_current() {}

  /// Whether kernels may read and write memory at this address, as far as the device can tell.
  virtual bool reaches(const void* address) { return address != nullptr; }

  /// Page-locks (pins) a host array while the result lives, so that a GPU copies from and to it at the bus's full speed
  /// and concurrently with other work. The array must outlive the result. On other devices, or if the system refuses,
  /// the result is empty; copies still work.
  virtual Buffer page_lock(void* host_memory, size_t bytes) {
    static_cast<void>(host_memory), static_cast<void>(bytes);
    return {};
  }
};

struct DeviceOptions {
  int threads = 0;                    ///< host threads; 0: all that this process may use (see usable_threads)
  StageObserver* observer = nullptr;  ///< is notified of the stages of opening the device; may be null
};

struct DeviceListing {
  std::string name, description;
};

}  // namespace convlab
