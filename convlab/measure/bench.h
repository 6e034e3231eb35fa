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

/// When a series of samples is long enough: when its median is known to within `spread` (see Summary::spread), after
/// `seconds`, or at `most` samples; but not before `least` samples, which may take up to 10 times `seconds`.
struct Effort {
  double spread = 0.01;
  double seconds = 1;
  int least = 10;
  int most = 500;
  int graph = 0;  ///< on a GPU, launches of a CUDA graph whose replays are timed, too
};

/// Takes one sample. `end`: it is the first or the last of its series.
using TakeSample = std::function<double(bool end)>;

/// Takes samples until they are enough; at least one.
Summary sample(const Effort& effort, const TakeSample& take);

/// Which samples' outputs are checked: the ends of each series are enough for kernels whose source is known to keep no
/// state; of a stranger's, all.
enum class Checked { ends, all };

/// What kernels are timed on: real numbers as `convlab verify` uses them, with the outputs by definition. As many
/// different images as the definition computes in a second or two, 3 to 64; a batch repeats them in any order.
std::shared_ptr<const OracleLayer> timed_layer(const ConvStep& step, Oracle& oracle);

/// The arrays of one problem on one device, in the layouts of the step. All kernels timed on the step share them. Each
/// place of the batch holds an image of the layer, and renew() chooses others: since an image's output depends on that
/// image alone, the layer tells every element of the right output, at the problem's own size and however often the
/// images change.
class BenchArrays {
 public:
  /// `layer` is of this problem, whatever its n. Error(unavailable) where the device has no memory for them.
  BenchArrays(Device& device, const ConvStep& step, std::shared_ptr<const OracleLayer> layer);

  Device& device() const { return device_; }
  Stream& stream() const { return *stream_; }
  const ConvStep& step() const { return step_; }

  /// The arrays where they lie now; see renew().
  ConvArgs arguments() const;

  /// Moves to the next of three addresses, puts into every place of the batch an image that differs from the one before
  /// and from the one there last time, and poison where the output will be: what a kernel kept from an earlier launch
  /// does not help it, and what it leaves out shows.
  void renew();

  /// Compares all elements of the output with the images' right output.
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
  size_t place_ = 0;                              ///< the address in use
  std::array<std::vector<int64_t>, kPlaces> at_;  ///< for each, the layer's image at each place of the batch
  Buffer x_, w_, bias_, y_, flush_;
  std::vector<float> staging_;               ///< a piece of the plain input or output on its way from or to the device
  Buffer staging_lock_;                      ///< makes that way short
  std::unique_ptr<ThreadPool> own_threads_;  ///< for comparing, where the device has none
};

/// What used the caches before a launch.
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

  /// What a library chose; "" for kernels without a choice.
  std::string choice() const;

  /// Milliseconds: the device's own time, of a GPU with hot caches right behind another launch; and the host's clock
  /// around launching and waiting. Of a file with a prolog and an epilog that is its call alone, and layer_ms is all
  /// three; `early`: see SetAside.
  struct Times {
    double device_ms = 0, op_ms = 0, layer_ms = 0;
    bool early = false;
  };

  /// Of the last launch.
  const Times& last() const { return last_; }

  /// Launches once. If all samples are checked, or this one ends its series, the arrays are renewed first; then
  /// Error(wrong_result) where any element of the output is wrong. Neither renewing nor checking is part of the times.
  /// Where all are checked, a launch that is not timed comes first, so that caches are hot.
  Times run(Caches caches, bool end);

  /// Replays a CUDA graph of so many launches, always the same number: milliseconds of one, by the device's clock.
  /// Outputs are checked at the ends of the series. Error(unavailable) where launches cannot be recorded.
  double replay(int launches, bool end);

  /// On a host: waits until the threads of what ran before sleep (OpenMP's look out for work some milliseconds after a
  /// launch). Then launches once, so that the next launch finds threads and caches as after one of its own kind.
  void take_over();

 private:
  /// Launches and times once; a GPU's own time is then taken anew of a launch right behind another, if asked for.
  Times launch(bool behind_another = false);
  void give();          ///< a launch to the stream
  void check_output();  ///< of the last; Error(wrong_result)

  const ConvKernel& kernel_;
  BenchArrays& arrays_;
  Checked checked_;
  std::vector<int> tuning_;
  Buffer prepared_, workspace_;
  double prepare_ms_ = 0;
  Times last_;
  std::unique_ptr<Replay> graph_;
};

}  // namespace convlab
