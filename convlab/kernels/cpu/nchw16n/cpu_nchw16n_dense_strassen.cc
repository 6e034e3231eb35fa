// cpu.nchw16n_dense_strassen: alpha * A * B' + C with fused activation, for many images in the lanes (nchw16n), with
// seven products instead of eight.
//
// One level of Strassen's method, in Winograd's variant (see strassen_sums.h; there, A is the weights and B the
// images). The two row halves are the halves of the outputs. The two column halves are the two blocks of 16 images of a
// couple, lane by lane. The two inner halves are neighboring ranges of 128 along K. The K remainder, and a block
// without a partner, are multiplied directly.
//
// A work item is some couples of blocks times some tiles of outputs. Seven sums of half the outputs are kept for each
// couple, over the whole K dimension. For two ranges of K and three couples, 24 KiB of pixels or of their differences
// stay in L1 while a product's weights stream from L2; then come the next three couples. Sums of weights are computed
// once, in double, by prepare().
//
// Error bound. Let w and x be the largest magnitudes of two coupled rows of weights and of two coupled images, k the K
// dimension and u = 2^-24. No value is rounded more than 136 + k / 256 times on its way to an output, and sums of seven
// products contain up to 18 w x per two K indices (the product of the norms of S and T). So, to first order:
//
//   |error| <= 9 k (136 + k / 256) w x u      compared with (128 + k / 128) u sum |weight * pixel| of cpu.nchw16n_dense
//
// (Higham, "Accuracy and Stability of Numerical Algorithms", chapter 23.2.2). For random numbers, errors were 2.2 to
// 2.5 times those of cpu.nchw16n_dense. But the errors are relative to the largest products of both halves, not to an
// output's own. Hence halves are coupled only if the larger w or x is at most 8 times the smaller, so that the bound
// grows by no more than that. Two blocks with images that differ by more, or that are not finite, are computed
// directly, with the same bits as cpu.dense; if weights differ by more, everything is. An image of zeros gets zero sums
// next to any other image.

#include <algorithm>
#include <array>
#include <bit>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/gemm/gemm.h"
#include "convlab/kernels/cpu/nchw16n/lane_dense.h"
#include "convlab/kernels/cpu/nchw16n/strassen_sums.h"
#include "convlab/kernels/cpu/nchw16n/strassen_weights.h"
#include "convlab/kernels/cpu/simd/lanes.h"
#include "convlab/kernels/cpu/simd/pieces.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nchw16n_dense_strassen {
namespace {

constexpr int64_t kLeastImages = 256, kLeastOutputs = 128, kLeastTerms = 1024;
static_assert(kLeastTerms >= kPairTerms);
constexpr float kMostPixel = 0x1p64f;  // keeps sums of products of sums finite
constexpr int64_t kGroupCouples = 3, kMostCouples = 32;
constexpr int64_t kCacheFloats = int64_t{448} << 10;  // share of L2 for what a work item reuses

/// How a step is partitioned into work items.
struct Cut : StrassenDense {
  Cut(const Step& step, int threads)
      : StrassenDense(step),
        blocks(ceil_div(n, kImageLanes)),
        pieces(ceil_div(blocks, 2), tiles, most_couples(), threads) {}

  /// The sums and pixels of a work item's couples should stay in the cache together with a pair's weights.
  int64_t most_couples() const {
    const int64_t left = kCacheFloats - kStrassenProducts * matrix_floats();
    return std::clamp(left / (sums_floats() + 2 * kPairTerms * kImageLanes), kGroupCouples, kMostCouples);
  }

  int64_t sums_floats() const { return kStrassenProducts * half * kImageLanes; }  ///< per couple

  int64_t blocks;
  DensePieces pieces;  ///< of couples of blocks
};

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (Refusal refusal = refuse_lane_dense(step, kNchw16n)) return refusal;
  const LaneDense dense(step);
  if (dense.outputs % 2 != 0) return "the number of outputs must be even";
  if (dense.n < kLeastImages || dense.outputs < kLeastOutputs || dense.k < kLeastTerms) {
    return fmt::format(
        "at least {} images, {} outputs and K = {} are needed: with fewer, the additions cost more than they save",
        kLeastImages, kLeastOutputs, kLeastTerms);
  }
  return std::nullopt;
}

