#pragma once

#include <type_traits>

/// Thrust's own names of the standard's traits.
namespace thrust::detail {

using std::conditional;
using std::enable_if;
using std::false_type;
using std::integral_constant;
using std::is_arithmetic;
using std::is_convertible;
using std::is_same;
using std::remove_const;
using std::remove_cv;
using std::remove_reference;
using std::true_type;

}  // namespace thrust::detail
