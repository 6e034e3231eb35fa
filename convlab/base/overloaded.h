#pragma once

namespace convlab {

/// Combines several function objects into one overload set, for std::visit.
template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;  // clang 14 does not deduce it

}  // namespace convlab
