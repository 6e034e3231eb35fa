#pragma once

#include <span>

#include "convlab/kernels/kernel.h"
#include "convlab/model/graph.h"

namespace convlab {

/// One operator of a plan that is not a convolution. Inputs and output are dense float32, but an ActivationOp may take
/// raw pixels: this is how they become float32 for an operator that takes nothing else. A ScaleOp takes pixels and
/// gives pixels. All arrays are plain, except inputs[0] and the output of kernels that know another layout (they then
/// have its type). In Layout::channel_lanes, channel_bytes and rows of pixels all inputs lie so but constants and, in
/// the last, images of one pixel.
struct OpStep {
  Op op;
  std::vector<Shape> inputs;
  Shape output;
  Activation activation;                 ///< applied to the operator's own result; set only for GemmOp and BatchNormOp
  ElementType input = ElementType::f32;  ///< of inputs[0]; u8 only with ActivationOp and ScaleOp
  std::vector<bool> constant;            ///< by input: whether prepare() is given it; empty: none
  Layout input_layout = Layout::plain, output_layout = Layout::plain;
  std::vector<int64_t> input_steps;  ///< by input, empty: all 0; as ConvStep's
  int64_t output_step = 0;
  Shape written;  ///< the shape in which inputs[0] was written if its layout is not plain; perhaps reshaped since
};

/// Addresses in the memory of the kernel's device; see ConvArgs.
struct OpArgs {
  const OpStep& step;
  std::span<const float* const> inputs;
  float* output = nullptr;
  void* prepared = nullptr;
  void* workspace = nullptr;
  PrefetchHint prefetch = {};
  int64_t turn = 0;  ///< counts launches: a kernel may read much memory to and fro, and find what a cache kept
};

/// The contract of an operator's kernel, like ConvKernel's. `prepare` sees the addresses of constant inputs; others are
/// null. What it prepares must not depend on the batch: the first size of inputs that are not constant.
struct OpKernel {
  KernelInfo info;                                     ///< an operator's kernel needs only name, device, math and rank
  Refusal (*refuses)(const OpStep&) = nullptr;         ///< also refuses operators other than its own
  size_t (*prepared_bytes)(const OpStep&) = nullptr;   ///< may be null: 0
  size_t (*workspace_bytes)(const OpStep&) = nullptr;  ///< may be null: 0; of any number of threads
  void (*prepare)(const OpArgs&, Stream&) = nullptr;   ///< may be null
  void (*launch)(const OpArgs&, Stream&) = nullptr;    ///< writes all of output
  Layout layout = Layout::plain;  ///< the layout that it knows besides plain; it is never asked about steps in others
  bool packs_weights = false;     ///< as ConvKernel's, of inputs[1], which is a constant
  size_t (*thread_bytes)(const OpStep&) =
      nullptr;  ///< may be null: 0; of the workspace, for each thread, beside the rest
};

/// What the workspace of a step takes on a device of so many threads.
size_t workspace_bytes(const OpKernel& kernel, const OpStep& step, int threads);

/// The kernel that the planner takes: the first by comes_before() that does not refuse; or nullptr.
const OpKernel* find_op_kernel(const OpStep& step, DeviceKind device, Math math = Math::fp32);

/// The same, but Error(unavailable) with the reason if there is none.
const OpKernel& choose_op_kernel(const OpStep& step, DeviceKind device, Math math = Math::fp32);

/// Why no kernel of the device supports the step: the first reason that a kernel of this operator has, "" if there is
/// no such kernel.
std::string why_unsupported(const OpStep& step, DeviceKind device, Math math = Math::fp32);

}  // namespace convlab
