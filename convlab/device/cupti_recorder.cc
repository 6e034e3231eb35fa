// Records a GPU's work through CUPTI's activity records: kernels, copies, and calls of the CUDA runtime and driver.
// Pushes each part of the program as an external correlation id, which CUPTI reports with each call within the part.

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "convlab/base/error.h"
#include "convlab/device/cupti_library.h"
#include "convlab/device/recorder.h"

namespace convlab {
namespace {

constexpr CUpti_ActivityKind kKinds[] = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET,
    CUPTI_ACTIVITY_KIND_RUNTIME,           CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION};
constexpr auto kOurParts = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;

constexpr size_t kBufferBytes = size_t{1} << 20, kBufferAlignment = 8;

struct FilledBuffer {
  std::unique_ptr<uint8_t, decltype(&std::free)> data;
  size_t bytes;
};

/// Buffers that CUPTI has filled. Global, because CUPTI's callbacks have no user pointer; they run on CUPTI's thread.
struct Inbox {
  std::mutex mutex;
  std::vector<FilledBuffer> buffers;

  static Inbox& the() {
    static Inbox inbox;
    return inbox;
  }
};

void CUPTIAPI give_buffer(uint8_t** buffer, size_t* size, size_t* most_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *most_records = 0;  // as many as fit
}

void CUPTIAPI take_buffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid_bytes) {
  Inbox& inbox = Inbox::the();
  const std::lock_guard lock(inbox.mutex);
  inbox.buffers.push_back({{buffer, std::free}, valid_bytes});
}

std::string demangled(const char* name) {
  if (name == nullptr) return "?";
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                         std::free);
  return text ? text.get() : name;
}

/// Returns "cudaMalloc" for "cudaMalloc_v3020"; the suffix is the CUDA version that introduced the function.
std::string without_version(std::string name) {
  const size_t at = name.rfind("_v");
  const bool numbered = at != std::string::npos && at + 2 < name.size() &&
                        name.find_first_not_of("0123456789", at + 2) == std::string::npos;
  return numbered ? name.substr(0, at) : name;
}

std::string_view memory_kind(int kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE:
      return "Pageable";
    case CUPTI_ACTIVITY_MEMORY_KIND_PINNED:
      return "Pinned";
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE:
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC:
      return "Device";
    case CUPTI_ACTIVITY_MEMORY_KIND_ARRAY:
      return "Array";
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED:
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC:
      return "Managed";
    default:
      return "Unknown";
  }
}

std::string copy_name(int kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      return "[CUDA memcpy HtoD]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return "[CUDA memcpy DtoH]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return "[CUDA memcpy DtoD]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
      return "[CUDA memcpy HtoH]";
    default:
      return "[CUDA memcpy]";
  }
}

class CudaRecorder final : public Recorder {
 public:
  CudaRecorder() {
    cupti_.check(cupti_.activity_register_callbacks(give_buffer, take_buffer), "registering callbacks");
  }

  void start() override {
    part_names_.clear();
    recording_ = {.device = DeviceKind::cuda};
    for (CUpti_ActivityKind kind : kKinds) cupti_.check(cupti_.activity_enable(kind), "enabling activity records");
    recording_.begin_ns = now();
    recording_on_ = true;
  }

  Recording stop() override {
    recording_on_ = false;
    recording_.end_ns = now();
    for (CUpti_ActivityKind kind : kKinds) cupti_.check(cupti_.activity_disable(kind), "disabling activity records");
    cupti_.check(cupti_.activity_flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "flushing activity records");
    std::vector<FilledBuffer> buffers;
    {
      Inbox& inbox = Inbox::the();
      const std::lock_guard lock(inbox.mutex);
      buffers.swap(inbox.buffers);
    }
    for (const FilledBuffer& buffer : buffers) read(buffer);
    for (Activity& each : recording_.activities) {
      const auto part = part_of_.find(each.correlation);
      if (each.kind != ActivityKind::part && part != part_of_.end()) each.part = part_names_[part->second];
    }
    part_of_.clear();
    std::stable_sort(recording_.activities.begin(), recording_.activities.end(),
                     [](const Activity& a, const Activity& b) { return a.begin_ns < b.begin_ns; });
    return std::exchange(recording_, {});
  }

  void begin(const Part& part) override {
    if (!recording_on_) return;
    begin_ns_ = now();
    cupti_.push_external_id(kOurParts, part_names_.size());
    part_names_.emplace_back(part.name);
  }

