#pragma once

#include <type_traits>
#include <utility>

#include "convlab/kernel_file/simt_include/thrust/detail/pointers.h"
#include "convlab/kernel_file/simt_include/thrust/iterator/iterator_facade.h"
#include "convlab/kernel_file/simt_include/thrust/iterator/iterator_traits.h"
#include "convlab/kernel_file/simt_include/thrust/tuple.h"

namespace thrust {

template <class Tuple>
class zip_iterator;

/// Tuples of the elements of several iterators.
template <class... I>
class zip_iterator<tuple<I...>>
    : public iterator_facade<zip_iterator<tuple<I...>>, tuple<detail::value_of<I>...>,
                             detail::tag_of_system<detail::common_system<I...>>, random_access_traversal_tag,
                             tuple<typename std::iterator_traits<I>::reference...>> {
  friend class iterator_core_access;
  using Indices = std::index_sequence_for<I...>;

 public:
  zip_iterator() = default;
  zip_iterator(const tuple<I...>& iterators) : iterators_(iterators) {}
  template <class Other>
  requires(!std::is_same_v<Other, tuple<I...>> && std::is_convertible_v<Other, tuple<I...>>)
      zip_iterator(const zip_iterator<Other>& other)
      : iterators_(other.get_iterator_tuple()) {}
  const tuple<I...>& get_iterator_tuple() const { return iterators_; }

  auto convlab_unwrapped() const {
    return thrust::apply(
        [](const auto&... each) {
          using Unwrapped = tuple<std::remove_cvref_t<decltype(detail::unwrap(each))>...>;
          return zip_iterator<Unwrapped>(Unwrapped(detail::unwrap(each)...));
        },
        iterators_);
  }

 private:
  typename zip_iterator::reference dereference() const {
    return thrust::apply([](const I&... each) { return typename zip_iterator::reference(*each...); }, iterators_);
  }
  void increment() { advance(1); }
  void decrement() { advance(-1); }
  void advance(ptrdiff_t n) {
    thrust::apply([n](I&... each) { ((each += n), ...); }, iterators_);
  }
  bool equal(const zip_iterator& other) const { return distance_to(other) == 0; }
  ptrdiff_t distance_to(const zip_iterator& other) const {
    return static_cast<ptrdiff_t>(thrust::get<0>(other.iterators_) - thrust::get<0>(iterators_));
  }

  tuple<I...> iterators_;
};

template <class... I>
zip_iterator<tuple<I...>> make_zip_iterator(const tuple<I...>& iterators) {
  return {iterators};
}
template <class... I>
requires(detail::IsIterator<I>&&...) zip_iterator<tuple<I...>> make_zip_iterator(I... iterators) {
  return {tuple<I...>(iterators...)};
}

}  // namespace thrust
