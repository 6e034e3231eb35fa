// Convolutions from nchw with few channels, such as a network's first, to nchw8c.

#include <algorithm>
#include <vector>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/nchw8c/channel_sums.h"
#include "convlab/kernels/cpu/nchw8c/first_tiles.h"
#include "convlab/kernels/cpu/simd/pieces.h"
#include "convlab/kernels/cpu/simd/vector_epilogue.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nchw8c_first {
namespace {

constexpr KernelInfo kInfo{
    .name = "cpu.nchw8c_first",
    .device = DeviceKind::cpu,
    .math = Math::fp32,
    .rung = 5,
    .idea = "from nchw with few channels to nchw8c: vectors of output channels, one pixel at a time",
    .after = "cpu.direct",
    .threads = "A work item is a band of output rows of one image, with all output channels.",
    .cost =
        "C * R * S fused multiply-adds for a vector of output channels; one step of the reduction takes 8 loads for 12 "
        "of them, or 14 for 24 with 32 registers. The input rows of a band are copied once, with padding and split by "
        "column modulo the stride, so that the pixels of adjacent outputs are adjacent.",
    .refuses = "More than 4 input channels, groups, uint8 input, and output layouts other than nchw8c.",
    .limit = "Multiply-adds; with small filters, the memory bandwidth for the output.",
};

constexpr int64_t kMostChannels = 4;
constexpr int64_t kPlanesCount = int64_t{32} << 10;  // floats of planes that a band fills if it has several rows

/// How a step is partitioned, and how a band's input is stored in planes: [channel][row][column modulo the
/// stride][column].
struct Cut {
  int64_t rows = 0, bands = 0;        ///< output rows per band; bands per image
  int64_t columns = 0, row_step = 0;  ///< floats: columns with one remainder; step between rows
  int64_t remainders = 0;             ///< column remainders that the filter reads
  int64_t input_rows = 0;             ///< under a band

  int64_t planes_count(const ConvProblem& problem) const {
    return round_up(checked_product({problem.c, input_rows, row_step}), 16);
  }
};

Cut cut_of(const ConvProblem& problem, int threads) {
  const int64_t tap_columns = (problem.s - 1) * problem.dilation_w, tap_rows = (problem.r - 1) * problem.dilation_h;
  Cut cut;
  cut.columns = problem.q() + tap_columns / problem.stride_w;
  cut.remainders = std::min(problem.stride_w, tap_columns + 1);
  cut.row_step = checked_mul(cut.remainders, cut.columns);
  const int64_t fitting = (kPlanesCount / (problem.c * cut.row_step) - tap_rows - 1) / problem.stride_h + 1;
  const int64_t wanted =
      std::max(ceil_div(problem.p(), std::max<int64_t>(fitting, 1)), ceil_div(4 * threads, problem.n));
  cut.rows = ceil_div(problem.p(), std::min(wanted, problem.p()));
  cut.bands = ceil_div(problem.p(), cut.rows);
  cut.input_rows = (cut.rows - 1) * problem.stride_h + tap_rows + 1;
  return cut;
}

/// Returns the offset in a band's planes of each reduction index's pixels, for the first output.
std::vector<int64_t> offsets_of(const ConvProblem& problem, const Cut& cut) {
  std::vector<int64_t> offsets;
  offsets.reserve(static_cast<size_t>(problem.terms()));
  for (int64_t c = 0; c < problem.c; ++c) {
    for (int64_t r = 0; r < problem.r; ++r) {
      for (int64_t s = 0; s < problem.s; ++s) {
        const int64_t column = s * problem.dilation_w;
        offsets.push_back((c * cut.input_rows + r * problem.dilation_h) * cut.row_step +
                          column % problem.stride_w * cut.columns + column / problem.stride_w);
      }
    }
  }
  return offsets;
}

/// Copies every stride-th column from `first` on; columns outside the row are zero.
void copy_columns(const float* x, int64_t width, int64_t first, int64_t stride, int64_t count, float* to) {
  const int64_t begin = std::min(count, ceil_div(std::max<int64_t>(-first, 0), stride));
  const int64_t end = std::clamp(ceil_div(std::max<int64_t>(width - first, 0), stride), begin, count);
  std::fill(to, to + begin, 0.0f);
  const float* const from = x + first;
  if (stride == 1) {
    std::copy(from + begin, from + end, to + begin);
  } else if (stride == 2) {
    for (int64_t i = begin; i < end; ++i) to[i] = from[2 * i];
  } else {
    for (int64_t i = begin; i < end; ++i) to[i] = from[stride * i];
  }
  std::fill(to + end, to + count, 0.0f);
}

class Launch {
 public:
  Launch(const ConvArgs& args, int threads)
      : args_(args),
        problem_(args.step.problem),
        clamp_(clamp_of(args.step.epilogue.activation)),
        cut_(cut_of(problem_, threads)),
        offsets_(offsets_of(problem_, cut_)) {}

