#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "convlab/simt/cuda/cuda_bfloat16.h"
#include "convlab/simt/cuda/cuda_half.h"
#include "convlab/simt/warp.h"
#include "convlab/simt/where.h"

/// nvcuda::wmma on the host: 16x16x16, 32x8x16 and 8x32x16 of half into float or half, of bfloat16 into float, and of
/// 8-bit integers into int; 16x16x8 of TF32 into float; 8x8x4 of double. Each function is an operation of the whole
/// warp. Products are exact; sums are accumulated in float, double or int, in order of k. The low 13 bits of a TF32
/// operand are dropped, as hardware does for values that __float_to_tf32 has not rounded.
///
/// As in CUDA, code must not depend on which lane holds which element (loop over num_elements), pointers are aligned to
/// 32 bytes (16 for rows of 8-bit integers) and leading dimensions to 16 bytes, and no function orders memory: call
/// __syncwarp or __syncthreads between a store and another lane's load.
namespace convlab::simt::wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}

namespace internal {

template <class Use, int M, int N, int K>
inline constexpr int kRows = std::is_same_v<Use, matrix_b> ? K : M;
template <class Use, int M, int N, int K>
inline constexpr int kColumns = std::is_same_v<Use, matrix_a> ? K : N;

template <class T>
using Stored = std::conditional_t<std::is_same_v<T, precision::tf32>, float, T>;

template <class T, class... Types>
inline constexpr bool kIsOneOf = (std::is_same_v<T, Types> || ...);

template <int M, int N, int K>
inline constexpr bool kHas256Outputs = K == 16 && ((M == 16 && N == 16) || (M == 32 && N == 8) || (M == 8 && N == 32));
template <class Use, class T>
inline constexpr bool kIsOf16Bits = std::is_same_v<Use, accumulator> ? kIsOneOf<T, cuda::__half, float>
                                                                     : kIsOneOf<T, cuda::__half, cuda::__nv_bfloat16>;
template <class Use, class T>
inline constexpr bool kIsOfIntegers =
    std::is_same_v<Use, accumulator> ? std::is_same_v<T, int> : kIsOneOf<T, signed char, unsigned char>;
template <class Use, class T>
inline constexpr bool kIsOfTf32 =
    std::is_same_v<T, std::conditional_t<std::is_same_v<Use, accumulator>, float, precision::tf32>>;

template <class Use, int M, int N, int K, class T>
inline constexpr bool kExists = ((kIsOf16Bits<Use, T> || kIsOfIntegers<Use, T>)&&kHas256Outputs<M, N, K>) ||
                                (kIsOfTf32<Use, T> && M == 16 && N == 16 && K == 8) ||
                                (std::is_same_v<T, double> && M == 8 && N == 8 && K == 4);

enum class Element : uint8_t { half, bfloat16, float32, tf32, float64, int8, uint8, int32 };

template <class T>
constexpr Element element_of() {
  if (std::is_same_v<T, cuda::__half>) return Element::half;
  if (std::is_same_v<T, cuda::__nv_bfloat16>) return Element::bfloat16;
  if (std::is_same_v<T, precision::tf32>) return Element::tf32;
  if (std::is_same_v<T, double>) return Element::float64;
  if (std::is_same_v<T, signed char>) return Element::int8;
  if (std::is_same_v<T, unsigned char>) return Element::uint8;
  return std::is_same_v<T, int> ? Element::int32 : Element::float32;
}

/// A type-erased fragment: one lane's elements, `count` consecutive ones of the matrix in row-major order.
struct Operand {
  void* elements = nullptr;
  int count = 0;
  int rows = 0, columns = 0;
  Element element = Element::float32;
  size_t element_bytes = 0;
};

struct Transfer {
  Operand fragment;
  void* memory = nullptr;
  unsigned leading_dimension = 0;
  bool by_column = false;
  bool is_store = false;
  const void* code = nullptr;  ///< the caller's return address
};

struct Multiplication {
  Operand d, a, b, c;
  bool saturates = false;  ///< sums of integers stop at the limits of int
};

void transfer(Transfer& transfer, Where where) noexcept;
void multiply(Multiplication& multiplication, Where where) noexcept;

template <class Fragment>
Operand operand_of(const Fragment& fragment) {
  return {const_cast<void*>(static_cast<const void*>(fragment.x)),
          Fragment::num_elements,
          Fragment::rows,
          Fragment::columns,
          element_of<typename Fragment::operand_type>(),
          sizeof(typename Fragment::element_type)};
}

}  // namespace internal

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
  static_assert(internal::kExists<Use, M, N, K, T>,
                "unsupported wmma fragment; see wmma.h for the supported shapes and types");
  static_assert(std::is_same_v<Use, accumulator> == std::is_void_v<Layout>,
                "matrix_a and matrix_b need a layout; an accumulator must not have one");
  using operand_type = T;
  using element_type = internal::Stored<T>;
  using storage_element_type = element_type;
  static constexpr int rows = internal::kRows<Use, M, N, K>, columns = internal::kColumns<Use, M, N, K>;
  static constexpr int num_elements = rows * columns / 32, num_storage_elements = num_elements;
  element_type x[num_elements];
};

template <class Use, int M, int N, int K, class T, class Layout, class Value>
void fill_fragment(fragment<Use, M, N, K, T, Layout>& f, const Value& value) {
  for (auto& element : f.x) element = value;
}

template <class Use, int M, int N, int K, class T, class Layout>
void load_matrix_sync(fragment<Use, M, N, K, T, Layout>& f, const internal::Stored<T>* memory,
                      unsigned leading_dimension, Where where = Where::current()) {
  internal::Transfer transfer{internal::operand_of(f), const_cast<internal::Stored<T>*>(memory), leading_dimension,
                              std::is_same_v<Layout, col_major>, false};
  internal::transfer(transfer, where);
}

template <int M, int N, int K, class T>
void load_matrix_sync(fragment<accumulator, M, N, K, T>& f, const T* memory, unsigned leading_dimension,
                      layout_t layout, Where where = Where::current()) {
  internal::Transfer transfer{internal::operand_of(f), const_cast<T*>(memory), leading_dimension,
                              layout == mem_col_major, false};
  internal::transfer(transfer, where);
}

template <int M, int N, int K, class T>
void store_matrix_sync(T* memory, const fragment<accumulator, M, N, K, T>& f, unsigned leading_dimension,
                       layout_t layout, Where where = Where::current()) {
  internal::Transfer transfer{internal::operand_of(f), memory, leading_dimension, layout == mem_col_major, true};
  internal::transfer(transfer, where);
}

/// d = a * b + c; d may be c. `satf`: sums of integers saturate.
template <int M, int N, int K, class T, class LayoutA, class LayoutB, class D, class C>
void mma_sync(fragment<accumulator, M, N, K, D>& d, const fragment<matrix_a, M, N, K, T, LayoutA>& a,
              const fragment<matrix_b, M, N, K, T, LayoutB>& b, const fragment<accumulator, M, N, K, C>& c,
              bool satf = false, Where where = Where::current()) {
  internal::Multiplication multiplication{internal::operand_of(d), internal::operand_of(a), internal::operand_of(b),
                                          internal::operand_of(c), satf};
  internal::multiply(multiplication, where);
}

/// Rounds to the 10 explicit mantissa bits of TF32: to nearest, ties away from zero.
float __float_to_tf32(float value) noexcept;

}  // namespace convlab::simt::wmma
