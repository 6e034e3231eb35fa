#pragma once

#include <iterator>

#include "convlab/kernel_file/simt_include/thrust/detail/policies.h"

namespace thrust {

template <class I>
using iterator_traits = std::iterator_traits<I>;

template <class I>
struct iterator_value {
  using type = typename std::iterator_traits<I>::value_type;
};
template <class I>
struct iterator_pointer {
  using type = typename std::iterator_traits<I>::pointer;
};
template <class I>
struct iterator_reference {
  using type = typename std::iterator_traits<I>::reference;
};
template <class I>
struct iterator_difference {
  using type = typename std::iterator_traits<I>::difference_type;
};
template <class I>
struct iterator_traversal {
  using type = typename std::iterator_traits<I>::iterator_category;
};
template <class I>
struct iterator_system {
  using type = detail::tag_of_system<detail::system_of<I>>;
};

template <class I>
using iterator_value_t = typename iterator_value<I>::type;
template <class I>
using iterator_pointer_t = typename iterator_pointer<I>::type;
template <class I>
using iterator_reference_t = typename iterator_reference<I>::type;
template <class I>
using iterator_difference_t = typename iterator_difference<I>::type;
template <class I>
using iterator_traversal_t = typename iterator_traversal<I>::type;
template <class I>
using iterator_system_t = typename iterator_system<I>::type;

template <class I>
typename std::iterator_traits<I>::difference_type distance(I first, I last) {
  return std::distance(first, last);
}
template <class I, class Distance>
void advance(I& i, Distance n) {
  std::advance(i, n);
}
template <class I>
I next(I i, typename std::iterator_traits<I>::difference_type n = 1) {
  return std::next(i, n);
}
template <class I>
I prev(I i, typename std::iterator_traits<I>::difference_type n = 1) {
  return std::prev(i, n);
}

namespace detail {

template <class I>
using value_of = std::remove_cv_t<typename std::iterator_traits<I>::value_type>;

/// What an output iterator takes; `Otherwise` if it takes anything.
template <class I, class Otherwise>
using output_of = std::conditional_t<std::is_void_v<value_of<I>>, Otherwise, value_of<I>>;

template <class I>
inline constexpr bool is_random_access =
    std::is_base_of_v<std::random_access_iterator_tag, typename std::iterator_traits<I>::iterator_category>;

}  // namespace detail
}  // namespace thrust
