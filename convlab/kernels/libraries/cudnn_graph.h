#pragma once

#include <list>
#include <vector>

#include "convlab/kernels/conv_step.h"
#include "convlab/kernels/libraries/cudnn_library.h"

namespace convlab::cudnn {

/// The arrays of a step, by their unique IDs in the library.
enum class Array : int64_t { x = 1, w, bias, added, y };

/// A step as a cuDNN operation graph: the convolution and its fused epilogue, computed in fp32. Images are fp32 nchw
/// and filters KCRS; or images are fp16 nhwc float16, and filters are fp16 KRSC.
class ConvGraph {
 public:
  /// `bias` is the type of the bias. `alignment` is the alignment of all arrays in bytes.
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
  int64_t next_between_ = 100;   ///< ID of the next intermediate result
  std::list<Descriptor> parts_;  ///< descriptors that the graph refers to
  Descriptor graph_;
};

}  // namespace convlab::cudnn
