#pragma once

#include <cstddef>
#include <cstdint>

#include "convlab/base/checked.h"
#include "convlab/conv/epilogue.h"
#include "convlab/device/thread_pool.h"

namespace convlab {

// fp32 matrix multiplication C = A * B with packed B: blocks of kGemmDepth rows (kGemmPairsDepth for bf16), each split
// into panels of kGemmPanel columns (the last one padded with zeros), each panel row by row. A panel of 16 KiB stays in
// L1 while all rows of A stream past it.
//
// Every element of C is summed in the same order for any m, number of threads and code path: the products of a block
// one after the other with fused multiply-adds (if the processor has them), then the blocks in order. So results do not
// depend on the number of threads or on the batch (except with PackedAs::bf16_dots and bf16_tiles), and the error grows
// with the square root of 128 + k / 128, not of k.

inline constexpr int64_t kGemmPanel = 32;
inline constexpr int64_t kGemmDepth = 128, kGemmPairsDepth = 256;
inline constexpr int64_t kGemmDotRows = 2;
inline constexpr int64_t kGemmTileDepth = 32;  // K depth of a tile of pairs

/// Number format of a packed matrix. bf16: a panel's rows are interleaved two by two as pairs; an odd last row is
/// paired with zeros. bf16_dots: same, and if A has at most kGemmDotRows rows, A is also rounded to bf16, for
/// AVX512-BF16. That needs one instruction instead of four multiply-adds, which limit the speed of one or two rows.
/// More rows are limited by the products, which get no faster (Emerald Rapids: two images gain 13 %, eight would lose
/// 37 %). bf16_tiles: same, but rows are padded to whole AMX tiles; for more rows, A is rounded too, and multiplied by
/// AMX as fast as B comes from memory.
enum class PackedAs { f32, f16, bf16, bf16_dots, bf16_tiles };

constexpr bool is_bf16(PackedAs as) { return as >= PackedAs::bf16; }

/// Rows of a panel that are interleaved into one.
constexpr int64_t terms_together(PackedAs as) { return is_bf16(as) ? 2 : 1; }

/// Rows stored for a panel that has `depth` rows of B.
constexpr int64_t rows_held(PackedAs as, int64_t depth) {
  return round_up(depth, as == PackedAs::bf16_tiles ? kGemmTileDepth : terms_together(as));
}

/// Rows per block.
constexpr int64_t gemm_depth(PackedAs as) { return is_bf16(as) ? kGemmPairsDepth : kGemmDepth; }

/// Packed B, or its tail from some element on.
struct PackedB {
  const void* data = nullptr;  ///< aligned to 64 bytes
  PackedAs as = PackedAs::f32;

  int64_t number_bytes() const { return as == PackedAs::f32 ? sizeof(float) : sizeof(uint16_t); }
  PackedB from(int64_t element) const { return {static_cast<const char*>(data) + element * number_bytes(), as}; }
};

/// Elements of a packed k x n matrix B.
int64_t packed_b_count(int64_t k, int64_t n);
int64_t packed_bf16_count(int64_t k, int64_t n, PackedAs as);

/// Returns the bf16 packing that is fastest on this machine.
PackedAs bf16_of_machine();

/// Packs scale * B, B being k x n row-major, or n x k row-major if `transposed`.
PackedB pack_b(const float* b, int64_t k, int64_t n, bool transposed, float scale, float* packed, ThreadPool& threads);

/// Same for a B that is multiplied many times: if all of its numbers are exact in fp16, as those of stored weights
/// often are, and the processor converts fp16, they are packed as fp16. With few rows of A, the speed is limited by
/// reading B from memory; this halves the bytes and gives the same results.
PackedB pack_b_small(const float* b, int64_t k, int64_t n, bool transposed, float scale, float* packed,
                     ThreadPool& threads);

/// Same with each number rounded to the nearest bf16, for results that need no more precision. `as`: a bf16 packing
/// that the machine supports.
PackedB pack_b_bf16(const float* b, int64_t k, int64_t n, bool transposed, float scale, PackedAs as, uint16_t* packed,
                    ThreadPool& threads);

/// C (rows x columns, ldc floats from row to row) = A * B, or C += A * B if `add`. A is rows x depth with lda floats
/// from row to row.
struct GemmBlock {
  int64_t rows = 0, columns = 0, depth = 0;
  const float* a = nullptr;
  int64_t lda = 0;
  PackedB panels;  ///< one block of packed B, so depth is at most gemm_depth()
  float* c = nullptr;
  int64_t ldc = 0;
  bool add = false;
  int64_t ahead = 0;  ///< elements of A's rows, right of these, that the caller needs next
  int64_t next = 0;   ///< bytes from these panels to those that the caller needs next
};

/// Computes a block on the calling thread.
void gemm_block(const GemmBlock& block);

/// Epilogue of C: C = activation(C + scale * addend), addend[i * row_stride + j * column_stride].
struct GemmFinish {
  const float* addend = nullptr;  ///< nullptr: nothing is added
  int64_t row_stride = 0, column_stride = 0;
  float scale = 1;
  Activation activation;
};

struct Gemm {
  int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;  ///< m x k, row-major
  PackedB b;
  float* c = nullptr;  ///< m x n, row-major
  GemmFinish finish;
  /// With few rows of A, reading B from memory takes most of the time. A caller that multiplies by the same B
  /// repeatedly alternates the direction, to find in cache what was used last. The result is the same.
  bool backwards = false;
};

/// Scratch that gemm() needs for a product of this size, in floats.
int64_t gemm_workspace_count(int64_t m, int64_t n, int64_t k, PackedAs as = PackedAs::f32);

/// Computes the whole product, on all threads. workspace: gemm_workspace_count() floats, for bf16_tiles aligned to 64
/// bytes.
void gemm(const Gemm& gemm, float* workspace, ThreadPool& threads);

}  // namespace convlab
