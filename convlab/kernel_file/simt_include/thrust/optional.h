#pragma once

#include <optional>

namespace thrust {

template <class T>
using optional = std::optional<T>;
using std::make_optional;
using nullopt_t = std::nullopt_t;
inline constexpr nullopt_t nullopt = std::nullopt;
using std::bad_optional_access;
using std::in_place;
using std::in_place_t;

}  // namespace thrust