  int64_t pieces() const { return problem_.n * cut_.bands; }

  void compute(int64_t piece, int thread) const {
    const ConvStep& step = args_.step;
    const int64_t image = piece / cut_.bands, first = piece % cut_.bands * cut_.rows;
    const int64_t count = std::min(cut_.rows, problem_.p() - first);
    float* const planes = static_cast<float*>(args_.workspace) + thread * cut_.planes_count(problem_);
    fill_planes(image, first * problem_.stride_h - problem_.pad_top, planes);
    const int64_t output_row = problem_.q() * kChannelLanes, block_step = problem_.p() * output_row;
    const auto* prepared = static_cast<const float*>(args_.prepared);
    FirstRow row{
        .offsets = offsets_, .clamp = clamp_.value_or(Clamp{}), .block_step = block_step, .outputs = problem_.q()};
    for (int64_t map = 0; map < problem_.k; map += row.maps) {
      row.maps = channel_panel_maps(problem_.k - map);
      row.w = prepared + problem_.k + map * problem_.terms();
      row.bias = (step.epilogue.bias ? args_.bias : prepared) + map;
      const int64_t at = map / kChannelLanes * block_step + first * output_row;
      float* const y = args_.y + image * image_step(step.output_step, step.output_shape()) + at;
      const float* const added =
          step.adds ? args_.added + image * image_step(step.added_step, step.output_shape()) + at : nullptr;
      for (int64_t i = 0; i < count; ++i) {
        row.x = planes + i * problem_.stride_h * cut_.row_step;
        row.y = y + i * output_row;
        row.added = added != nullptr ? added + i * output_row : nullptr;
        compute_row(row);
      }
      if (clamp_) continue;
      for (int64_t block = 0; block < row.maps / kChannelLanes; ++block) {
        activate(step.epilogue.activation, y + block * block_step, count * output_row);
      }
    }
  }

 private:
  /// Copies the input rows from `top` on; rows outside the image are zero.
  void fill_planes(int64_t image, int64_t top, float* to) const {
    const float* x = static_cast<const float*>(args_.x) + image * problem_.c * problem_.h * problem_.w;
    for (int64_t c = 0; c < problem_.c; ++c, x += problem_.h * problem_.w) {
      for (int64_t h = top; h < top + cut_.input_rows; ++h) {
        if (h < 0 || h >= problem_.h) {
          to = std::fill_n(to, cut_.row_step, 0.0f);
          continue;
        }
        for (int64_t remainder = 0; remainder < cut_.remainders; ++remainder, to += cut_.columns) {
          copy_columns(x + h * problem_.w, problem_.w, remainder - problem_.pad_left, problem_.stride_w, cut_.columns,
                       to);
        }
      }
    }
  }

  const ConvArgs& args_;
  const ConvProblem& problem_;
  std::optional<Clamp> clamp_;
  Cut cut_;
  std::vector<int64_t> offsets_;
};

Refusal refuses(const ConvStep& step, const DeviceCaps&) {
  if (step.problem.c > kMostChannels || step.problem.groups > 1) {
    return "only up to 4 input channels and one group are supported";
  }
  return refuse_unless_channel_lanes(step, true);
}

size_t prepared_bytes(const ConvStep& step, const DeviceCaps&) {
  return static_cast<size_t>(checked_mul(step.problem.filter_count() + step.problem.k, sizeof(float)));
}

/// Packs zeros, for steps without a bias, then filters by pack_panels(), with the reduction in the order
/// [channel][row][column].
void prepare(const ConvArgs& args, Stream&) {
  const ConvProblem& problem = args.step.problem;
  float* const filters = std::fill_n(static_cast<float*>(args.prepared), problem.k, 0.0f);
  pack_panels(args.w, problem.k, problem.terms(), problem.k, problem.terms(), filters);
}

size_t workspace_bytes(const ConvStep& step, const DeviceCaps& caps) {
  const int64_t planes = cut_of(step.problem, caps.threads).planes_count(step.problem);
  return static_cast<size_t>(checked_product({planes, caps.threads, sizeof(float)}));
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .prepared_bytes = of_conv<prepared_bytes>,
    .workspace_bytes = of_conv<workspace_bytes>,
    .prepare = of_conv<prepare>,
    .launch = of_conv<launch_pieces<Launch, ConvArgs>>,
    .format = kNchw8c,
    .packs_weights = true,
}};

}  // namespace
}  // namespace convlab::cpu_nchw8c_first
