#pragma once

#include <span>

#include "convlab/kernels/kernel.h"
#include "convlab/model/graph.h"

namespace convlab {

/// One operator of a plan that is not a convolution. Its output is dense float32, and so are its inputs, but that of an
/// ActivationOp may be raw pixels: that is how pixels become float32 for an operator that takes nothing else. A ScaleOp
/// takes pixels and gives pixels. All are plain, but for inputs[0] and the output of kernels that know other layouts
/// (and then of the layout's type).
struct OpStep {
  Op op;
  std::vector<Shape> inputs;
  Shape output;
  Activation activation;                 ///< of what the operator itself gives; only ever set for GemmOp
  ElementType input = ElementType::f32;  ///< of inputs[0]; u8 only with ActivationOp and ScaleOp
  std::vector<bool> constant;            ///< by input: prepare() is given it. Empty: none is
  Layout input_layout = Layout::plain, output_layout = Layout::plain;
  Shape written;  ///< of inputs[0] if its layout is not plain: the shape when it was written, perhaps reshaped since
};

/// Addresses in the memory of the kernel's device; see ConvArgs.
struct OpArgs {
  const OpStep& step;
  std::span<const float* const> inputs;
  float* output = nullptr;
  void* prepared = nullptr;
  void* workspace = nullptr;
  int64_t turn = 0;  ///< counts launches; a kernel that reads much memory can turn back each time, and finds what a cache kept
};

/// The contract of an operator's kernel; as ConvKernel's. `prepare` sees constant inputs' addresses, others are null.
/// What it prepares must not depend on the first size of inputs that are not constant: that is the batch.
struct OpKernel {
  KernelInfo info;  ///< of which an operator's kernel needs name, device, math and rank alone
  Refusal (*refuses)(const OpStep&) = nullptr;         ///< also refuses other operators than its own
  size_t (*prepared_bytes)(const OpStep&) = nullptr;   ///< may be null: 0
  size_t (*workspace_bytes)(const OpStep&) = nullptr;  ///< may be null: 0
  void (*prepare)(const OpArgs&, Stream&) = nullptr;   ///< may be null
  void (*launch)(const OpArgs&, Stream&) = nullptr;    ///< writes all of output
  Layout layout = Layout::plain;  ///< besides plain, the one that it knows; it is never asked about steps in others
};

/// Why a kernel does not compute a step: its own refusal, or that it does not know the step's layouts, or is not precise
/// enough.
Refusal refusal_of(const OpKernel& kernel, const OpStep& step, Math math);

/// The kernel that the planner takes: the first by comes_before() that does not refuse; or nullptr.
const OpKernel* find_op_kernel(const OpStep& step, DeviceKind device, Math math = Math::fp32);

/// The same, but Error(unavailable) with the refusals where there is none.
const OpKernel& choose_op_kernel(const OpStep& step, DeviceKind device, Math math = Math::fp32);

}  // namespace convlab
