#pragma once

#include <cstdint>

#include "convlab/simt/where.h"

namespace convlab::simt {

/// PTX's mma.sync.m16n8k8 for TF32 and m16n8k16 for fp16: D += A * B in float, with the PTX ISA's fragments
/// (device/tensor_core.cuh describes them). These are operations of the whole warp. Products are exact; sums are
/// accumulated in float in order of k. The low 13 bits of a TF32 operand are dropped.
void mma_tf32(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], Where where = Where::current()) noexcept;
void mma_fp16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], Where where = Where::current()) noexcept;

/// PTX's cvt.rna.tf32.f32: rounds to TF32's 10 explicit mantissa bits, ties away from zero.
uint32_t to_tf32(float value) noexcept;

}  // namespace convlab::simt
