#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "convlab/base/rng.h"
#include "convlab/device/device.h"
#include "convlab/device/thread_pool.h"
#include "convlab/kernels/kernel.h"
#include "convlab/measure/summary.h"
#include "convlab/verify/compare.h"
#include "convlab/verify/oracle.h"

namespace convlab {

/// When a series of samples is long enough: when its median is known to within `spread` (see Summary::spread), when
/// `seconds` are over, or at `most` samples; but not before `least` samples, nor, for those, after 10 times `seconds`.
struct Effort {
  double spread = 0.01;
  double seconds = 1;
  int least = 10;
  int most = 500;
};

/// Takes one sample. `end`: it is the first of its series, or the last.
using TakeSample = std::function<double(bool end)>;

/// Takes samples until it is enough. One at least.
Summary sample(const Effort& effort, const TakeSample& take);

/// Which samples' outputs are looked at: those at the ends of each series will do for kernels whose source is known to
/// keep no state; of a stranger's, all.
enum class Checked { ends, all };

/// What kernels are timed on: real numbers as `convlab verify` uses them, with what they must give by definition. As
/// many different images as the definition computes in a second or two, 3 to 64; a batch repeats them in any order.
std::shared_ptr<const OracleLayer> timed_layer(const ConvStep& step, Oracle& oracle);

/// The arrays of one problem on one device, in the layouts of the step. Every kernel that is timed on the step shares
/// them. Each place of the batch holds an image of the layer, and renew() chooses others: since an image's output
/// depends on that image alone, the layer tells every element that a kernel must give, at the problem's own size and
/// however often the images change.
class BenchArrays {
 public:
  /// `layer` is of this problem, whatever its n. Error(unavailable) where the device has no memory for them.
  BenchArrays(Device& device, const ConvStep& step, std::shared_ptr<const OracleLayer> layer);

  Device& device() const { return device_; }
  Stream& stream() const { return *stream_; }
  const ConvStep& step() const { return step_; }

  /// The arrays where they lie now; see renew().
  ConvArgs arguments() const;

  /// Takes the next one of three addresses, and puts an image into every place of the batch that is neither the one
  /// before nor the one that was there last time, and poison where the output will be: what a kernel kept from an
  /// earlier launch is of no use to it, and what it leaves out shows.
  void renew();

  /// Compares all elements of the output with what the images must give.
  Verdict check(const KernelInfo& kernel);

  /// Fills memory that is larger than any cache, so that none of the arrays is left in one.
  void flush_caches();

 private:
  void upload_images();
  void* x() const;
  void* y() const;
  ThreadPool& threads();

  Device& device_;
  ConvStep step_;
  std::shared_ptr<const OracleLayer> layer_;
  std::unique_ptr<Stream> stream_;
  Rng random_{1};
  static constexpr size_t kPlaces = 3;
  size_t place_ = 0;                              ///< at which of the addresses the arrays lie
  std::array<std::vector<int64_t>, kPlaces> at_;  ///< for each: which of the layer's images is where in the batch
  Buffer x_, w_, bias_, y_, flush_;
  std::unique_ptr<ThreadPool> own_threads_;  ///< to compare with, where the device has none
};

/// What was used before a launch.
enum class Caches { hot, cold };

/// One kernel, ready to run on such arrays.
class KernelBench {
 public:
  /// Prepares the kernel and launches it once. `tuning`: a value for each of its tunables, or empty.
  KernelBench(const ConvKernel& kernel, BenchArrays& arrays, Checked checked = Checked::ends,
              std::span<const int> tuning = {});

  const ConvKernel& kernel() const { return kernel_; }
  BenchArrays& arrays() const { return arrays_; }
  double prepare_ms() const { return prepare_ms_; }

  /// What a library chose to do here; "" for kernels that have no choice.
  std::string choice() const;

  /// Milliseconds of the device's own time, and by the host's clock around launching and waiting.
  struct Times {
    double device_ms = 0, op_ms = 0;
  };

  /// Launches once. If all samples are to be checked, or this one is at an end of its series, on renewed arrays;
  /// Error(wrong_result) where any element of the output is not what it must be then. Neither renewing nor checking is
  /// part of the times. Where all are checked, a launch that is not timed comes before, so that caches are hot.
  Times run(Caches caches, bool end);

  /// On a host: waits until the threads of what ran before sleep (OpenMP's look out for work some milliseconds after a
  /// launch). Then launches once, so that the next launch finds threads and caches as after one of its own kind.
  void take_over();

 private:
  Times launch();

  const ConvKernel& kernel_;
  BenchArrays& arrays_;
  Checked checked_;
  std::vector<int> tuning_;
  Buffer prepared_, workspace_;
  double prepare_ms_ = 0;
};

}  // namespace convlab