size_t prepared_bytes(const Step& step, const DeviceCaps&) { return strassen_weights_bytes(StrassenDense(step)); }

void prepare(const Args& args, Stream& stream) {
  pack_strassen_weights(StrassenDense(args.step), args.input(1), args.prepared, *stream.threads());
}

/// The table of K offsets; seven sums per couple; and the outputs in nchw16n, if the step needs the plain order.
size_t workspace_bytes(const Step& step, const DeviceCaps&) {
  const Cut cut(step, 1);
  const int64_t outputs =
      step.outputs[0].format.order == Order::nchw ? element_count(step.outputs[0].shape, kNchw16n) : 0;
  const int64_t sums = checked_mul(cut.blocks / 2, cut.sums_floats());
  return static_cast<size_t>(checked_mul(checked_add(checked_add(outputs, sums), kGemmDepth), sizeof(float)));
}

using Matrix = StrassenMatrix;

/// A range of K of some blocks, or of the left or right blocks of couples.
struct Panel {
  const float* pixels = nullptr;
  const int64_t* at = nullptr;  ///< per block, in floats
  int64_t blocks = 0;
};

/// A matrix of weights times a panel.
struct Product {
  const float* w = nullptr;
  Panel x;
  Panel ahead;  ///< prefetched: needed next; kGemmDepth along K, as x
  int64_t terms = kGemmDepth;
  float* y = nullptr;
  int64_t y_step = 0;  ///< floats from block to block
  bool add = false;
};

class Launch {
 public:
  Launch(const Args& args, int threads) : args_(args), cut_(args.step, threads), weights_(args.prepared) {
    auto* const offsets = static_cast<uint32_t*>(args.workspace);
    for (uint32_t i = 0; i < kGemmDepth; ++i) offsets[i] = i * static_cast<uint32_t>(kImageLanes);
    offsets_ = offsets;
    sums_ = static_cast<float*>(args.workspace) + kGemmDepth;
    const bool plain = args.step.outputs[0].format.order == Order::nchw;
    y_ = plain ? sums_ + cut_.blocks / 2 * cut_.sums_floats() : args.output();
    for (size_t i = 0; i < kGroupCouples; ++i) {
      x_at_[i] = static_cast<int64_t>(i) * cut_.k * kImageLanes;
      couples_at_[i] = 2 * x_at_[i];
      panel_at_[i] = static_cast<int64_t>(i) * kGemmDepth * kImageLanes;
    }
  }

  int64_t pieces() const { return cut_.pieces.count(); }

  void compute(int64_t piece, int) const {
    const auto [couple, couples, tile, tiles_end] = cut_.pieces[piece];
    const Tiles tiles{tile, tiles_end};
    const int64_t end = std::min(2 * (couple + couples), cut_.blocks);
    const int64_t whole = weights_.coupled() ? std::min(couples, cut_.blocks / 2 - couple) : 0;
    const int64_t groups = ceil_div(whole, kGroupCouples);
    const auto group_at = [&, couple = couple](int64_t group) { return couple + whole * group / groups; };
    std::array<Largest, 2 * kMostCouples> largest{};
    for (int64_t pair = 0; pair < cut_.pairs; ++pair) {
      for (int64_t group = 0; group < groups; ++group) {
        const int64_t first = group_at(group), next = group + 1 < groups ? group_at(group + 1) : couple;
        const int64_t next_pair = group + 1 < groups ? pair : pair + 1;
        Panel ahead;
        if (next_pair < cut_.pairs) ahead = upper_left(next_pair, next, group_at((group + 1) % groups + 1) - next);
        multiply_couples(pair, first, group_at(group + 1) - first, tiles, ahead, largest.data() + 2 * (first - couple));
      }
      for (int64_t block = 2 * (couple + whole); block < end; block += kGroupCouples) {
        multiply_directly(pair, block, std::min(kGroupCouples, end - block), tiles);
      }
    }
    for (int64_t i = 0; i < whole; ++i) {
      if (may_couple_all(largest[static_cast<size_t>(2 * i)], largest[static_cast<size_t>(2 * i + 1)])) {
        add_up(couple + i, tiles, largest.data() + 2 * i);
      } else {
        for (int64_t pair = 0; pair < cut_.pairs; ++pair) multiply_directly(pair, 2 * (couple + i), 2, tiles);
      }
    }
    for (int64_t block = 2 * couple; block < end; block += kGroupCouples) {
      multiply_rest(block, std::min(kGroupCouples, end - block), tiles);
    }
    for (int64_t block = 2 * couple; block < end; ++block) {
      for (const int64_t at : {int64_t{0}, cut_.half}) {
        finish_lane_dense(args_, y_, block, at + cut_.first_output(tile), at + cut_.first_output(tiles_end));
      }
    }
  }

