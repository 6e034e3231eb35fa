#pragma once

#include <span>

#include "convlab/kernels/kernel.h"
#include "convlab/kernels/step.h"

namespace convlab {

/// Addresses in the memory of the kernel's device, in the order of the step's operands; see ConvArgs.
struct Args {
  const Step& step;
  std::span<const void* const> inputs;
  std::span<void* const> outputs;
  void* prepared = nullptr;
  void* workspace = nullptr;
  PrefetchHint prefetch = {};
  int64_t turn = 0;  ///< counts launches: a kernel that reads much memory may alternate direction to reuse what is
                     ///< still in the cache

  template <class Element = float>
  const Element* input(size_t i = 0) const {
    return static_cast<const Element*>(inputs[i]);
  }
  template <class Element = float>
  Element* output(size_t i = 0) const {
    return static_cast<Element*>(outputs[i]);
  }
};

/// The contract of an operator's kernel, like ConvKernel's. `prepare` gets the addresses of constant inputs; the others
/// are null. What it prepares must not depend on the batch size, which is the first dimension of inputs that are not
/// constant.
struct OpKernel {
  KernelInfo info;                                   ///< only name, device and math are needed
  Refusal (*refuses)(const Step&) = nullptr;         ///< also returns a reason for operators other than its own
  size_t (*prepared_bytes)(const Step&) = nullptr;   ///< may be null: 0
  size_t (*workspace_bytes)(const Step&) = nullptr;  ///< may be null: 0; for any number of threads
  void (*prepare)(const Args&, Stream&) = nullptr;   ///< may be null
  void (*launch)(const Args&, Stream&) = nullptr;    ///< writes all of output
  Format format = kNchw;       ///< supported besides nchw; refuses() is never called for steps in others
  bool packs_weights = false;  ///< as in ConvKernel, for inputs[1], which is constant
  size_t (*thread_bytes)(const Step&) = nullptr;  ///< may be null: 0; additional workspace for each thread
};

/// Returns the workspace bytes of a step on a device with this many threads.
size_t workspace_bytes(const OpKernel& kernel, const Step& step, int threads);

/// Returns the kernel that the planner uses: the first in the order of comes_before() that supports the step, or
/// nullptr.
const OpKernel* find_op_kernel(const Step& step, DeviceKind device, Math math = Math::fp32);

/// Like find_op_kernel(), but throws Error(unavailable) with the reason if there is none.
const OpKernel& choose_op_kernel(const Step& step, DeviceKind device, Math math = Math::fp32);

/// Returns why no kernel of the device supports the step: the reason from the first kernel for this operator, or "" if
/// there is none.
std::string why_unsupported(const Step& step, DeviceKind device, Math math = Math::fp32);

}  // namespace convlab
