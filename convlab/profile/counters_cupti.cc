// Collects counters through CUPTI's Range Profiler, one range per kernel. Follows its documentation ("CUPTI Range
// Profiling API", CUDA 13): metrics make a config image, the GPU fills a counter data image, the host evaluates it.

#include <cuda_runtime_api.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include "convlab/base/error.h"
#include "convlab/device/cuda_check.h"
#include "convlab/device/cupti_library.h"
#include "convlab/profile/counters.h"

namespace convlab {
namespace {

/// Returns the metrics that reports show, named as in NVIDIA's tools. A GPU may lack some.
std::vector<std::string> wanted_metrics() {
  std::vector<std::string> names{"sm__throughput.avg.pct_of_peak_sustained_elapsed",
                                 "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
                                 "dram__throughput.avg.pct_of_peak_sustained_elapsed",
                                 "lts__throughput.avg.pct_of_peak_sustained_elapsed",
                                 "l1tex__throughput.avg.pct_of_peak_sustained_active",
                                 "sm__warps_active.avg.pct_of_peak_sustained_active",
                                 "dram__bytes.sum",
                                 "gpu__time_duration.sum"};
  for (const char* reason : {"long_scoreboard", "short_scoreboard", "wait", "barrier", "math_pipe_throttle",
                             "mio_throttle", "lg_throttle", "not_selected", "no_instruction", "branch_resolving",
                             "dispatch_stall", "drain", "imc_miss", "membar", "sleeping", "tex_throttle", "selected"}) {
    names.push_back(fmt::format("smsp__average_warps_issue_stalled_{}_per_issue_active.ratio", reason));
  }
  return names;
}

/// A failure that becomes a refusal.
struct NoCounters {
  std::string why;
};

/// prepare() may fail halfway: the destructor frees what it had created.
class RangeProfiler {
 public:
  RangeProfiler() = default;

  void prepare(size_t most_kernels) {
    most_ranges_ = most_kernels;
    cupti_.load_neighbors();
    CUpti_Profiler_Initialize_Params initialize{CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
    call("cuptiProfilerInitialize", initialize);
    initialized_ = true;
    make_host();
    choose_metrics();
    make_config();
    CUpti_RangeProfiler_Enable_Params enable{CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE};
    enable.ctx = current_context();
    call("cuptiRangeProfilerEnable", enable);
    profiler_ = enable.pRangeProfilerObject;
    make_image();
  }

  ~RangeProfiler() {
    CUpti_RangeProfiler_Disable_Params disable{CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE};
    disable.pRangeProfilerObject = profiler_;
    if (profiler_ != nullptr) try_call("cuptiRangeProfilerDisable", disable);
    CUpti_Profiler_Host_Deinitialize_Params release{CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE};
    release.pHostObject = host_;
    if (host_ != nullptr) try_call("cuptiProfilerHostDeinitialize", release);
    CUpti_Profiler_DeInitialize_Params end{CUpti_Profiler_DeInitialize_Params_STRUCT_SIZE};
    if (initialized_) try_call("cuptiProfilerDeInitialize", end);
  }
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;

  void take(const std::function<void()>& pass) {
    CUpti_RangeProfiler_SetConfig_Params config{CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE};
    config.pRangeProfilerObject = profiler_;
    config.configSize = config_.size();
    config.pConfig = config_.data();
    config.counterDataImageSize = image_.size();
    config.pCounterDataImage = image_.data();
    config.range = CUPTI_AutoRange;
    config.replayMode = CUPTI_KernelReplay;
    config.maxRangesPerPass = most_ranges_;
    config.numNestingLevels = 1;
    config.minNestingLevel = 1;
    call("cuptiRangeProfilerSetConfig", config);
    CUpti_RangeProfiler_Start_Params start{CUpti_RangeProfiler_Start_Params_STRUCT_SIZE};
    start.pRangeProfilerObject = profiler_;
    call("cuptiRangeProfilerStart", start);
    pass();
    CUpti_RangeProfiler_Stop_Params stop{CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE};
    stop.pRangeProfilerObject = profiler_;
    call("cuptiRangeProfilerStop", stop);
    CUpti_RangeProfiler_DecodeData_Params decode{CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE};
    decode.pRangeProfilerObject = profiler_;
    call("cuptiRangeProfilerDecodeData", decode);
  }

  size_t ranges() const {
    CUpti_RangeProfiler_GetCounterDataInfo_Params info{CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE};
    info.pCounterDataImage = image_.data();
    info.counterDataImageSize = image_.size();
    call("cuptiRangeProfilerGetCounterDataInfo", info);
    return info.numTotalRanges;
  }

  std::vector<std::pair<std::string, double>> metrics_of(size_t range) {
    std::vector<const char*> names = names_as_pointers();
    std::vector<double> values(names.size());
    CUpti_Profiler_Host_EvaluateToGpuValues_Params evaluate{CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE};
    evaluate.pHostObject = host_;
    evaluate.pCounterDataImage = image_.data();
    evaluate.counterDataImageSize = image_.size();
    evaluate.rangeIndex = range;
    evaluate.ppMetricNames = names.data();
    evaluate.numMetrics = names.size();
    evaluate.pMetricValues = values.data();
    call("cuptiProfilerHostEvaluateToGpuValues", evaluate);
    std::vector<std::pair<std::string, double>> metrics;
    for (size_t i = 0; i < values.size(); ++i) metrics.emplace_back(metrics_[i], values[i]);
    return metrics;
  }

 private:
  /// All functions of this API take the address of one struct. An older CUPTI lacks some of them.
  template <class Params>
  CUptiResult try_call(const char* name, Params& params) const {
    try {
      return reinterpret_cast<CUptiResult (*)(Params*)>(cupti_.find(name))(&params);
    } catch (const Error& missing) {
      throw NoCounters{missing.what()};
    }
  }

  template <class Params>
  void call(const char* name, Params& params) const {
    const CUptiResult result = try_call(name, params);
    if (result == CUPTI_SUCCESS) return;
    if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ||
        result == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES) {
      throw NoCounters{
          "the driver restricts GPU counters to administrators; ask the administrator to load it with \"options nvidia "
          "NVreg_RestrictProfilingToAdminUsers=0\" (in /etc/modprobe.d), or to start the container with the capability "
          "SYS_ADMIN"};
    }
    throw NoCounters{fmt::format("{}: {}", name, cupti_.words_of(result))};
  }

