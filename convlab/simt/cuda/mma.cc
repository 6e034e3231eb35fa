#include "convlab/simt/cuda/mma.h"

#include <fmt/format.h>

#include <bit>

#include "convlab/base/half.h"
#include "convlab/simt/execution.h"
#include "convlab/simt/warp.h"

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

/// Element `term` of a register row that holds kTerms terms: registers first, first + stride, each with terms 2t, 2t +
/// 1 of halves or one TF32; lanes t = 0..3 follow each other.
template <int kTerms>
float element(const uint32_t* const registers[4], int term, int stride) {
  if constexpr (kTerms == 8) return std::bit_cast<float>(registers[term % 4][term / 4 * stride] & 0xffffe000u);
  const uint32_t pair = registers[term % 8 / 2][term / 8 * stride];
  return half_to_float(static_cast<uint16_t>(term % 2 == 0 ? pair : pair >> 16));
}

template <int kTerms>
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
    counting->matrix_product(kTerms == 8, 2 * kRows * kColumns * kTerms);
  }
  const auto of = [&](int lane) -> const Fragments& { return *static_cast<const Fragments*>(lanes[lane]); };
  float a[kRows][kTerms], b[kColumns][kTerms];
  for (int row = 0; row < kRows; ++row) {
    const uint32_t* registers[4];  // of the four lanes that hold the row
    for (int t = 0; t < 4; ++t) registers[t] = of(row % 8 * 4 + t).a + row / 8;
    for (int term = 0; term < kTerms; ++term) a[row][term] = element<kTerms>(registers, term, 2);
  }
  for (int column = 0; column < kColumns; ++column) {
    const uint32_t* registers[4];
    for (int t = 0; t < 4; ++t) registers[t] = of(column * 4 + t).b;
    for (int term = 0; term < kTerms; ++term) b[column][term] = element<kTerms>(registers, term, 1);
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
      for (int term = 0; term < kTerms; ++term) of(lane).d[i] += a[row][term] * b[column][term];
    }
  }
}

template <int kTerms>
void collective(float* d, const uint32_t* a, const uint32_t* b, Where where) noexcept {
  Fragments fragments{d, a, b};
  warp_collective(multiply<kTerms>, &fragments, where);
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
