#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "convlab/device/thread_pool.h"
#include "convlab/verify/fills.h"

namespace convlab {

/// What a step's output is by definition, in double.
struct Expected {
  Shape shape;                ///< N, K, P, Q; pooled if the step pools
  std::vector<double> value;  ///< NaN where the receptive field holds one
  /// Size of the terms behind each value: sum of |x||w|, and |bias|: an error of e times each term's size moves the
  /// value before its activation by at most e times this (largest, or mean, over a pooling window).
  std::vector<float> scale;
};

/// Computes a convolution by definition, on the host, sharing no code with any kernel, not even cpu.reference: it
/// scatters each input row over the output rows that read it, where the kernels gather. Sums are double, in which
/// integer fills are exact and reals round with 2^-29 of float's error. The epilogue takes no part.
Expected convolve(const ConvStep& step, const Tensor& x, const Tensor& w, ThreadPool& threads);

/// The step's output, given its convolution; bias and what is added are used if the step has them.
Expected finish(const ConvStep& step, const Expected& sums, const Tensor& bias, const Tensor& added,
                ThreadPool& threads);

/// Images and filters with their convolution.
struct Convolved {
  std::shared_ptr<const Tensor> x;
  Tensor w;
  Expected sums;
};

/// A layer's arrays with the output that they must give.
struct OracleLayer {
  std::shared_ptr<const Convolved> convolved;
  Tensor bias, added;
  std::optional<Expected> finished;  ///< what the epilogue makes of the sums, if there is one

  const Expected& expected() const { return finished ? *finished : convolved->sums; }
};

/// A number that grows while an Oracle computes, a sign of life.
int64_t oracle_progress();

/// Makes layers, and keeps them while the problem stays the same, so that checking many kernels costs as much as one.
class Oracle {
 public:
  /// Keeps up to about `kept_bytes` of arrays, and always the layers in use.
  explicit Oracle(int threads = 0, int64_t kept_bytes = int64_t{512} << 20);

  /// The layer for this fill; `limits` matters to integers alone. Layers 0, 1, ... have the same images and different
  /// filters and bias.
  std::shared_ptr<const OracleLayer> layer(const ConvStep& step, Fill fill, const IntegerLimits& limits, int layer);

  /// Its threads, for other work while it has none.
  ThreadPool& threads() { return threads_; }

 private:
  struct Key {
    ElementType input;
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
