#pragma once

#include <span>

#include "convlab/kernels/kernel.h"
#include "convlab/model/graph.h"

namespace convlab {

/// One operator of a plan that is not a convolution. All arrays are nchw float32, with two exceptions. uint8 pixels: an
/// ActivationOp converts them to float32 for operators that accept nothing else, and a ScaleOp reads and writes them.
/// Kernels with a format of their own: inputs[0] and the output may have it; in nchw8c float32, nhwc and nhwc4, all
/// inputs have it except constants and, in nhwc, images of one pixel.
struct OpStep {
  Op op;
  std::vector<Shape> inputs;
  Shape output;
  Activation activation;       ///< applied to the operator's own result; set only for GemmOp and BatchNormOp
  std::vector<bool> constant;  ///< by input: whether prepare() gets it; empty: none
  Format input_format = kNchw, output_format = kNchw;  ///< of inputs[0] and the output
  std::vector<int64_t> input_steps;                    ///< by input, as ConvStep::input_step; empty: all 0
  int64_t output_step = 0;
  Shape written;  ///< the shape of inputs[0] when it was written, if its order is not nchw; it may have been reshaped
                  ///< since
};

/// Addresses in the memory of the kernel's device; see ConvArgs.
struct OpArgs {
  const OpStep& step;
  std::span<const float* const> inputs;
  float* output = nullptr;
  void* prepared = nullptr;
  void* workspace = nullptr;
  PrefetchHint prefetch = {};
  int64_t turn = 0;  ///< counts launches: a kernel that reads much memory may alternate direction to reuse what is
                     ///< still in the cache
};

/// The contract of an operator's kernel, like ConvKernel's. `prepare` gets the addresses of constant inputs; the others
/// are null. What it prepares must not depend on the batch size, which is the first dimension of inputs that are not
/// constant.
struct OpKernel {
  KernelInfo info;                                     ///< only name, device and math are needed
  Refusal (*refuses)(const OpStep&) = nullptr;         ///< also returns a reason for operators other than its own
  size_t (*prepared_bytes)(const OpStep&) = nullptr;   ///< may be null: 0
  size_t (*workspace_bytes)(const OpStep&) = nullptr;  ///< may be null: 0; for any number of threads
  void (*prepare)(const OpArgs&, Stream&) = nullptr;   ///< may be null
  void (*launch)(const OpArgs&, Stream&) = nullptr;    ///< writes all of output
  Format format = kNchw;       ///< supported besides nchw; refuses() is never called for steps in others
  bool packs_weights = false;  ///< as in ConvKernel, for inputs[1], which is constant
  size_t (*thread_bytes)(const OpStep&) = nullptr;  ///< may be null: 0; additional workspace for each thread
};

/// Returns the workspace bytes of a step on a device with this many threads.
size_t workspace_bytes(const OpKernel& kernel, const OpStep& step, int threads);

/// Returns the kernel that the planner uses: the first in the order of comes_before() that supports the step, or
/// nullptr.
const OpKernel* find_op_kernel(const OpStep& step, DeviceKind device, Math math = Math::fp32);

/// Like find_op_kernel(), but throws Error(unavailable) with the reason if there is none.
const OpKernel& choose_op_kernel(const OpStep& step, DeviceKind device, Math math = Math::fp32);

/// Returns why no kernel of the device supports the step: the reason from the first kernel for this operator, or "" if
/// there is none.
std::string why_unsupported(const OpStep& step, DeviceKind device, Math math = Math::fp32);

}  // namespace convlab
