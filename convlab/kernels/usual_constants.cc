// Which inputs of operators are constants in most networks: weights, scales and zero points.

#include "convlab/kernels/usual_constants.h"

#include <algorithm>
#include <type_traits>

namespace convlab {
namespace {

template <class T, class... Ts>
constexpr bool is_one_of = (std::is_same_v<T, Ts> || ...);

/// Whether an operand of an elementwise operator is the same for all images: a bias, or a scale of each channel.
bool is_same_for_all_images(std::span<const Shape> inputs, size_t input) {
  size_t rank = 0;
  for (const Shape& each : inputs) rank = std::max(rank, each.size());
  if (inputs[input].size() < rank) return true;
  if (rank == 0) return false;
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const Shape& each) { return each.size() == rank && each[0] > inputs[input][0]; });
}

}  // namespace

bool is_usually_constant(const Op& op, std::span<const Shape> inputs, size_t input) {
  const auto is_matrix = [&] { return inputs[input].size() <= 2; };
  return std::visit(
      [&]<class T>(const T& one) {
        if constexpr (is_one_of<T, ConvOp, ConvTransposeOp, GemmOp, BatchNormOp, NormalizeOp, QuantizeOp, DequantizeOp,
                                QLinearConvOp, SqueezeExciteOp>) {
          return input > 0;
        } else if constexpr (std::is_same_v<T, BinaryOp>) {
          return one.kind == BinaryKind::prelu ? input > 0 : is_same_for_all_images(inputs, input);
        } else if constexpr (is_one_of<T, AddOp, MulOp, WhereOp>) {
          return is_same_for_all_images(inputs, input);
        } else if constexpr (std::is_same_v<T, MatMulOp>) {
          return input == 1 && is_matrix();
        } else if constexpr (std::is_same_v<T, QLinearMatMulOp>) {
          return input == 3 ? is_matrix() : input > 0;
        } else if constexpr (std::is_same_v<T, ConvIntegerOp>) {
          return input == 1 || input == 3;  // the zero point of x is computed from x
        } else if constexpr (std::is_same_v<T, MatMulIntegerOp>) {
          return input == 1 ? is_matrix() : input == 3 && inputs[1].size() <= 2;
        } else if constexpr (std::is_same_v<T, ByteConvOp>) {
          return input > 0 && input < 4;
        } else {
          return false;
        }
      },
      static_cast<const AnyOp&>(op));
}

}  // namespace convlab
