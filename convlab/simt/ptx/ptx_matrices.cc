// Executes PTX's matrix instructions of warps: ldmatrix, stmatrix and mma.sync.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "convlab/base/half.h"
#include "convlab/simt/ptx/ptx_memory.h"
#include "convlab/simt/warp.h"
#include "convlab/simt/worker.h"

namespace convlab::simt::ptx {
namespace {

using internal::AccessKind;
using internal::Worker;

constexpr int kLanes = 32, kSide = 8, kMostMatrices = 4;
constexpr size_t kRowBytes = 16;

/// Reports it if a lane does not take part.
bool has_all_lanes(Worker& worker, void* const lanes[kLanes], const char* name, Where where) {
  for (int lane = 0; lane < kLanes; ++lane) {
    if (lanes[lane] != nullptr) continue;
    internal::RawFault fault;
    fault.kind = FaultKind::divergent_warp;
    fault.location = where;
    fault.detail = fmt::format("{} needs the whole warp, but lane {} does not take part", name, lane);
    worker.fail(std::move(fault));
    return false;
  }
  return true;
}

/// What one lane gives to ldmatrix or stmatrix and gets: the row whose address it has, of matrix lane / 8, and its
/// register of each matrix.
struct MatrixLane {
  std::array<uint16_t, kSide> row{};
  std::array<uint32_t, kMostMatrices> registers{};
  int matrices = 0;
  bool transposed = false;
};

/// The lane, and the half of its register, that has an element. A lane has two neighbors in a row.
struct Holder {
  int lane, half;
};
Holder holder_of(int row, int column, bool transposed) {
  if (transposed) std::swap(row, column);
  return {row * 4 + column / 2, column % 2};
}

template <bool kLoad>
void exchange(Worker& worker, void* const lanes[kLanes], Where where) {
  if (!has_all_lanes(worker, lanes, kLoad ? "ldmatrix" : "stmatrix", where)) return;
  const auto of = [&](int lane) -> MatrixLane& { return *static_cast<MatrixLane*>(lanes[lane]); };
  for (int matrix = 0; matrix < of(0).matrices; ++matrix) {
    for (int row = 0; row < kSide; ++row) {
      for (int column = 0; column < kSide; ++column) {
        const Holder holder = holder_of(row, column, of(0).transposed);
        uint32_t& both = of(holder.lane).registers[static_cast<size_t>(matrix)];
        uint16_t& element = of(matrix * kSide + row).row[static_cast<size_t>(column)];
        if constexpr (kLoad) {
          both = (both & ~(0xffffu << 16 * holder.half)) | static_cast<uint32_t>(element) << 16 * holder.half;
        } else {
          element = static_cast<uint16_t>(both >> 16 * holder.half);
        }
      }
    }
  }
}

int matrices_of(const Run& run, const Instruction& i, const Group& registers) {
  const int matrices = i.has("x4"_word) ? 4 : i.has("x2"_word) ? 2 : 1;
  if (registers.count != static_cast<size_t>(matrices)) fail_unsupported(run, i);
  return matrices;
}

bool has_row(int matrices) { return static_cast<int>(value_of(Special::laneid)) < matrices * kSide; }

/// The shape of D += A * B, and what a register of A and B has.
struct Shape {
  int m = 0, k = 0;
  int packed = 1;  ///< elements per register
  Type a{}, b{}, d{};
  bool saturates = false;
  static constexpr int kN = 8;

