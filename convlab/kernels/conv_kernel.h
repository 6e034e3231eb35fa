#pragma once

#include "convlab/kernels/conv_step.h"

namespace convlab {

/// A convolution kernel as kernel files of version 0.1 define it: a Kernel whose functions receive a ConvStep or
/// ConvArgs.
struct ConvKernel {
  KernelInfo info;
  Refusal (*refuses)(const ConvStep&, const DeviceCaps&) = nullptr;
  size_t (*prepared_bytes)(const ConvStep&, const DeviceCaps&) = nullptr;
  size_t (*workspace_bytes)(const ConvStep&, const DeviceCaps&) = nullptr;
  void (*prepare)(const ConvArgs&, Stream&) = nullptr;
  void (*launch)(const ConvArgs&, Stream&) = nullptr;
  Refusal (*absent)() = nullptr;
  std::string (*choice)(const ConvStep&, Stream&) = nullptr;
  std::span<const Tunable> tunables = {};
  Format format = kNchw;
  bool packs_weights = false;
};

/// Registers such a kernel, at most 16 in a process. New kernels use RegisterKernel and of_conv.
struct RegisterConvKernel {
  explicit RegisterConvKernel(const ConvKernel& kernel, const char* file = __builtin_FILE());
};

}  // namespace convlab
