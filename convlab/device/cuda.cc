// Implements NVIDIA GPUs as devices, through the CUDA runtime.

#include "convlab/device/cuda.h"

#include <cuda_runtime_api.h>

#include <array>
#include <string>
#include <type_traits>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/device/cuda_check.h"

namespace convlab {

void check_cuda(cudaError_t status, std::string_view what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // clears the error, so that the next call does not report it again
  throw unavailable("CUDA error while {}: {} ({})", what, cudaGetErrorString(status), cudaGetErrorName(status));
}

namespace {

using Graph =
    std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, decltype([](cudaGraph_t graph) { cudaGraphDestroy(graph); })>;
using ReadyGraph = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>,
                                   decltype([](cudaGraphExec_t graph) { cudaGraphExecDestroy(graph); })>;

/// A CUDA graph of the work captured from a stream.
class CudaReplay final : public Replay {
 public:
  CudaReplay(ReadyGraph graph, cudaStream_t stream) : graph_(std::move(graph)), stream_(stream) {}
  void run() override { check_cuda(cudaGraphLaunch(graph_.get(), stream_), "launching a graph"); }

 private:
  ReadyGraph graph_;
  cudaStream_t stream_;
};

/// Instantiates a captured graph; returns null if the device cannot.
ReadyGraph ready_to_launch(cudaGraph_t graph, cudaStream_t stream) {
  cudaGraphExec_t made = nullptr;
  if (cudaGraphInstantiateWithFlags(&made, graph, 0) != cudaSuccess) return nullptr;
  ReadyGraph ready(made);
  // Otherwise the first launch would upload the graph.
  return cudaGraphUpload(ready.get(), stream) == cudaSuccess ? std::move(ready) : nullptr;
}

/// Owns a CUDA stream and its events.
class NativeStream {
 public:
  explicit NativeStream(int index) : index_(index) {
    check_cuda(cudaSetDevice(index_), "selecting the GPU");
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream");
  }
  ~NativeStream() {
    for (cudaEvent_t event : events_) {
      if (event != nullptr) cudaEventDestroy(event);
    }
    for (cudaEvent_t event : {given_, theirs_}) {
      if (event != nullptr) cudaEventDestroy(event);
    }
    cudaStreamDestroy(stream_);
  }
  NativeStream(const NativeStream&) = delete;
  NativeStream& operator=(const NativeStream&) = delete;

 protected:
  int index_;
  cudaStream_t stream_ = nullptr;
  std::array<cudaEvent_t, 2> events_{};
  cudaEvent_t given_ = nullptr, theirs_ = nullptr;
};

/// Base classes are destroyed in reverse order: objects attached to the Stream are destroyed before the CUDA stream.
class CudaStream final : private NativeStream, public Stream {
 public:
  CudaStream(const DeviceCaps& caps, int index) : NativeStream(index), caps_(caps) {}
  ~CudaStream() override { cudaSetDevice(index_); }