  void end() override {
    if (!recording_on_) return;
    cupti_.pop_external_id(kOurParts, nullptr);
    recording_.activities.push_back(
        {.kind = ActivityKind::part, .name = part_names_.back(), .begin_ns = begin_ns_, .end_ns = now()});
  }

 private:
  int64_t now() const {
    uint64_t time = 0;
    cupti_.timestamp(&time);
    return static_cast<int64_t>(time);
  }

  void read(const FilledBuffer& buffer) {
    CUpti_Activity* record = nullptr;
    while (cupti_.activity_next_record(buffer.data.get(), buffer.bytes, &record) == CUPTI_SUCCESS) {
      switch (record->kind) {
        case CUPTI_ACTIVITY_KIND_KERNEL:
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
          add_kernel(*reinterpret_cast<const CUpti_ActivityKernel10*>(record));
          break;
        case CUPTI_ACTIVITY_KIND_MEMCPY:
          add_copy(*reinterpret_cast<const CUpti_ActivityMemcpy6*>(record));
          break;
        case CUPTI_ACTIVITY_KIND_MEMSET:
          add_fill(*reinterpret_cast<const CUpti_ActivityMemset4*>(record));
          break;
        case CUPTI_ACTIVITY_KIND_RUNTIME:
        case CUPTI_ACTIVITY_KIND_DRIVER:
          add_call(*reinterpret_cast<const CUpti_ActivityAPI*>(record));
          break;
        case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
          const auto& link = *reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(record);
          if (link.externalKind == kOurParts && link.externalId < part_names_.size()) {
            part_of_[link.correlationId] = link.externalId;
          }
          break;
        }
        default:
          break;
      }
    }
  }

  /// Adds an activity with the members that all record types have.
  template <class Record>
  Activity& add(ActivityKind kind, std::string name, const Record& record) {
    recording_.activities.push_back({.kind = kind,
                                     .name = std::move(name),
                                     .begin_ns = static_cast<int64_t>(record.start),
                                     .end_ns = static_cast<int64_t>(record.end),
                                     .correlation = record.correlationId});
    return recording_.activities.back();
  }

  template <class Record>
  Activity& add_on_device(ActivityKind kind, std::string name, const Record& record) {
    Activity& activity = add(kind, std::move(name), record);
    activity.context = record.contextId;
    activity.stream = record.streamId;
    return activity;
  }

  void add_kernel(const CUpti_ActivityKernel10& record) {
    Activity& kernel = add_on_device(ActivityKind::kernel, demangled(record.name), record);
    kernel.grid = {record.gridX, record.gridY, record.gridZ};
    kernel.block = {record.blockX, record.blockY, record.blockZ};
    kernel.registers = record.registersPerThread;
    kernel.static_shared_bytes = record.staticSharedMemory;
    kernel.dynamic_shared_bytes = record.dynamicSharedMemory;
  }

  void add_copy(const CUpti_ActivityMemcpy6& record) {
    Activity& copy = add_on_device(ActivityKind::copy, copy_name(record.copyKind), record);
    copy.bytes = static_cast<int64_t>(record.bytes);
    copy.source = memory_kind(record.srcKind);
    copy.destination = memory_kind(record.dstKind);
  }

  void add_fill(const CUpti_ActivityMemset4& record) {
    Activity& fill = add_on_device(ActivityKind::fill, "[CUDA memset]", record);
    fill.bytes = static_cast<int64_t>(record.bytes);
    fill.source = memory_kind(record.memoryKind);  // in the column where nvprof shows it
  }

  void add_call(const CUpti_ActivityAPI& record) {
    const auto domain =
        record.kind == CUPTI_ACTIVITY_KIND_RUNTIME ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API;
    const char* name = nullptr;
    const bool known = cupti_.callback_name(domain, record.cbid, &name) == CUPTI_SUCCESS && name != nullptr;
    add(ActivityKind::api, known ? without_version(name) : "?", record).thread = record.threadId;
  }

  CuptiLibrary cupti_;
  Recording recording_;
  bool recording_on_ = false;
  std::vector<std::string> part_names_;   ///< by external correlation id
  std::map<uint32_t, uint64_t> part_of_;  ///< external correlation id by correlation id
  int64_t begin_ns_ = 0;
};

}  // namespace

std::unique_ptr<Recorder> make_cuda_recorder() { return std::make_unique<CudaRecorder>(); }

}  // namespace convlab
