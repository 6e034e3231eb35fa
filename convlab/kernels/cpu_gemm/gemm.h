#pragma once

#include <cstddef>
#include <cstdint>

#include "convlab/base/checked.h"
#include "convlab/conv/epilogue.h"
#include "convlab/device/thread_pool.h"

namespace convlab {

// Matrix multiplication C = A * B in fp32 with B repacked: into blocks of kGemmDepth rows, of bfloat16 twice as many,
// each block into panels of kGemmPanel columns (the last one filled up with zeros), each panel row by row. A panel of
// 16 KiB stays in the first cache while all rows of A pass by it.
//
// Every element of C is summed in the same order whatever m, the threads and the path taken: the products of a block
// one after the other with fused multiply-adds (where the processor has them), then the blocks in order. So results do
// not depend on the batch (but see PackedAs::bf16_dots and bf16_tiles) or the number of threads, and the error grows
// with the square root of 128 + k / 128, not of k.

inline constexpr int64_t kGemmPanel = 32;
inline constexpr int64_t kGemmDepth = 128, kGemmPairsDepth = 256;
inline constexpr int64_t kGemmDotRows = 2;
inline constexpr int64_t kGemmTileDepth = 32;  // of a tile of pairs

/// How a packed matrix keeps its numbers. bf16: a panel's rows two by two, their numbers alternating, an odd last one
/// beside zeros. bf16_dots: the same, and A, if it has no more than kGemmDotRows rows, is rounded to bfloat16, too, for
/// AVX512-BF16. That takes one instruction instead of four multiply-adds, which one or two rows wait for; more rows
/// wait for products, and these get no faster (Emerald Rapids: two images gain 13 %, eight would lose 37 %).
/// bf16_tiles: the same, but rows are filled up to whole tiles of AMX, and more rows of A are rounded, too, and
/// multiplied by AMX as fast as B comes from memory.
enum class PackedAs { f32, f16, bf16, bf16_dots, bf16_tiles };

constexpr bool is_bf16(PackedAs as) { return as >= PackedAs::bf16; }

/// Rows of a panel that are kept as one.
constexpr int64_t terms_together(PackedAs as) { return is_bf16(as) ? 2 : 1; }

/// Rows of a panel that has `depth` rows of B.
constexpr int64_t rows_held(PackedAs as, int64_t depth) {
  return round_up(depth, as == PackedAs::bf16_tiles ? kGemmTileDepth : terms_together(as));
}

/// Rows of a block.
constexpr int64_t gemm_depth(PackedAs as) { return is_bf16(as) ? kGemmPairsDepth : kGemmDepth; }

/// B repacked, or its end from some element on.
struct PackedB {
  const void* data = nullptr;  ///< aligned to 64 bytes
  PackedAs as = PackedAs::f32;

  int64_t number_bytes() const { return as == PackedAs::f32 ? sizeof(float) : sizeof(uint16_t); }
  PackedB from(int64_t element) const { return {static_cast<const char*>(data) + element * number_bytes(), as}; }
};

/// Numbers of a packed k x n matrix B.
int64_t packed_b_count(int64_t k, int64_t n);
int64_t packed_bf16_count(int64_t k, int64_t n, PackedAs as);

/// How this machine multiplies numbers of bfloat16 fastest.
PackedAs bf16_of_machine();

/// Packs scale * B, B being k x n row-major, or n x k row-major if `transposed`.
PackedB pack_b(const float* b, int64_t k, int64_t n, bool transposed, float scale, float* packed, ThreadPool& threads);

/// The same where B is multiplied again and again: if all of its numbers are float16 numbers, as stored weights often
/// are, and the processor converts them, they are packed as such. Few rows of A are multiplied nearly as fast as B
/// comes from memory; this way it comes in half the bytes, with the same results.
PackedB pack_b_small(const float* b, int64_t k, int64_t n, bool transposed, float scale, float* packed,
                     ThreadPool& threads);

/// The same, each number as the nearest bfloat16, for results that need not be more precise. `as`: one of bfloat16 that
/// the machine has.
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
  int64_t ahead = 0;  ///< elements of A's rows that the caller will ask for next, right of these
  int64_t next = 0;   ///< bytes from these panels to those that the caller will ask for next
};

/// On the calling thread.
void gemm_block(const GemmBlock& block);

/// What happens to C once it is summed: C = activation(C + scale * addend), addend[i * row_stride + j * column_stride].
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
  /// With few rows of A, fetching B from memory takes the time. A caller that multiplies by the same B again and again
  /// goes backwards every other time, and finds in the caches what was used last. The result is the same.
  bool backwards = false;
};

/// Scratch that gemm() needs for a product of this size, in floats.
int64_t gemm_workspace_count(int64_t m, int64_t n, int64_t k, PackedAs as = PackedAs::f32);

/// The whole product, on all threads. workspace: gemm_workspace_count floats, of bf16_tiles aligned to 64 bytes.
void gemm(const Gemm& gemm, float* workspace, ThreadPool& threads);

}  // namespace convlab
