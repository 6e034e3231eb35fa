#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "convlab/device/device.h"
#include "convlab/kernels/kernel.h"
#include "convlab/measure/bench_arrays.h"
#include "convlab/measure/summary.h"

namespace convlab {

/// When a series of samples is long enough: when its median is known to within `spread` (see Summary::spread), after
/// `seconds`, or at `most` samples. It has at least `least` samples, which may take up to 10 times `seconds`.
struct Effort {
  double spread = 0.01;
  double seconds = 1;
  int least = 10;
  int most = 500;
  int graph = 0;  ///< on a GPU: launches per CUDA graph whose replays are timed as well; 0: none
};

/// Takes one sample. `end`: it is the first or last sample of its series.
using TakeSample = std::function<double(bool end)>;

/// Takes samples until `effort` is met, at least one.
Summary sample(const Effort& effort, const TakeSample& take);

/// Which samples' outputs are checked. `ends`: first and last of each series, enough for kernels whose source is known
/// to keep no state; `all`: for untrusted kernels.
enum class Checked { ends, all };

/// Caches before a launch: hot after a launch of the same kernel, or flushed.
enum class Caches { hot, cold };

/// One kernel, ready to run on BenchArrays.
class KernelBench {
 public:
  /// Prepares the kernel and launches it once. `tuning`: one value per tunable, or empty.
  KernelBench(const Kernel& kernel, BenchArrays& arrays, Checked checked = Checked::ends,
              std::span<const int> tuning = {});

  const Kernel& kernel() const { return kernel_; }
  BenchArrays& arrays() const { return arrays_; }
  double prepare_ms() const { return prepare_ms_; }

  /// Returns what a library chose; "" for kernels without a choice.
  std::string choice() const;

  /// Milliseconds. device_ms: the device's own time; on a GPU with hot caches, of a launch queued directly behind
  /// another. op_ms: the host's clock around launch and wait. For a file with a prolog and an epilog, both are of its
  /// call alone, and layer_ms is the time of all three. `early`: see SetAside.
  struct Times {
    double device_ms = 0, op_ms = 0, layer_ms = 0;
    bool early = false;
  };

  /// The times of the last launch.
  const Times& last() const { return last_; }

  /// Launches once. If all samples are checked, or this one ends its series, renews the arrays first and throws
  /// Error(wrong_result) if any output element is wrong. The times include neither renewing nor checking. If all
  /// samples are checked, an untimed launch precedes the timed one to keep caches hot.
  Times run(Caches caches, bool end);

  /// Replays a CUDA graph of `launches` launches (always the same number) and returns the milliseconds of one launch by
  /// the device's clock. Checks outputs at the ends of the series. Throws Error(unavailable) if the launches cannot be
  /// captured.
  double replay(int launches, bool end);

  /// On a host: waits until the threads of earlier work sleep (OpenMP threads spin for some milliseconds after a
  /// launch). Then launches once, so that the next launch finds threads and caches as after a launch of the same
  /// kernel.
  void take_over();

 private:
  /// Launches and times once. If `behind_another`, a GPU's device time is measured again on a launch queued behind
  /// another.
  Times launch(bool behind_another = false);
  Args own(const Args& arguments) const;  ///< returns them with this kernel's memory and tuning
  void enqueue();                         ///< enqueues one launch on the stream
  void check_output();                    ///< of the last launch; throws Error(wrong_result)

  const Kernel& kernel_;
  BenchArrays& arrays_;
  Checked checked_;
  std::vector<int> tuning_;
  Buffer prepared_, workspace_;
  std::vector<const void*> without_weights_;  ///< the inputs of a launch with packed weights
  double prepare_ms_ = 0;
  Times last_;
  std::unique_ptr<Replay> graph_;
};

}  // namespace convlab
