#pragma once

#include <list>
#include <vector>

#include "convlab/kernels/kernel.h"
#include "convlab/kernels/libraries/cudnn_library.h"

namespace convlab::cudnn {

/// The arrays of a step, by the numbers that the library knows them by.
enum class Array : int64_t { x = 1, w, bias, added, y };

/// A step as the library's graph of operations: the convolution and what is fused with it, in float32. Images are plain
/// float32 and filters KCRS; or images lie in Layout::channels_last, and filters are float16 KRSC.
class ConvGraph {
 public:
  /// `bias` is the type of the bias. `alignment`, in bytes, is that of all arrays.
  ConvGraph(const Library& library, cudnnHandle_t handle, const ConvStep& step, cudnnDataType_t bias,
            int64_t alignment);

  const Descriptor& descriptor() const { return graph_; }
  const std::vector<Array>& arrays() const { return arrays_; }
  cudnnDataType_t bias() const { return bias_; }

 private:
  Descriptor& part(cudnnBackendDescriptorType_t type) { return parts_.emplace_back(library_, type); }
  Descriptor& tensor(int64_t number, cudnnDataType_t type, const std::array<int64_t, 4>& sizes,
                     const std::array<int64_t, 4>& strides);
  Descriptor& array(Array array, cudnnDataType_t type, const std::array<int64_t, 4>& sizes, int64_t pixel_step);
  Descriptor& between();
  const Descriptor& convolution(const ConvProblem& problem);
  const Descriptor& addition();
  const Descriptor& activation(const Activation& activation);

  const Library& library_;
  const bool channels_last_;
  const std::array<int64_t, 4> y_sizes_;
  const cudnnDataType_t bias_;
  const int64_t alignment_;
  std::vector<Array> arrays_;
  int64_t next_between_ = 100;   ///< the number of what one operation gives to the next
  std::list<Descriptor> parts_;  ///< what the graph refers to
  Descriptor graph_;
};

}  // namespace convlab::cudnn
