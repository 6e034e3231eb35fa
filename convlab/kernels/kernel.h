#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "convlab/device/device.h"
#include "convlab/kernels/step.h"
#include "convlab/tensor/format.h"

namespace convlab {

/// Arithmetic of a kernel, from most to least accurate. int8: operands are integers of 8 bits, products are summed in
/// int32, exactly. fp32: relative L2 error of at most 1e-6 or, for long reductions, the rounding error of float32
/// itself (see rounding_model()). bf16x2: each operand is split into two bf16 values, and three products are summed.
enum class Math { int8, fp32, bf16x2, tf32, fp16, bf16 };

std::string_view name_of(Math math);

/// bitwise: the same input produces the same bits on every run. order_dependent: the order of additions may vary.
enum class Repeat { bitwise, order_dependent };

/// How an output is summed. direct: each output is the sum of its own products, so small integers are exact and a NaN
/// reaches only the outputs that read it. split: as direct, but operands are split into parts of lower precision, so a
/// product of real numbers may be off by 3 * 2^-22. transform: Winograd, FFT, or the algorithm that a library chooses.
/// Integers are within the tolerance, and a NaN may reach more outputs of its image than with direct (never fewer).
enum class Sum { direct, split, transform };

/// Operators that are verified, measured and listed together. quantized: all operators on integers of 8 bits.
enum class Family {
  convolution,
  transposed_convolution,
  dense,
  pooling,
  softmax,
  normalization,
  elementwise,
  reduction,
  rearrangement,
  sampling,
  quantized
};

std::string_view name_of(Family family);

/// The rung of all production kernels on GPUs. Rungs of the ladder are below it, libraries above.
inline constexpr int kProductionRung = 40;

/// A kernel's description of itself, for the planner, the report, the docs and readers of its file. From `threads` on,
/// each text is one or more sentences, or "" if there is nothing to say.
struct KernelInfo {
  std::string_view name;  ///< "cuda.shared_tile": unique per device, and stable
  DeviceKind device = DeviceKind::cpu;
  Family family = Family::convolution;
  Math math = Math::fp32;  ///< of products; of other operators, their elements' type or fp32
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

/// Constant memory that a later step reads: a kernel with idle threads may prefetch it into the device's cache.
struct PrefetchHint {
  const void* from = nullptr;  ///< aligned to 64 bytes
  int64_t bytes = 0;
};

/// Addresses in the memory of the kernel's device, in the order of the step's operands. `prepared` and `workspace` have
/// the sizes that the kernel requested, aligned to 64 bytes. prepare() and every launch() with these weights get the
/// same `prepared`; `workspace` is scratch, and its content is not kept. No two arrays overlap.
struct Args {
  const Step& step;
  std::span<const void* const> inputs;
  std::span<void* const> outputs;
  void* prepared = nullptr;
  void* workspace = nullptr;
  PrefetchHint prefetch = {};
  int64_t turn = 0;  ///< counts launches: a kernel that reads much memory may alternate direction to reuse what is
                     ///< still in the cache
  std::span<const int> tuning = {};  ///< one value per tunable of the kernel; empty: the measured defaults

  template <class Element = float>
  const Element* input(size_t i = 0) const {
    return static_cast<const Element*>(inputs[i]);
  }
  template <class Element = float>
  Element* output(size_t i = 0) const {
    return static_cast<Element*>(outputs[i]);
  }
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

/// The contract of a kernel. Functions keep no state between calls and depend only on their arguments; DeviceCaps, or
/// Stream::caps(), describes the device. Calls for two layers may be interleaved. prepare() gets the addresses of
/// constant inputs; the others are null. prepared_bytes() and what prepare() writes must not depend on the batch size,
/// the first dimension of inputs that are not constant, or, except in libraries, on the stream's number of threads: a
/// smaller last batch uses what was prepared for the full batch, and sessions share it. Launches only read it.
struct Kernel {
  KernelInfo info;
  /// Also returns a reason for operators other than its own. Never called for steps with formats other than nchw and
  /// `format` or, except in convolution kernels, with an epilogue unless fuses_activation; see refusal_of().
  Refusal (*refuses)(const Step&, const DeviceCaps&) = nullptr;
  size_t (*prepared_bytes)(const Step&, const DeviceCaps&) = nullptr;   ///< may be null: 0
  size_t (*workspace_bytes)(const Step&, const DeviceCaps&) = nullptr;  ///< may be null: 0
  void (*prepare)(const Args&, Stream&) = nullptr;  ///< may be null; packs, converts weights once; timed separately
  void (*launch)(const Args&, Stream&) = nullptr;   ///< writes all of the outputs
  Refusal (*absent)() = nullptr;  ///< may be null: why this machine cannot run the kernel; it then supports no step
  std::string (*choice)(const Step&, Stream&) = nullptr;  ///< may be null: what a library chose, and how
  std::span<const Tunable> tunables = {};                 ///< swept by `convlab bench --sweep`
  Format format = kNchw;                                  ///< supported besides nchw
  /// prepare() reads all it needs from inputs[1], the weights: launch() does not get them, and they may have been
  /// freed.
  bool packs_weights = false;
  bool fuses_activation = false;  ///< not in convolution kernels, whose refuses() examines the epilogue

  bool is_conv() const { return info.family == Family::convolution; }
};

/// Return the bytes that the kernel requests for a step.
size_t prepared_bytes(const Kernel& kernel, const Step& step, const DeviceCaps& caps);
size_t workspace_bytes(const Kernel& kernel, const Step& step, const DeviceCaps& caps);

}  // namespace convlab
