// Emulates PTX's mma.sync instructions for TF32 and fp16.

#include "convlab/simt/cuda/mma.h"

#include <fmt/format.h>

#include <bit>

#include "convlab/base/half.h"
#include "convlab/simt/warp.h"
#include "convlab/simt/worker.h"

namespace convlab::simt {
namespace {

using internal::RawFault;
using internal::Worker;

constexpr int kRows = 16, kColumns = 8;

/// One lane's registers.
struct Fragments {
  float* d;
  const uint32_t* a;
  const uint32_t* b;
};

/// Returns element k of a row of A or column of B, from the registers of the four lanes t = 0..3 that hold it. A TF32
/// register holds element t; an fp16 register holds elements 2t and 2t + 1. The next 4 (TF32) or 8 (fp16) elements are
/// `stride` registers further.
template <int kDepth>
float element(const uint32_t* const registers[4], int k, int stride) {
  if constexpr (kDepth == 8) return std::bit_cast<float>(registers[k % 4][k / 4 * stride] & 0xffffe000u);
  const uint32_t pair = registers[k % 8 / 2][k / 8 * stride];
  return half_to_float(static_cast<uint16_t>(k % 2 == 0 ? pair : pair >> 16));
}

template <int kDepth>
void multiply(Worker& worker, void* const lanes[kLanes], Where where) {
  for (int lane = 0; lane < kLanes; ++lane) {
    if (lanes[lane] != nullptr) continue;
    RawFault fault;
    fault.kind = FaultKind::divergent_warp;
    fault.location = where;
    fault.detail = fmt::format("mma needs the whole warp, but lane {} does not take part", lane);
    worker.fail(std::move(fault));
    return;
  }
  if (internal::Counting* const counting = worker.counting()) {
    counting->matrix_product(kDepth == 8, 2 * kRows * kColumns * kDepth);
  }
  const auto of = [&](int lane) -> const Fragments& { return *static_cast<const Fragments*>(lanes[lane]); };
  float a[kRows][kDepth], b[kColumns][kDepth];
  for (int row = 0; row < kRows; ++row) {
    const uint32_t* registers[4];  // of the four lanes that hold the row
    for (int t = 0; t < 4; ++t) registers[t] = of(row % 8 * 4 + t).a + row / 8;
    for (int k = 0; k < kDepth; ++k) a[row][k] = element<kDepth>(registers, k, 2);
  }
  for (int column = 0; column < kColumns; ++column) {
    const uint32_t* registers[4];
    for (int t = 0; t < 4; ++t) registers[t] = of(column * 4 + t).b;
    for (int k = 0; k < kDepth; ++k) b[column][k] = element<kDepth>(registers, k, 1);
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
      for (int k = 0; k < kDepth; ++k) of(lane).d[i] += a[row][k] * b[column][k];
    }
  }
}

template <int kDepth>
void collective(float* d, const uint32_t* a, const uint32_t* b, Where where) noexcept {
  Fragments fragments{d, a, b};
  warp_collective(multiply<kDepth>, &fragments, where);
}

}  // namespace

void mma_tf32(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], Where where) noexcept {
  collective<8>(d, a, b, where);
}

void mma_fp16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], Where where) noexcept {
  collective<16>(d, a, b, where);
}

uint32_t to_tf32(float value) noexcept {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const bool finite = (bits & 0x7f800000u) != 0x7f800000u;
  return finite ? (bits + 0x1000u) & 0xffffe000u : bits;
}

}  // namespace convlab::simt