  const DeviceCaps& caps() const override { return caps_; }
  void upload(void* to, const void* from, size_t bytes) override {
    check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_), "copying to the GPU");
  }
  void download(void* to, const void* from, size_t bytes) override {
    check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_), "copying from the GPU");
  }
  void fill(void* memory, int byte, size_t bytes) override {
    check_cuda(cudaMemsetAsync(memory, byte, bytes, stream_), "filling GPU memory");
  }
  void copy(void* to, const void* from, size_t bytes) override {
    check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_), "copying on the GPU");
  }
  void synchronize() override { check_cuda(cudaStreamSynchronize(stream_), "waiting for the GPU"); }
  void wait_for(Stream& other) override {
    // The wait captures the event's state at this call, so the event may be recorded again.
    check_cuda(cudaStreamWaitEvent(stream_, static_cast<CudaStream&>(other).recorded_event(), 0),
               "synchronizing streams");
  }
  void wait_for_native(void* other) override {
    if (theirs_ == nullptr) {
      check_cuda(cudaEventCreateWithFlags(&theirs_, cudaEventDisableTiming), "creating an event");
    }
    check_cuda(cudaEventRecord(theirs_, static_cast<cudaStream_t>(other)),
               "recording an event on the program's stream");
    check_cuda(cudaStreamWaitEvent(stream_, theirs_, 0), "synchronizing streams");
  }
  void hold_native(void* other) override {
    check_cuda(cudaStreamWaitEvent(static_cast<cudaStream_t>(other), recorded_event(), 0), "synchronizing streams");
  }
  std::unique_ptr<Replay> record(const std::function<void()>& work) override;
  double time(const std::function<void()>& work) override {
    for (cudaEvent_t& event : events_) {
      if (event == nullptr) check_cuda(cudaEventCreate(&event), "creating an event");
    }
    check_cuda(cudaEventRecord(events_[0], stream_), "recording an event");
    work();
    check_cuda(cudaEventRecord(events_[1], stream_), "recording an event");
    synchronize();
    float milliseconds = 0;
    check_cuda(cudaEventElapsedTime(&milliseconds, events_[0], events_[1]), "reading events");
    return milliseconds * 1e-3;
  }
  ThreadPool* threads() override { return nullptr; }
  void* native() override { return stream_; }

 private:
  /// Records and returns an event after all work enqueued so far.
  cudaEvent_t recorded_event() {
    if (given_ == nullptr) {
      check_cuda(cudaEventCreateWithFlags(&given_, cudaEventDisableTiming), "creating an event");
    }
    check_cuda(cudaEventRecord(given_, stream_), "recording an event");
    return given_;
  }

  const DeviceCaps& caps_;
};

std::unique_ptr<Replay> CudaStream::record(const std::function<void()>& work) {
  // ThreadLocal: other threads may allocate and synchronize during the capture.
  check_cuda(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "capturing a graph");
  const auto end = [this] {
    cudaGraph_t recorded = nullptr;
    const cudaError_t status = cudaStreamEndCapture(stream_, &recorded);
    Graph graph(recorded);
    return status == cudaSuccess ? std::move(graph) : nullptr;
  };
  bool given = true;
  try {
    work();
  } catch (const Error&) {
    given = false;  // a library call that cannot be captured; any other error recurs when the work runs without a graph
  } catch (...) {
    end();  // the stream must stay usable
    cudaGetLastError();
    throw;
  }
  const Graph graph = end();
  if (ReadyGraph ready = given && graph ? ready_to_launch(graph.get(), stream_) : nullptr) {
    return std::make_unique<CudaReplay>(std::move(ready), stream_);
  }
  cudaGetLastError();  // clears the error, so that the next call does not report it
  return nullptr;
}

std::string describe(const cudaDeviceProp& properties) {
  return fmt::format("{}, compute capability {}.{}, {} multiprocessors, {:.0f} GiB", properties.name, properties.major,
                     properties.minor, properties.multiProcessorCount,
                     static_cast<double>(properties.totalGlobalMem) / (1 << 30));
}

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int index) : index_(index) {
    make_current();
    cudaDeviceProp properties{};
    check_cuda(cudaGetDeviceProperties(&properties, index_), "reading GPU properties");
    size_t free_bytes = 0, total_bytes = 0;
    check_cuda(cudaMemGetInfo(&free_bytes, &total_bytes), "initializing CUDA");
    caps_ = {.kind = DeviceKind::cuda,
             .name = fmt::format("cuda:{}", index_),
             .description = describe(properties),
             .compute_capability = properties.major * 10 + properties.minor,
             .multiprocessors = properties.multiProcessorCount,
             .cache_bytes = properties.l2CacheSize,
             .shared_bytes_per_block = properties.sharedMemPerBlockOptin,
             .memory_bytes = static_cast<int64_t>(free_bytes)};
    require_code();
  }

  const DeviceCaps& caps() const override { return caps_; }

  Buffer allocate(size_t bytes) override {
    make_current();
    void* memory = nullptr;
    const cudaError_t status = cudaMalloc(&memory, bytes == 0 ? 1 : bytes);
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // clears the error, which is reported here
      throw unavailable("{}: out of memory: cannot allocate {} bytes; use a smaller batch", caps_.description, bytes);
    }
    check_cuda(status, "allocating GPU memory");
    return {memory, bytes, [](void* address) { cudaFree(address); }};
  }

  std::unique_ptr<Stream> make_stream() override { return std::make_unique<CudaStream>(caps_, index_); }

  void make_current() override { check_cuda(cudaSetDevice(index_), "selecting the GPU"); }

  bool reaches(const void* address) override {
    cudaPointerAttributes attributes{};
    if (cudaPointerGetAttributes(&attributes, address) != cudaSuccess) {
      cudaGetLastError();  // an unknown address is a valid answer, not an error
      return false;
    }
    return attributes.type == cudaMemoryTypeManaged ||
           (attributes.type == cudaMemoryTypeDevice && attributes.device == index_);
  }

  Buffer page_lock(void* host_memory, size_t bytes) override {
    make_current();
    if (bytes == 0) return {};
    if (cudaHostRegister(host_memory, bytes, cudaHostRegisterPortable) != cudaSuccess) {
      cudaGetLastError();  // a system limit: copies still work, but are slower
      return {};
    }
    return {host_memory, bytes, [](void* address) { cudaHostUnregister(address); }};
  }

 private:
  /// Throws Error(unavailable) if this build has no code for the GPU. Otherwise the first kernel would fail with "no
  /// kernel image is available", which does not help users.
  void require_code() const;

  int index_;
  DeviceCaps caps_;
};

