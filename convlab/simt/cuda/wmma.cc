// Emulates nvcuda::wmma: matrix loads, stores, and products of a whole warp.

#include "convlab/simt/cuda/wmma.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "convlab/simt/cuda/mma.h"
#include "convlab/simt/worker.h"

namespace convlab::simt::wmma {
namespace internal {
namespace {

using simt::internal::AccessKind;
using simt::internal::Counting;
using simt::internal::RawFault;
using simt::internal::Worker;

constexpr int kMaxElements = 32 * 16;  // of an operand: 32 x 16

template <class Stored, class T>
void widen(const Operand& operand, T* to) {
  const auto* const from = static_cast<const Stored*>(operand.elements);
  for (int i = 0; i < operand.count; ++i) to[i] = static_cast<T>(from[i]);
}

// Converts a fragment's elements to the type in which products are summed.
template <class T>
void read_elements(const Operand& operand, T* to) {
  if constexpr (std::is_same_v<T, int64_t>) {
    if (operand.element == Element::int8) return widen<signed char>(operand, to);
    if (operand.element == Element::uint8) return widen<unsigned char>(operand, to);
    widen<int>(operand, to);
  } else if constexpr (std::is_same_v<T, double>) {
    widen<double>(operand, to);
  } else {
    if (operand.element == Element::half) return widen<cuda::__half>(operand, to);
    if (operand.element == Element::bfloat16) return widen<cuda::__nv_bfloat16>(operand, to);
    widen<float>(operand, to);
    if (operand.element != Element::tf32) return;
    for (int i = 0; i < operand.count; ++i) to[i] = std::bit_cast<float>(std::bit_cast<uint32_t>(to[i]) & 0xffffe000u);
  }
}

template <class T>
void write_elements(const Operand& operand, const T* from, bool saturates) {
  for (int i = 0; i < operand.count; ++i) {
    if constexpr (std::is_same_v<T, int64_t>) {
      const int64_t value = saturates ? std::clamp<int64_t>(from[i], INT32_MIN, INT32_MAX) : from[i];
      static_cast<int*>(operand.elements)[i] = static_cast<int>(value);
    } else if (operand.element == Element::half) {
      static_cast<cuda::__half*>(operand.elements)[i] = static_cast<float>(from[i]);
    } else {
      static_cast<T*>(operand.elements)[i] = from[i];
    }
  }
}

// Returns a lane whose arguments differ from lane 0's or that is absent; -1 if all agree.
template <class Agree>
int dissenting_lane(void* const lanes[kLanes], Agree agree) {
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!lanes[lane] || !agree(lane)) return lane;
  }
  return -1;
}

void fail_divergent(Worker& worker, int lane, bool missing, Where where) {
  RawFault fault;
  fault.kind = FaultKind::divergent_warp;
  fault.location = where;
  fault.detail = fmt::format("a wmma function needs the whole warp with equal arguments, but lane {} {}", lane,
                             missing ? "does not take part" : "has other arguments");
  worker.fail(std::move(fault));
}

void run_transfer(Worker& worker, void* const lanes[kLanes], Where where) {
  auto of = [&](int lane) -> const Transfer& { return *static_cast<const Transfer*>(lanes[lane]); };
  if (!lanes[0]) return fail_divergent(worker, 0, true, where);
  const Transfer& first = of(0);
  const int dissenting = dissenting_lane(lanes, [&](int lane) {
    const Transfer& other = of(lane);
    return other.memory == first.memory && other.leading_dimension == first.leading_dimension &&
           other.by_column == first.by_column && other.is_store == first.is_store &&
           other.fragment.rows == first.fragment.rows && other.fragment.columns == first.fragment.columns;
  });
  if (dissenting >= 0) return fail_divergent(worker, dissenting, !lanes[dissenting], where);

  const Operand& shape = first.fragment;
  const size_t element_bytes = shape.element_bytes;
  // In memory: `runs` runs of `length` contiguous elements, which are rows or columns.
  const int runs = first.by_column ? shape.columns : shape.rows;
  const int length = first.by_column ? shape.rows : shape.columns;
  const size_t bytes = static_cast<size_t>(length) * element_bytes;
  const uintptr_t base = reinterpret_cast<uintptr_t>(first.memory);
  const size_t alignment = std::min<size_t>(32, bytes);  // tiles of 8-bit integers follow each other at 16 bytes
  if (base % alignment != 0 || first.leading_dimension * element_bytes % 16 != 0) {
    RawFault fault;
    fault.kind = FaultKind::misaligned;
    fault.location = where;
    fault.detail = fmt::format(
        "a wmma matrix is {0} bytes past a multiple of {1}, with {2} bytes between rows; the address must be a "
        "multiple "
        "of {1} bytes and the distance a multiple of 16",
        base % alignment, alignment, first.leading_dimension * element_bytes);
    worker.fail(std::move(fault));
  }
  const size_t distance = first.leading_dimension * element_bytes;
  if (Counting* const counting = worker.counting()) {  // counted launches are not checked
    counting->matrix(first.is_store, first.code, base, runs, bytes, distance);
  } else {
    for (int run = 0; run < runs; ++run) {
      worker.check_access(base + static_cast<size_t>(run) * distance, bytes,
                          first.is_store ? AccessKind::write : AccessKind::read, first.code, where);
    }
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    const Operand& mine = of(lane).fragment;
    for (int i = 0; i < mine.count; ++i) {
      const int flat = lane * mine.count + i;
      const int row = flat / mine.columns, column = flat % mine.columns;
      const size_t at = first.by_column ? static_cast<size_t>(column) * first.leading_dimension + row
                                        : static_cast<size_t>(row) * first.leading_dimension + column;
      char* const memory = static_cast<char*>(first.memory) + at * element_bytes;
      char* const held = static_cast<char*>(mine.elements) + static_cast<size_t>(i) * element_bytes;
      std::memcpy(first.is_store ? memory : held, first.is_store ? held : memory, element_bytes);
    }
  }
}

template <class T>
void gather(void* const lanes[kLanes], Operand Multiplication::*which, T* matrix) {
  for (int lane = 0; lane < kLanes; ++lane) {
    const Operand& operand = static_cast<const Multiplication*>(lanes[lane])->*which;
    read_elements(operand, matrix + static_cast<ptrdiff_t>(lane) * operand.count);
  }
}

// Multiplies in the type T, which holds each product exactly.
template <class T>
void multiply_all(void* const lanes[kLanes], const Multiplication& first) {
  const int m = first.a.rows, k = first.a.columns, n = first.b.columns;
  T a[kMaxElements], b[kMaxElements], c[kMaxElements];
  gather(lanes, &Multiplication::a, a);
  gather(lanes, &Multiplication::b, b);
  gather(lanes, &Multiplication::c, c);
  for (int row = 0; row < m; ++row) {
    for (int step = 0; step < k; ++step) {
      const T left = a[row * k + step];
      for (int column = 0; column < n; ++column) c[row * n + column] += left * b[step * n + column];
    }
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    const Operand& d = static_cast<const Multiplication*>(lanes[lane])->d;
    write_elements(d, c + static_cast<ptrdiff_t>(lane) * d.count, first.saturates);
  }
}

void run_multiplication(Worker& worker, void* const lanes[kLanes], Where where) {
  if (!lanes[0]) return fail_divergent(worker, 0, true, where);
  const Multiplication& first = *static_cast<const Multiplication*>(lanes[0]);
  const int dissenting = dissenting_lane(lanes, [&](int lane) {
    const Multiplication& other = *static_cast<const Multiplication*>(lanes[lane]);
    return other.a.rows == first.a.rows && other.b.columns == first.b.columns && other.a.columns == first.a.columns &&
           other.a.element == first.a.element && other.d.element == first.d.element &&
           other.saturates == first.saturates;
  });
  if (dissenting >= 0) return fail_divergent(worker, dissenting, !lanes[dissenting], where);

  const int m = first.a.rows, k = first.a.columns, n = first.b.columns;
  const int64_t operations = int64_t{2} * m * k * n;
  if (Counting* const counting = worker.counting()) {
    counting->matrix_product(first.a.element == Element::tf32, operations);
  }
  if (first.d.element == Element::int32) return multiply_all<int64_t>(lanes, first);
  if (first.d.element == Element::float64) return multiply_all<double>(lanes, first);
  multiply_all<float>(lanes, first);
}

}  // namespace

void transfer(Transfer& transfer, Where where) noexcept {
  transfer.code = __builtin_return_address(0);
  warp_collective(run_transfer, &transfer, where);
}

void multiply(Multiplication& multiplication, Where where) noexcept {
  warp_collective(run_multiplication, &multiplication, where);
}

}  // namespace internal

float __float_to_tf32(float value) noexcept { return std::bit_cast<float>(to_tf32(value)); }

}  // namespace convlab::simt::wmma