  static CUcontext current_context() {
    // Get the runtime's context through the driver that the runtime has loaded: nothing here links the driver itself.
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    const auto get =
        driver == nullptr ? nullptr : reinterpret_cast<CUresult (*)(CUcontext*)>(dlsym(driver, "cuCtxGetCurrent"));
    CUcontext context = nullptr;
    if (get == nullptr || get(&context) != CUDA_SUCCESS) throw NoCounters{"the driver returns no current context"};
    return context;
  }

  void make_host() {
    int device = 0;
    check_cuda(cudaGetDevice(&device), "reading the current GPU");
    CUpti_Device_GetChipName_Params chip{CUpti_Device_GetChipName_Params_STRUCT_SIZE};
    chip.deviceIndex = static_cast<size_t>(device);
    call("cuptiDeviceGetChipName", chip);

    CUpti_Profiler_GetCounterAvailability_Params availability{CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE};
    availability.ctx = current_context();
    call("cuptiProfilerGetCounterAvailability", availability);
    available_.resize(availability.counterAvailabilityImageSize);
    availability.pCounterAvailabilityImage = available_.data();
    call("cuptiProfilerGetCounterAvailability", availability);

    CUpti_Profiler_Host_Initialize_Params host{CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE};
    host.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    host.pChipName = chip.pChipName;
    host.pCounterAvailabilityImage = available_.data();
    call("cuptiProfilerHostInitialize", host);
    host_ = host.pHostObject;
  }

  /// Selects the wanted metrics that this chip supports.
  void choose_metrics() {
    for (std::string& name : wanted_metrics()) {
      const char* pointer = name.c_str();
      CUpti_Profiler_Host_ConfigAddMetrics_Params add{CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE};
      add.pHostObject = host_;
      add.ppMetricNames = &pointer;
      add.numMetrics = 1;
      if (try_call("cuptiProfilerHostConfigAddMetrics", add) == CUPTI_SUCCESS) metrics_.push_back(std::move(name));
    }
    if (metrics_.empty()) throw NoCounters{"this GPU supports none of the requested counters"};
  }

  void make_config() {
    CUpti_Profiler_Host_GetConfigImageSize_Params size{CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE};
    size.pHostObject = host_;
    call("cuptiProfilerHostGetConfigImageSize", size);
    config_.resize(size.configImageSize);
    CUpti_Profiler_Host_GetConfigImage_Params get{CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE};
    get.pHostObject = host_;
    get.configImageSize = config_.size();
    get.pConfigImage = config_.data();
    call("cuptiProfilerHostGetConfigImage", get);
  }

  void make_image() {
    std::vector<const char*> names = names_as_pointers();
    CUpti_RangeProfiler_GetCounterDataSize_Params size{CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE};
    size.pRangeProfilerObject = profiler_;
    size.pMetricNames = names.data();
    size.numMetrics = names.size();
    size.maxNumOfRanges = most_ranges_;
    size.maxNumRangeTreeNodes = static_cast<uint32_t>(most_ranges_);
    call("cuptiRangeProfilerGetCounterDataSize", size);
    image_.resize(size.counterDataSize);
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params initialize{
        CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE};
    initialize.pRangeProfilerObject = profiler_;
    initialize.counterDataSize = image_.size();
    initialize.pCounterData = image_.data();
    call("cuptiRangeProfilerCounterDataImageInitialize", initialize);
  }

  std::vector<const char*> names_as_pointers() const {
    std::vector<const char*> names;
    for (const std::string& name : metrics_) names.push_back(name.c_str());
    return names;
  }

  CuptiLibrary cupti_;
  size_t most_ranges_ = 0;
  bool initialized_ = false;
  std::vector<std::string> metrics_;
  std::vector<uint8_t> available_;  ///< the host object may read it during its lifetime
  std::vector<uint8_t> config_, image_;
  CUpti_Profiler_Host_Object* host_ = nullptr;
  CUpti_RangeProfiler_Object* profiler_ = nullptr;
};

}  // namespace

Utilisation take_counters(const Recording& recording, const std::function<void()>& pass) {
  std::vector<const Activity*> kernels;
  for (const Activity& each : recording.activities) {
    if (each.kind == ActivityKind::kernel) kernels.push_back(&each);
  }
  Utilisation result;
  if (kernels.empty()) return {.kernels = {}, .refusal = "no kernels to count"};
  try {
    RangeProfiler profiler;
    profiler.prepare(kernels.size());
    profiler.take(pass);
    const size_t ranges = profiler.ranges();
    if (ranges != kernels.size()) {
      throw NoCounters{fmt::format("counted {} kernels, expected {} per pass", ranges, kernels.size())};
    }
    for (size_t i = 0; i < ranges; ++i) {
      result.kernels.push_back(
          {.kernel = kernels[i]->name, .part = kernels[i]->part, .metrics = profiler.metrics_of(i)});
    }
  } catch (const NoCounters& refused) {
    result = {.kernels = {}, .refusal = refused.why};
  }
  return result;
}

}  // namespace convlab
