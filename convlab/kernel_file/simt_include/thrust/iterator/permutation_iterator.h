#pragma once

#include <type_traits>

#include "convlab/kernel_file/simt_include/thrust/detail/pointers.h"
#include "convlab/kernel_file/simt_include/thrust/iterator/iterator_adaptor.h"

namespace thrust {

/// The elements whose numbers another iterator has.
template <class Elements, class Indices>
class permutation_iterator : public iterator_adaptor<permutation_iterator<Elements, Indices>, Indices,
                                                     typename std::iterator_traits<Elements>::value_type,
                                                     detail::tag_of_system<detail::common_system<Elements, Indices>>,
                                                     use_default, typename std::iterator_traits<Elements>::reference> {
  friend class iterator_core_access;
  using Adaptor = typename permutation_iterator::super_t;

 public:
  permutation_iterator() = default;
  permutation_iterator(Elements elements, Indices indices) : Adaptor(indices), elements_(elements) {}

  auto convlab_unwrapped() const {
    const auto elements = detail::unwrap(elements_);
    const auto indices = detail::unwrap(this->base());
    return permutation_iterator<std::remove_const_t<decltype(elements)>, std::remove_const_t<decltype(indices)>>(
        elements, indices);
  }

 private:
  typename permutation_iterator::reference dereference() const {
    return elements_[static_cast<ptrdiff_t>(static_cast<detail::value_of<Indices>>(*this->base()))];
  }

  Elements elements_{};
};

template <class Elements, class Indices>
permutation_iterator<Elements, Indices> make_permutation_iterator(Elements elements, Indices indices) {
  return {elements, indices};
}

}  // namespace thrust
