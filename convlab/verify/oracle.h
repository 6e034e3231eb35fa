#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "convlab/device/thread_pool.h"
#include "convlab/verify/fills.h"

namespace convlab {

/// A step's reference output, in double.
struct Expected {
  Shape shape;                ///< N, K, P, Q; pooled if the step pools
  std::vector<double> value;  ///< NaN if the receptive field has one
  /// Magnitude of the terms of each value: sum of |x||w|, plus |bias|. A relative error of e in each term moves the
  /// value before its activation by at most e times this (max or mean over a pooling window).
  std::vector<float> scale;
};

/// Computes a convolution directly on the host. It shares no code with any kernel, not even cpu.reference: it scatters
/// each input row over the output rows that read it, while the kernels gather. Sums are double, in which integer fills
/// are exact and reals round with 2^-29 of fp32's error. Ignores the epilogue.
Expected convolve(const ConvStep& step, const Tensor& x, const Tensor& w, ThreadPool& threads);

/// Returns the step's output from its convolution; `bias` and `added` are used if the step has them.
Expected finish(const ConvStep& step, const Expected& sums, const Tensor& bias, const Tensor& added,
                ThreadPool& threads);

/// Returns the activation of a value; NaN stays NaN.
double activate(const Activation& activation, double value);

/// Images and filters with their convolution.
struct Convolved {
  std::shared_ptr<const Tensor> x;
  Tensor w;
  Expected sums;
};

/// A layer's arrays with their reference output.
struct OracleLayer {
  std::shared_ptr<const Convolved> convolved;
  Tensor bias, added;
  std::optional<Expected> finished;  ///< the sums after the epilogue, if there is one

  const Expected& expected() const { return finished ? *finished : convolved->sums; }
};

/// Returns a counter that increases while an Oracle computes, to show that it is alive.
int64_t oracle_progress();

/// Makes layers and caches them while the problem stays the same, so that checking many kernels costs as much as one.
class Oracle {
 public:
  /// Caches up to about `kept_bytes` of arrays, and always the layers in use.
  explicit Oracle(int threads = 0, int64_t kept_bytes = int64_t{512} << 20);

  /// Returns the layer for this fill; `limits` is used for integers only. Layers 0, 1, ... have the same images, but
  /// different filters and bias.
  std::shared_ptr<const OracleLayer> layer(const ConvStep& step, Fill fill, const IntegerLimits& limits, int layer);

  /// Returns its threads, for other work while the oracle is idle.
  ThreadPool& threads() { return threads_; }

 private:
  struct Key {
    bool pixels;
    Fill fill;
    IntegerLimits limits;
    int layer;

    bool operator==(const Key&) const = default;
  };
  struct KeptLayer {
    Key key;
    Epilogue epilogue;
    bool adds;
    std::shared_ptr<const OracleLayer> layer;
  };

  std::shared_ptr<const Convolved> convolve_once(const ConvStep& step, const Key& key);

  ThreadPool threads_;
  int64_t kept_bytes_, held_bytes_ = 0;
  ConvProblem problem_;
  std::vector<std::pair<Key, std::shared_ptr<const Convolved>>> convolved_;
  std::vector<KeptLayer> layers_;
};

}  // namespace convlab
