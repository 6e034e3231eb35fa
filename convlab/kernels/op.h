#pragma once

#include <span>

#include "convlab/kernels/kernel.h"
#include "convlab/model/graph.h"

namespace convlab {

/// One operator of a plan that is not a convolution. Its output is dense float32, and so are its inputs, but that of an
/// ActivationOp may be raw pixels: that is how pixels become float32 for an operator that takes nothing else. All are
/// plain, but for inputs[0] and the output of kernels that know other layouts.
struct OpStep {
  Op op;
  std::vector<Shape> inputs;
  Shape output;
  Activation activation;                 ///< of what the operator itself gives; only ever set for GemmOp
  ElementType input = ElementType::f32;  ///< of inputs[0]; u8 only with ActivationOp
  std::vector<bool> constant;            ///< by input: prepare() is given it. Empty: none is
  Layout input_layout = Layout::plain, output_layout = Layout::plain;
};

/// Addresses in the memory of the kernel's device; see ConvArgs.
struct OpArgs {
  const OpStep& step;
  std::span<const float* const> inputs;
  float* output = nullptr;
  void* prepared = nullptr;
  void* workspace = nullptr;
};

/// The contract of an operator's kernel; as ConvKernel's. `prepare` sees constant inputs' addresses, others are null.
/// What it prepares must not depend on the first size of inputs that are not constant: that is the batch.
struct OpKernel {
  std::string_view name;  ///< "cpu.softmax"
  DeviceKind device = DeviceKind::cpu;
  Refusal (*refuses)(const OpStep&) = nullptr;         ///< also refuses other operators than its own
  size_t (*prepared_bytes)(const OpStep&) = nullptr;   ///< may be null: 0
  size_t (*workspace_bytes)(const OpStep&) = nullptr;  ///< may be null: 0
  void (*prepare)(const OpArgs&, Stream&) = nullptr;   ///< may be null
  void (*launch)(const OpArgs&, Stream&) = nullptr;    ///< writes all of output
  bool image_lanes = false;  ///< may be asked about steps in Layout::image_lanes; others never are
};

const std::vector<OpKernel>& op_kernels();

/// The first kernel of the device, by name, that does not refuse, or nullptr.
const OpKernel* find_op_kernel(const OpStep& step, DeviceKind device);

/// The same, but Error(unavailable) with the refusals where there is none.
const OpKernel& choose_op_kernel(const OpStep& step, DeviceKind device);

struct RegisterOpKernel {
  explicit RegisterOpKernel(const OpKernel& kernel);
};

}  // namespace convlab
