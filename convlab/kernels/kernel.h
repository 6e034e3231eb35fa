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
#include "convlab/tensor/layout.h"

namespace convlab {

/// The arithmetic class of a convolution: its error, from most to least accurate. fp32: a relative L2 error of at most
/// 1e-6, for long sums the error of float32 itself (rounding_model()). bf16x2: operands split in two bf16, three
/// products.
enum class Math { fp32, bf16x2, tf32, fp16, bf16 };

std::string_view name_of(Math math);

/// bitwise: the same input gives the same bits every time. order_dependent: sums may be taken in another order.
enum class Repeat { bitwise, order_dependent };

/// direct: each output is the sum of its own products, so small integers come out exactly and a NaN spreads to its
/// receptive field alone. split: as direct, of operands split into parts of less precision, so that a product of reals
/// may be off by 3 * 2^-22. transform: by way of Winograd, FFT or what a library chooses: integers come out within the
/// tolerance, and a NaN may spread further in its image (never less far).
enum class Sum { direct, split, transform };

/// On GPUs: the rung of all production kernels. The ladder's are below it, libraries' above.
inline constexpr int kProductionRung = 40;

/// What a kernel says of itself: for the planner, the report, the documents and whoever reads its file. From `threads`
/// on, each text is a sentence or more, or "" where there is nothing to say.
struct KernelInfo {
  std::string_view name;  ///< "cuda.shared_tile": unique on its device, and stable
  DeviceKind device = DeviceKind::cpu;
  Math math = Math::fp32;  ///< in an operator's kernel, of matrix products; other operators compute in fp32
  Repeat repeat = Repeat::bitwise;
  Sum sum = Sum::direct;
  int rung = 0;                ///< place on the ladder; the reference is 0
  int rank = 0;                ///< of the kernels that fit, the planner takes the highest rank, then the highest rung
  bool library = false;        ///< somebody else's, to compare with: taken only when asked for
  std::string_view idea;       ///< the one change, in a line
  std::string_view after;      ///< the kernel that it changes; "" for the first
  std::string_view threads;    ///< which thread makes which output
  std::string_view cost;       ///< flops and bytes an output
  std::string_view refuses;    ///< what it does not compute
  std::string_view limit;      ///< what limits its speed
  std::string_view file = {};  ///< "convlab/kernels/ladder/01_basic.cu": set by the registration
};

/// Whether the planner prefers `a` to `b` where both fit.
bool comes_before(const KernelInfo& a, const KernelInfo& b);

/// A convolution and everything fused with it. Input is NCHW of `input` elements; filters are always fp32 KCRS and bias
/// fp32; output is NCHW fp32. Input and output may have another layout instead, and then its type.
struct ConvStep {
  ConvProblem problem;
  Epilogue epilogue;
  ElementType input = ElementType::f32;  ///< f32, or u8: raw pixels, taken as 0..255
  Layout input_layout = Layout::plain, output_layout = Layout::plain;
  /// After the bias, an array like the output; only in Layout::channel_lanes and rows of pixels (has_pixel_rows), never
  /// with pooling.
  bool adds = false;
  /// Where not 0, the array is a part of a joint one: elements from image to image in Layout::channel_lanes, from pixel
  /// to pixel in rows of pixels.
  int64_t input_step = 0, added_step = 0, output_step = 0;

  bool operator==(const ConvStep&) const = default;

  /// The step's output: pooled if the epilogue pools.
  Shape output_shape() const;
};

/// Memory that does not change, and that a later step reads: a kernel that has threads to spare may have it fetched to
/// the device's cache.
struct PrefetchHint {
  const void* from = nullptr;  ///< aligned to 64 bytes
  int64_t bytes = 0;
};

/// Addresses in the memory of the kernel's device. `prepared` and `workspace` hold as many bytes as the kernel asked
/// for, aligned to 64 bytes; prepare() and every launch() with these weights get the same `prepared`, while `workspace`
/// is scratch whose content is not kept. No two arrays overlap.
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
  std::span<const int> tuning = {};  ///< a value for each of the kernel's tunables; empty: the measured ones
};

/// What a launch did beside the operator: a file of the course copies between host and device before and after it. A
/// kernel adds to its stream's (Stream::attached), and who times a launch takes it off.
struct SetAside {
  double seconds = 0;
  double layer_seconds = 0;  ///< from the begin of the file's prolog to the end of its epilog; 0: it has none
  bool early = false;        ///< the output was there after the prolog: the operator's time tells nothing

  SetAside take() { return std::exchange(*this, {}); }
};

/// A parameter that a kernel leaves open: any of `values` is right, a measurement chose `value`.
struct Tunable {
  std::string_view name;  ///< "block_rows"
  std::span<const int> values;
  int value;
};

/// Why a kernel does not fit, in words for a user; nullopt: it fits, and its results are right.
using Refusal = std::optional<std::string>;

/// The contract of a convolution kernel. Functions keep no state between calls and see only their arguments:
/// DeviceCaps, or Stream::caps(), describe the device. Two layers may be interleaved.
/// prepared_bytes() and what prepare() writes must not depend on the step's n, nor, but in libraries, on the stream's
/// threads: a last, smaller batch uses what was prepared for the full one, and sessions share it. Launches only read
/// it.
struct ConvKernel {
  KernelInfo info;
  Refusal (*refuses)(const ConvStep&, const DeviceCaps&) = nullptr;
  size_t (*prepared_bytes)(const ConvStep&, const DeviceCaps&) = nullptr;   ///< may be null: 0
  size_t (*workspace_bytes)(const ConvStep&, const DeviceCaps&) = nullptr;  ///< may be null: 0
  void (*prepare)(const ConvArgs&, Stream&) = nullptr;  ///< once per weights: pack, convert; timed apart. May be null
  void (*launch)(const ConvArgs&, Stream&) = nullptr;   ///< writes all of y
  Refusal (*absent)() = nullptr;  ///< may be null: why this machine cannot run it; it then refuses all steps
  std::string (*choice)(const ConvStep&, Stream&) = nullptr;  ///< may be null: what a library chose, and how
  std::span<const Tunable> tunables = {};                     ///< swept by `convlab bench --sweep`
  Layout layout = Layout::plain;  ///< the layout that it knows besides plain; it is never asked about steps in others
  bool packs_weights = false;     ///< prepare() takes all from w: launch() is given none, and it may be gone
};

/// The refusal of every ladder rung: anything but plain fp32 NCHW in and out, without epilogue.
Refusal refuse_unless_plain(const ConvStep& step);

}  // namespace convlab
