#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "convlab/base/rng.h"
#include "convlab/judge/cubin_names.h"
#include "convlab/judge/host_memory.h"
#include "convlab/judge/launch_list.h"

namespace convlab::judge {

/// What a submission's kernels did wrong, in CUDA's words. The GPU's context may be of no use after it.
struct GpuFault {
  std::string text;
};

/// Machine code on the GPU: its kernels, and its variables as the file initialises them.
class GpuModule {
 public:
  GpuModule(std::span<const uint8_t> cubin, const CubinNames& names);
  ~GpuModule();
  GpuModule(const GpuModule&) = delete;
  GpuModule& operator=(const GpuModule&) = delete;

  /// By the names of the host's compiler. GpuFault where they are not there, or end before offset + bytes.
  CUfunction kernel(const std::string& symbol) const;
  CUdeviceptr variable(const std::string& symbol, int64_t offset, int64_t bytes) const;

 private:
  const CubinNames& names_;
  CUmodule module_ = nullptr;
};

/// How one piece of memory is cut into arrays: where one of the same size was given back, otherwise behind all others,
/// with a gap.
class Cuts {
 public:
  explicit Cuts(int64_t begin) : end_(begin) {}

  /// Where the array begins. `gap`: behind it, if it is new.
  int64_t cut(int64_t bytes, int64_t gap);
  void give_back(int64_t begin, int64_t bytes) { free_.emplace(bytes, begin); }
  int64_t end() const { return end_; }

 private:
  int64_t end_;
  std::multimap<int64_t, int64_t> free_;  ///< by bytes
};

/// Memory of the GPU that is poisoned and cut into arrays anew for each run, at other addresses.
class GpuArena {
 public:
  /// For arrays of so many bytes in all. Error(unavailable) if there are not so many.
  explicit GpuArena(int64_t bytes);
  ~GpuArena();
  GpuArena(const GpuArena&) = delete;
  GpuArena& operator=(const GpuArena&) = delete;

  void begin(uint64_t seed);
  char* cut(int64_t bytes);
  void give_back(const char* array, int64_t bytes) { cuts_.give_back(array - memory_, bytes); }

  /// What arrays of a list take at most.
  static int64_t bytes_for(const LaunchList& list, const ConvProblem& problem);

 private:
  int64_t random_gap();

  char* memory_ = nullptr;
  int64_t bytes_;
  Rng random_{0};
  Cuts cuts_{0};
};

/// One run of a list on the GPU: made, executed once, and asked for y.
class GpuRun {
 public:
  struct Data {
    std::span<const uint8_t> x, w;
    bool zeros = false;  ///< y holds zeros before, and not poison
  };
  GpuRun(const LaunchList& list, const ConvProblem& problem, const GpuModule& module, GpuArena& arena, const Data& data,
         uint64_t seed);
  ~GpuRun();
  GpuRun(const GpuRun&) = delete;
  GpuRun& operator=(const GpuRun&) = delete;

  /// Gives all operations to the GPU, and waits for them. GpuFault if a kernel faults or cannot be launched.
  void execute();

  void read_output(std::span<float> y) const;

 private:
  struct Array {
    char* begin;
    int64_t bytes;
  };
  void place(int number, std::span<const uint8_t> bytes);
  /// What the operation comes to when its time has come; null for what is done already.
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