 private:
  struct Tiles {
    int64_t begin = 0, end = 0;
  };

  const float* pixels(int64_t block, int64_t term) const {
    return args_.input(0) + (block * cut_.k + term) * kImageLanes;
  }

  float* outputs(int64_t block, int64_t j) const { return y_ + (block * cut_.outputs + j) * kImageLanes; }

  /// Returns B11 of some couples.
  Panel upper_left(int64_t pair, int64_t couple, int64_t couples) const {
    return {pixels(2 * couple, pair * kPairTerms), couples_at_.data(), couples};
  }

  void multiply(const Product& product, const Tiles& tiles) const {
    const Panel& ahead = product.ahead;
    for (int64_t t = tiles.begin; t < tiles.end; ++t) {
      const int64_t j = cut_.first_output(t), fetched = t - tiles.begin;
      sum_lanes({.x = product.x.pixels,
                 .x_at = product.x.at,
                 .pixels = product.x.blocks,
                 .offsets = offsets_,
                 .terms = product.terms,
                 .w = product.w + j * product.terms,
                 .ahead = fetched < ahead.blocks ? ahead.pixels + ahead.at[fetched] : nullptr,
                 .maps = static_cast<int>(cut_.first_output(t + 1) - j),
                 .y = product.y + j * kImageLanes,
                 .map_step = kImageLanes,
                 .pixel_step = product.y_step,
                 .add = product.add});
    }
  }

  /// Computes the seven products of a pair of K ranges for some couples of blocks. The operands of a difference were
  /// multiplied just before, come next, or have been prefetched meanwhile.
  void multiply_couples(int64_t pair, int64_t couple, int64_t couples, const Tiles& tiles, const Panel& ahead,
                        Largest* largest) const {
    alignas(64) std::array<float, kGroupCouples * kGemmDepth * kImageLanes> differences;
    constexpr int64_t kPart = kGemmDepth * kImageLanes;
    const Panel b11 = upper_left(pair, couple, couples), none, t{differences.data(), panel_at_.data(), couples};
    const Panel b12{b11.pixels + cut_.k * kImageLanes, b11.at, couples};
    const Panel b21{b11.pixels + kPart, b11.at, couples}, b22{b12.pixels + kPart, b11.at, couples};
    const auto multiply_by = [&](Matrix w, int64_t product, const Panel& x, const Panel& next) {
      multiply({.w = weights_.matrix(cut_, pair, w),
                .x = x,
                .ahead = next,
                .y = sums_ + couple * cut_.sums_floats() + (product - 1) * cut_.half * kImageLanes,
                .y_step = cut_.sums_floats(),
                .add = pair > 0},
               tiles);
    };
    const auto for_each_couple = [&](const auto& subtract) {
      for (size_t i = 0; i < static_cast<size_t>(couples); ++i) {
        subtract(differences.data() + panel_at_[i], couples_at_[i], largest[2 * i], largest[2 * i + 1]);
      }
    };
    multiply_by(Matrix::a11, 1, b11, b12);
    for_each_couple([&](float* t1, int64_t at, Largest& left, Largest& right) {
      subtract_pixels(b12.pixels + at, b11.pixels + at, kGemmDepth, t1, &right, &left);
    });
    multiply_by(Matrix::s1, 5, t, b22);
    for_each_couple([&](float* t2, int64_t at, Largest&, Largest& right) {
      subtract_pixels(b22.pixels + at, t2, kGemmDepth, t2, &right, nullptr);
    });
    multiply_by(Matrix::s2, 6, t, b21);
    for_each_couple([&](float* t4, int64_t at, Largest& left, Largest&) {
      subtract_pixels(t4, b21.pixels + at, kGemmDepth, t4, nullptr, &left);
    });
    multiply_by(Matrix::a22, 4, t, none);
    multiply_by(Matrix::a12, 2, b21, none);
    multiply_by(Matrix::s4, 3, b22, none);
    for_each_couple([&](float* t3, int64_t at, Largest&, Largest&) {
      subtract_pixels(b22.pixels + at, b12.pixels + at, kGemmDepth, t3, nullptr, nullptr);
    });
    multiply_by(Matrix::s3, 7, t, ahead);
  }

