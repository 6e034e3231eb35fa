#pragma once

// Kernels whose functions receive a ConvStep or ConvArgs and are chosen at run time.

#include <string>

#include "convlab/kernels/registry.h"

namespace convlab {

/// Calls the functions of one ConvKernel at a time, which must not be null.
struct Adapted {
  static inline ConvKernel now;

  static Refusal refuses(const ConvStep& step, const DeviceCaps& caps) { return now.refuses(step, caps); }
  static size_t prepared_bytes(const ConvStep& step, const DeviceCaps& caps) { return now.prepared_bytes(step, caps); }
  static size_t workspace_bytes(const ConvStep& step, const DeviceCaps& caps) {
    return now.workspace_bytes(step, caps);
  }
  static void prepare(const ConvArgs& args, Stream& stream) { now.prepare(args, stream); }
  static void launch(const ConvArgs& args, Stream& stream) { now.launch(args, stream); }
};

/// Returns a kernel that calls the functions of `conv` until the next call of adapted().
inline Kernel adapted(const ConvKernel& conv) {
  Adapted::now = conv;
  Kernel kernel{.info = conv.info, .refuses = of_conv<Adapted::refuses>, .launch = of_conv<Adapted::launch>};
  if (conv.prepared_bytes != nullptr) kernel.prepared_bytes = of_conv<Adapted::prepared_bytes>;
  if (conv.workspace_bytes != nullptr) kernel.workspace_bytes = of_conv<Adapted::workspace_bytes>;
  if (conv.prepare != nullptr) kernel.prepare = of_conv<Adapted::prepare>;
  kernel.format = conv.format;
  kernel.packs_weights = conv.packs_weights;
  return kernel;
}

}  // namespace convlab