  size_t a_registers() const { return static_cast<size_t>(m * k / (kLanes * packed)); }
  size_t b_registers() const { return static_cast<size_t>(kN * k / (kLanes * packed)); }
  size_t d_elements() const { return static_cast<size_t>(m * kN / kLanes); }
  size_t d_registers() const { return d == Type::f16 ? d_elements() / 2 : d_elements(); }
};

/// One lane's registers. D has C before.
struct MmaLane {
  const Shape* shape = nullptr;
  std::array<uint64_t, 8> a{}, b{};
  std::array<double, 4> d{};
};

double number_of(uint64_t bits, Type type, int part) {
  const auto word = static_cast<uint32_t>(bits);
  switch (type) {
    case Type::f64:
      return std::bit_cast<double>(bits);
    case Type::tf32:
      return std::bit_cast<float>(word & 0xffffe000u);
    case Type::bf16:
      return std::bit_cast<float>(word >> 16 * part << 16);
    case Type::f16:
      return half_to_float(static_cast<uint16_t>(word >> 16 * part));
    case Type::s8:
      return static_cast<int8_t>(word >> 8 * part);
    default:
      return static_cast<uint8_t>(word >> 8 * part);
  }
}

/// The element of row or column `line` at depth k: lane line % 8 * 4 + t has it, in registers of `packed` neighbors,
/// and a register of A for line / 8 before the next ones in k.
double element(void* const lanes[kLanes], const Shape& shape, bool of_a, int line, int k) {
  const int lane = line % 8 * 4 + k / shape.packed % 4, step = k / (4 * shape.packed);
  const auto& of = *static_cast<const MmaLane*>(lanes[lane]);
  const auto at = static_cast<size_t>(of_a ? step * (shape.m / 8) + line / 8 : step);
  return number_of(of_a ? of.a[at] : of.b[at], of_a ? shape.a : shape.b, k % shape.packed);
}

/// Products are exact; sums are rounded as those of float, or exact for integers, in order of k.
double accumulated(const Shape& shape, double sum, double a, double b) {
  if (shape.d == Type::f64) return std::fma(a, b, sum);
  if (shape.d == Type::s32) return sum + a * b;
  return static_cast<float>(sum) + static_cast<float>(a) * static_cast<float>(b);
}

void multiply(Worker& worker, void* const lanes[kLanes], Where where) {
  if (!has_all_lanes(worker, lanes, "mma.sync", where)) return;
  constexpr int kMostDepth = 32, kMostRows = 16;
  const Shape& shape = *static_cast<const MmaLane*>(lanes[0])->shape;
  if (internal::Counting* const counting = worker.counting()) {
    counting->matrix_product(shape.a == Type::tf32, int64_t{2} * shape.m * Shape::kN * shape.k);
  }
  double a[kMostRows][kMostDepth], b[Shape::kN][kMostDepth];
  for (int k = 0; k < shape.k; ++k) {
    for (int row = 0; row < shape.m; ++row) a[row][k] = element(lanes, shape, true, row, k);
    for (int column = 0; column < Shape::kN; ++column) b[column][k] = element(lanes, shape, false, column, k);
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    auto& d = static_cast<MmaLane*>(lanes[lane])->d;
    for (size_t n = 0; n < shape.d_elements(); ++n) {
      const int row = lane / 4 + static_cast<int>(n) / 2 * 8, column = lane % 4 * 2 + static_cast<int>(n) % 2;
      for (int k = 0; k < shape.k; ++k) d[n] = accumulated(shape, d[n], a[row][k], b[column][k]);
    }
  }
}

/// Returns a shape with m = 0 if simt does not know it.
Shape shape_of(const Instruction& i) {
  struct Known {
    Word word;
    int m, k;
  };
  constexpr std::array kKnown{Known{"m8n8k4"_word, 8, 4},     Known{"m8n8k16"_word, 8, 16},
                              Known{"m16n8k4"_word, 16, 4},   Known{"m16n8k8"_word, 16, 8},
                              Known{"m16n8k16"_word, 16, 16}, Known{"m16n8k32"_word, 16, 32}};
  Shape shape{.a = i.type(1), .b = i.type(2), .d = i.type(0), .saturates = i.has("satfinite"_word)};
  for (const Known& known : kKnown) {
    if (i.has(known.word)) shape.m = known.m, shape.k = known.k;
  }
  const size_t bytes = bytes_of(shape.a == Type::u8 ? Type::s8 : shape.a);
  shape.packed = bytes >= 4 ? 1 : static_cast<int>(4 / bytes);
  const bool fits = i.has("row"_word) && i.has("col"_word) && shape.k >= 4 * shape.packed &&
                    (shape.m == 16 || shape.a == Type::f64 || bytes == 1);
  const bool has_types = shape.d == i.type(3) && bytes_of(shape.b) == bytes;
  if (!fits || !has_types) shape.m = 0;
  return shape;
}

double addend(const Run& run, const Instruction& i, const Shape& shape, size_t n) {
  if (shape.d == Type::f16) {
    const auto both = run.get<uint32_t>(i.operand(3, n / 2));
    return half_to_float(static_cast<uint16_t>(both >> 16 * (n % 2)));
  }
  if (shape.d == Type::f64) return run.get<double>(i.operand(3, n));
  if (shape.d == Type::s32) return run.get<int32_t>(i.operand(3, n));
  return run.get<float>(i.operand(3, n));
}

void put_sums(Run& run, const Instruction& i, const Shape& shape, const std::array<double, 4>& d) {
  for (size_t n = 0; n < shape.d_elements(); ++n) {
    if (shape.d == Type::f64) {
      run.put(i.operand(0, n), d[n]);
    } else if (shape.d == Type::f32) {
      run.put(i.operand(0, n), static_cast<float>(d[n]));
    } else if (shape.d == Type::s32) {
      auto sum = static_cast<int64_t>(d[n]);
      if (shape.saturates) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
      run.put(i.operand(0, n), static_cast<int32_t>(sum));
    } else if (n % 2 == 1) {
      run.put(i.operand(0, n / 2), static_cast<uint32_t>(float_to_half(static_cast<float>(d[n - 1]))) |
                                       static_cast<uint32_t>(float_to_half(static_cast<float>(d[n]))) << 16);
    }
  }
}

}  // namespace

void load_matrix(Run& run, const Instruction& i) {
  MatrixLane own{.matrices = matrices_of(run, i, i.groups[0]), .transposed = i.has("trans"_word)};
  if (has_row(own.matrices)) {
    const void* const row = pointer_of(run, i, 1, i.has("shared"_word) || i.has("shared::cta"_word));
    check_access(run, row, kRowBytes, AccessKind::read);
    std::memcpy(own.row.data(), row, kRowBytes);
  }
  warp_collective(exchange<true>, &own, run.where);
  for (size_t n = 0; n < i.groups[0].count; ++n) run.put(i.operand(0, n), own.registers[n]);
}

void store_matrix(Run& run, const Instruction& i) {
  MatrixLane own{.matrices = matrices_of(run, i, i.groups[1]), .transposed = i.has("trans"_word)};
  for (size_t n = 0; n < i.groups[1].count; ++n) own.registers[n] = run.get<uint32_t>(i.operand(1, n));
  warp_collective(exchange<false>, &own, run.where);
  if (!has_row(own.matrices)) return;
  void* const row = pointer_of(run, i, 0, i.has("shared"_word) || i.has("shared::cta"_word));
  check_access(run, row, kRowBytes, AccessKind::write);
  std::memcpy(row, own.row.data(), kRowBytes);
}

void multiply_matrices(Run& run, const Instruction& i) {
  const Shape shape = shape_of(i);
  if (shape.m == 0 || i.groups[1].count != shape.a_registers() || i.groups[2].count != shape.b_registers() ||
      i.groups[0].count != shape.d_registers() || i.groups[3].count != shape.d_registers()) {
    fail_unsupported(run, i);
  }
  MmaLane own{.shape = &shape};
  for (size_t n = 0; n < i.groups[1].count; ++n) own.a[n] = run.get<uint64_t>(i.operand(1, n));
  for (size_t n = 0; n < i.groups[2].count; ++n) own.b[n] = run.get<uint64_t>(i.operand(2, n));
  for (size_t n = 0; n < shape.d_elements(); ++n) own.d[n] = addend(run, i, shape, n);
  warp_collective(multiply, &own, run.where);
  put_sums(run, i, shape, own.d);
}

}  // namespace convlab::simt::ptx