void CudaDevice::require_code() const {
  // "80,90a": machine code runs on later minor versions of its major version, but 'a' code only on exactly its chip;
  // the first architecture's PTX runs on anything newer, unless it is an 'a'.
  bool first = true, runs = false;
  for (const std::string& architecture : split(CONVLAB_CUDA_ARCHITECTURE_TEXT, ',')) {
    const int number = std::stoi(architecture);
    const int capability = caps_.compute_capability;
    if (architecture.back() == 'a') {
      runs |= number == capability;
    } else {
      runs |= number <= capability && (first || number / 10 == capability / 10);
    }
    first = false;
  }
  if (runs) return;
  throw unavailable(
      "this build supports compute capability {}, but the GPU is {}; configure with -DCONVLAB_CUDA_ARCHITECTURES={}",
      CONVLAB_CUDA_ARCHITECTURE_TEXT, caps_.description, caps_.compute_capability);
}

/// Returns the number of GPUs; if it is 0, sets `reason`.
int count_devices(std::string& reason) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return count;
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  if (driver == 0) {
    reason = "no NVIDIA driver is installed";
  } else if (status == cudaErrorInsufficientDriver) {
    reason = fmt::format("the driver supports CUDA {}.{}, but this build needs {}.{}; update the driver", driver / 1000,
                         driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
  } else {
    reason = status == cudaSuccess ? "no GPU is visible" : cudaGetErrorString(status);
  }
  return 0;
}

}  // namespace

int count_cuda(const DeviceOptions& options) {
  const Observed part(options.observer, {Stage::driver});
  std::string reason;
  const int count = count_devices(reason);
  if (count == 0) throw unavailable("device cuda: {}; use device cpu or simt", reason);
  return count;
}

std::unique_ptr<Device> open_cuda(int index, const DeviceOptions& options) {
  const int count = count_cuda(options);
  if (index >= count) {
    throw unavailable("device cuda:{}: no such GPU; this machine has {} GPU(s), numbered from cuda:0", index, count);
  }
  const Observed part(options.observer, {Stage::context});
  return std::make_unique<CudaDevice>(index);
}

std::vector<DeviceListing> list_cuda() {
  std::string reason;
  const int count = count_devices(reason);
  if (count == 0) return {{"cuda", "not available: " + reason}};
  std::vector<DeviceListing> listings;
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    check_cuda(cudaGetDeviceProperties(&properties, index), "reading GPU properties");
    listings.push_back({fmt::format("cuda:{}", index), describe(properties)});
  }
  return listings;
}

bool cuda_present() {
  std::string reason;
  return count_devices(reason) > 0;
}

int cuda_compute_capability(int index) {
  std::string reason;
  if (count_devices(reason) <= index) throw unavailable("cuda:{} is not available: {}", index, reason);
  int major = 0, minor = 0;
  check_cuda(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, index),
             "reading a GPU's compute capability");
  check_cuda(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, index),
             "reading a GPU's compute capability");
  return major * 10 + minor;
}

}  // namespace convlab