  /// Multiplies the same pair of K ranges directly, for some neighboring blocks.
  void multiply_directly(int64_t pair, int64_t block, int64_t blocks, const Tiles& tiles) const {
    for (const int64_t part : {0, 1}) {
      for (const int64_t lower : {0, 1}) {
        const Matrix w = lower == 0 ? (part == 0 ? Matrix::a11 : Matrix::a12) : (part == 0 ? Matrix::a21 : Matrix::a22);
        multiply({.w = weights_.matrix(cut_, pair, w),
                  .x = {pixels(block, pair * kPairTerms + part * kGemmDepth), x_at_.data(), blocks},
                  .y = outputs(block, lower * cut_.half),
                  .y_step = cut_.outputs * kImageLanes,
                  .add = pair > 0 || part > 0},
                 tiles);
      }
    }
  }

  void multiply_rest(int64_t block, int64_t blocks, const Tiles& tiles) const {
    const float* w = weights_.rest(cut_);
    for (int64_t first = cut_.rest(); first < cut_.k; first += kGemmDepth) {
      const int64_t terms = std::min(kGemmDepth, cut_.k - first);
      for (const int64_t at : {int64_t{0}, cut_.half}) {
        multiply({.w = w,
                  .x = {pixels(block, first), x_at_.data(), blocks},
                  .terms = terms,
                  .y = outputs(block, at),
                  .y_step = cut_.outputs * kImageLanes,
                  .add = true},
                 tiles);
        w += cut_.half * terms;
      }
    }
  }

  /// Checks lane by lane; an image of zeros has nothing to lose.
  static bool may_couple_all(const Largest& left, const Largest& right) {
    for (size_t i = 0; i < left.size(); ++i) {
      const auto a = std::bit_cast<float>(left[i]), b = std::bit_cast<float>(right[i]);
      if (!may_couple(a == 0 ? b : a, b == 0 ? a : b, kMostPixel)) return false;
    }
    return true;
  }

  /// Computes the four quadrants of a couple from its seven sums.
  void add_up(int64_t couple, const Tiles& tiles, const Largest* largest) const {
    const int64_t j = cut_.first_output(tiles.begin);
    add_strassen({.sums = sums_ + couple * cut_.sums_floats() + j * kImageLanes,
                  .step = cut_.half * kImageLanes,
                  .pixels = cut_.first_output(tiles.end) - j,
                  .c11 = outputs(2 * couple, j),
                  .c12 = outputs(2 * couple + 1, j),
                  .c21 = outputs(2 * couple, cut_.half + j),
                  .c22 = outputs(2 * couple + 1, cut_.half + j),
                  .left = &largest[0],
                  .right = &largest[1]});
  }

  const Args& args_;
  Cut cut_;
  StrassenWeights weights_;
  const uint32_t* offsets_ = nullptr;
  float* sums_ = nullptr;                                                  ///< [couple][product][output][16]
  float* y_ = nullptr;                                                     ///< nchw16n
  std::array<int64_t, kGroupCouples> x_at_{}, couples_at_{}, panel_at_{};  ///< per neighboring block; per couple
};

const RegisterKernel registered{{
    .info = {.name = "cpu.nchw16n_dense_strassen",
             .device = DeviceKind::cpu,
             .family = Family::dense,
             .idea = "one level of Strassen in Winograd's variant: seven products of half matrices instead of eight",
             .after = "cpu.nchw16n_dense"},
    .refuses = refuses,
    .prepared_bytes = prepared_bytes,
    .workspace_bytes = workspace_bytes,
    .prepare = prepare,
    .launch = launch_pieces<Launch>,
    .format = kNchw16n,
    .packs_weights = true,
    .fuses_activation = true,
}};

}  // namespace
}  // namespace convlab::cpu_nchw16n_dense_strassen
