#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "convlab/conv/epilogue.h"
#include "convlab/conv/problem.h"
#include "convlab/device/device.h"
#include "convlab/tensor/element_type.h"
#include "convlab/tensor/format.h"

namespace convlab {

/// Arithmetic of a convolution, from most to least accurate. fp32: relative L2 error of at most 1e-6 or, for long
/// reductions, the rounding error of float32 itself (see rounding_model()). bf16x2: each operand is split into two bf16
/// values, and three products are summed.
enum class Math { fp32, bf16x2, tf32, fp16, bf16 };

std::string_view name_of(Math math);

/// bitwise: the same input produces the same bits on every run. order_dependent: the order of additions may vary.
enum class Repeat { bitwise, order_dependent };

/// How an output is summed. direct: each output is the sum of its own products, so small integers are exact and a NaN
/// reaches only the outputs that read it. split: as direct, but operands are split into parts of lower precision, so a
/// product of real numbers may be off by 3 * 2^-22. transform: Winograd, FFT, or the algorithm that a library chooses.
/// Integers are within the tolerance, and a NaN may reach more outputs of its image than with direct (never fewer).
enum class Sum { direct, split, transform };

/// The rung of all production kernels on GPUs. Rungs of the ladder are below it, libraries above.
inline constexpr int kProductionRung = 40;

/// A kernel's description of itself, for the planner, the report, the docs and readers of its file. From `threads` on,
/// each text is one or more sentences, or "" if there is nothing to say.
struct KernelInfo {
  std::string_view name;  ///< "cuda.shared_tile": unique per device, and stable
  DeviceKind device = DeviceKind::cpu;
  Math math = Math::fp32;  ///< for an operator's kernel: of its matrix products; other operators compute in fp32
  Repeat repeat = Repeat::bitwise;
  Sum sum = Sum::direct;
  int rung = 0;                ///< position on the ladder; the reference is 0
  bool library = false;        ///< a third-party library, for comparison: used only on request
  std::string_view idea;       ///< the one change, in one line
  std::string_view after;      ///< the kernel that this one changes; "" for the first
  std::string_view threads;    ///< which thread computes which output
  std::string_view cost;       ///< flops and bytes per output
  std::string_view refuses;    ///< what it does not support
  std::string_view limit;      ///< what limits its speed
  std::string_view file = {};  ///< "convlab/kernels/ladder/01_basic.cu": set by the registration
};

/// A convolution and everything fused with it. Filters are always fp32 KCRS and the bias fp32.
struct ConvStep {
  ConvProblem problem;
  Epilogue epilogue;
  Format input_format = kNchw, output_format = kNchw;
  /// Adds an array like the output after the bias (residual). Only in nchw8c float32 and nhwc, never with pooling.
  bool adds = false;
  /// If not 0, the array is part of a larger (concatenated) one: elements between images in nchw8c,
  /// between pixels in nhwc.
  int64_t input_step = 0, added_step = 0, output_step = 0;

  bool operator==(const ConvStep&) const = default;

  /// The shape of the step's output: after pooling if the epilogue pools.
  Shape output_shape() const;
};

/// Constant memory that a later step reads: a kernel with idle threads may prefetch it into the device's cache.
struct PrefetchHint {
  const void* from = nullptr;  ///< aligned to 64 bytes
  int64_t bytes = 0;
};

/// Addresses in the memory of the kernel's device. `prepared` and `workspace` have the sizes that the kernel requested,
/// aligned to 64 bytes. prepare() and every launch() with these weights get the same `prepared`; `workspace` is
/// scratch, and its content is not kept. No two arrays overlap.
struct ConvArgs {
  const ConvStep& step;
  const void* x = nullptr;
  const float* w = nullptr;
  const float* bias = nullptr;   ///< K floats, or nullptr unless epilogue.bias
  const float* added = nullptr;  ///< nullptr unless step.adds
  float* y = nullptr;
  void* prepared = nullptr;
  void* workspace = nullptr;
  PrefetchHint prefetch = {};
  std::span<const int> tuning = {};  ///< one value per tunable of the kernel; empty: the measured defaults
};

/// Time of a launch that is not the operator's own: a course file copies between host and device before and after the
/// operator. A kernel adds to the instance of its stream (Stream::attached), and the code that times the launch
/// subtracts it.
struct SetAside {
  double seconds = 0;
  double layer_seconds = 0;  ///< from the start of the file's prolog to the end of its epilog; 0: it has none
  bool early = false;        ///< the output was complete after the prolog: the operator's time is meaningless

  SetAside take() { return std::exchange(*this, {}); }
};

/// A parameter of a kernel: all `values` produce correct results, and `value` was chosen by measurement.
struct Tunable {
  std::string_view name;  ///< "block_rows"
  std::span<const int> values;
  int value;
};

/// Why a kernel does not support a step, as text for the user; nullopt: it does, and its results are correct.
using Refusal = std::optional<std::string>;

/// The contract of a convolution kernel. Functions keep no state between calls and depend only on their arguments;
/// DeviceCaps, or Stream::caps(), describes the device. Calls for two layers may be interleaved. prepared_bytes() and
/// what prepare() writes must not depend on the step's n or, except in libraries, on the stream's number of threads: a
/// smaller last batch uses what was prepared for the full batch, and sessions share it. Launches only read it.
struct ConvKernel {
  KernelInfo info;
  Refusal (*refuses)(const ConvStep&, const DeviceCaps&) = nullptr;
  size_t (*prepared_bytes)(const ConvStep&, const DeviceCaps&) = nullptr;   ///< may be null: 0
  size_t (*workspace_bytes)(const ConvStep&, const DeviceCaps&) = nullptr;  ///< may be null: 0
  void (*prepare)(const ConvArgs&, Stream&) = nullptr;  ///< may be null; packs, converts weights once; timed separately
  void (*launch)(const ConvArgs&, Stream&) = nullptr;   ///< writes all of y
  Refusal (*absent)() = nullptr;  ///< may be null: why this machine cannot run the kernel; it then supports no step
  std::string (*choice)(const ConvStep&, Stream&) = nullptr;  ///< may be null: what a library chose, and how
  std::span<const Tunable> tunables = {};                     ///< swept by `convlab bench --sweep`
  Format format = kNchw;       ///< supported besides nchw; refuses() is never called for steps in others
  bool packs_weights = false;  ///< prepare() reads all it needs from w: launch() gets no w, which may have been freed
};

/// Returns a reason unless the step is plain fp32 NCHW in and out, without an epilogue. Every ladder rung checks this.
Refusal refuse_unless_plain(const ConvStep& step);

}  // namespace convlab
