// Operators of a graph: construction and copies.

#include "convlab/model/op.h"

#include <type_traits>
#include <utility>

namespace convlab {
namespace {

/// Moves the operator at `from` to `to`; `place` is its index among the operators.
template <size_t... kPlaces>
void move_op(size_t place, void* from, AnyOp& to, std::index_sequence<kPlaces...>) {
  const auto move_if = [&]<size_t kPlace>(std::integral_constant<size_t, kPlace>) {
    if (place == kPlace) to.emplace<kPlace>(std::move(*static_cast<std::variant_alternative_t<kPlace, AnyOp>*>(from)));
  };
  (move_if(std::integral_constant<size_t, kPlaces>()), ...);
}

}  // namespace

Op::Op() = default;
Op::Op(const Op&) = default;
Op::Op(Op&&) noexcept = default;
Op& Op::operator=(const Op&) = default;
Op& Op::operator=(Op&&) noexcept = default;
Op::~Op() = default;

Op::Op(size_t place, void* op) { move_op(place, op, *this, std::make_index_sequence<std::variant_size_v<AnyOp>>()); }

}  // namespace convlab
