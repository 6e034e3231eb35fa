#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "convlab/device/device.h"
#include "convlab/kernels/kernel.h"
#include "convlab/measure/summary.h"

namespace convlab {

/// When a series of samples is long enough: when its median is known to within `spread` (see Summary::spread), when
/// `seconds` are over, or at `most` samples; but not before `least` samples, nor, for those, after 10 times `seconds`.
struct Effort {
  double spread = 0.01;
  double seconds = 1;
  int least = 10;
  int most = 500;
};

/// Takes samples until it is enough. One at least.
Summary sample(const Effort& effort, const std::function<double()>& take);

/// The arrays of one problem on one device, filled with reals as `convlab verify` uses them (64 different images,
/// repeated), plain or in channel blocks as the step has them. Every kernel that is timed on the step shares them.
class BenchArrays {
 public:
  /// Error(unavailable) where the device has no memory for them, Error(bad_input) for images in lanes.
  BenchArrays(Device& device, const ConvStep& step);

  Device& device() const { return device_; }
  Stream& stream() const { return *stream_; }
  const ConvStep& step() const { return step_; }
  ConvArgs arguments() const;

  /// Fills memory that is larger than any cache, so that none of the arrays is left in one.
  void flush_caches();

 private:
  Device& device_;
  ConvStep step_;
  std::unique_ptr<Stream> stream_;
  Buffer x_, w_, bias_, y_, flush_;
};

/// One kernel, ready to run on such arrays.
class KernelBench {
 public:
  /// Prepares the kernel and launches it once. `tuning`: a value for each of its tunables, or empty.
  KernelBench(const ConvKernel& kernel, BenchArrays& arrays, std::span<const int> tuning = {});

  double prepare_ms() const { return prepare_ms_; }

  /// What a library chose to do here; "" for kernels that have no choice.
  std::string choice() const;

  /// Launches once; milliseconds of the device's own time, and by the host's clock around launching and waiting.
  struct Times {
    double device_ms = 0, op_ms = 0;
  };
  Times run();

 private:
  const ConvKernel& kernel_;
  BenchArrays& arrays_;
  std::vector<int> tuning_;
  Buffer prepared_, workspace_;
  ConvArgs arguments_;
  double prepare_ms_ = 0;
};

}  // namespace convlab
