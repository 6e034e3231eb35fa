#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "convlab/base/rng.h"
#include "convlab/judge/cubin_names.h"
#include "convlab/judge/launch_list.h"
#include "convlab/judge/replayed_memory.h"

namespace convlab::judge {

/// An error of a submission's kernels, with CUDA's message. The CUDA context may be unusable afterwards.
struct GpuFault {
  std::string text;
};

/// A cubin loaded on the GPU: its kernels, and its variables with their initial values.
class GpuModule {
 public:
  GpuModule(std::span<const uint8_t> cubin, const CubinNames& names);
  ~GpuModule();
  GpuModule(const GpuModule&) = delete;
  GpuModule& operator=(const GpuModule&) = delete;

  /// Look up symbols by the host compiler's mangled names. Throw GpuFault if the symbol is missing, or if offset +
  /// bytes is past its end.
  CUfunction kernel(const std::string& symbol) const;
  CUdeviceptr variable(const std::string& symbol, int64_t offset, int64_t bytes) const;

 private:
  const CubinNames& names_;
  CUmodule module_ = nullptr;
};

/// Suballocates one block of memory. Reuses a freed array of the same size if there is one; otherwise appends the array
/// with a gap after it.
class Cuts {
 public:
  explicit Cuts(int64_t begin) : end_(begin) {}

  /// Returns the array's offset. `gap` is left after the array if it is new.
  int64_t cut(int64_t bytes, int64_t gap);
  void give_back(int64_t begin, int64_t bytes) { free_.emplace(bytes, begin); }
  int64_t end() const { return end_; }

 private:
  int64_t end_;
  std::multimap<int64_t, int64_t> free_;  ///< by size in bytes
};

/// GPU memory that is filled with NaN and suballocated anew for each run, at other addresses.
class GpuArena {
 public:
  /// Allocates `bytes` for all arrays. Throws Error(unavailable) if the GPU has not that much free memory.
  explicit GpuArena(int64_t bytes);
  ~GpuArena();
  GpuArena(const GpuArena&) = delete;
  GpuArena& operator=(const GpuArena&) = delete;

  void begin(uint64_t seed);
  char* cut(int64_t bytes);
  void give_back(const char* array, int64_t bytes) { cuts_.give_back(array - memory_, bytes); }

  /// Returns the most memory that the arrays of a list need.
  static int64_t bytes_for(const LaunchList& list, const ConvProblem& problem);

 private:
  int64_t random_gap();

  char* memory_ = nullptr;
  int64_t bytes_;
  Rng random_{0};
  Cuts cuts_{0};
};

/// One run of a list on the GPU: prepared, executed once, then read back.
class GpuRun {
 public:
  struct Data {
    std::span<const uint8_t> x, w;
    bool zeros = false;  ///< y is filled with zeros before the run instead of NaN
  };
  GpuRun(const LaunchList& list, const ConvProblem& problem, const GpuModule& module, GpuArena& arena, const Data& data,
         uint64_t seed);
  ~GpuRun();
  GpuRun(const GpuRun&) = delete;
  GpuRun& operator=(const GpuRun&) = delete;

  /// Submits all operations to the GPU and waits for them. Throws GpuFault if a kernel faults or cannot be launched.
  void execute();

  void read_output(std::span<float> y) const;

 private:
  struct Array {
    char* begin;
    int64_t bytes;
  };
  void place(int number, std::span<const uint8_t> bytes);
  /// Returns the step to execute for the operation, or null if preparing it was all.
  std::function<void()> made(const Operation& op);
  std::function<void()> made_copy(void* to, const void* from, int64_t bytes, cudaMemcpyKind kind,
                                  cudaStream_t stream) const;
  std::function<void()> made_launch(const Operation& op);
  std::function<void()> made_product(const Operation& op);
  cudaStream_t stream(int number);
  cudaEvent_t event(int number);

  const LaunchList& list_;
  const GpuModule& module_;
  GpuArena& arena_;
  HostMemory host_;
  std::map<int, Array> arrays_;
  std::map<int, cudaStream_t> streams_{{0, nullptr}};
  std::map<int, cudaEvent_t> events_;
  std::vector<std::function<void()>> steps_;
};

}  // namespace convlab::judge
