#pragma once

#include <type_traits>

#include "convlab/kernel_file/simt_include/thrust/detail/pointers.h"
#include "convlab/kernel_file/simt_include/thrust/iterator/iterator_adaptor.h"

namespace thrust {

/// A range from its end to its begin.
template <class I>
class reverse_iterator : public iterator_adaptor<reverse_iterator<I>, I> {
  friend class iterator_core_access;
  using Adaptor = typename reverse_iterator::super_t;

 public:
  reverse_iterator() = default;
  explicit reverse_iterator(I end) : Adaptor(end) {}
  template <class Other>
  requires std::is_convertible_v<Other, I> reverse_iterator(const reverse_iterator<Other>& other)
      : Adaptor(other.base()) {}

  auto convlab_unwrapped() const {
    const auto base = detail::unwrap(this->base());
    return reverse_iterator<std::remove_const_t<decltype(base)>>(base);
  }

 private:
  typename reverse_iterator::reference dereference() const {
    I before = this->base();
    return *--before;
  }
  void increment() { --this->base_reference(); }
  void decrement() { ++this->base_reference(); }
  void advance(ptrdiff_t n) { this->base_reference() -= n; }
  ptrdiff_t distance_to(const reverse_iterator& other) const { return this->base() - other.base(); }
};

template <class I>
reverse_iterator<I> make_reverse_iterator(I end) {
  return reverse_iterator<I>(end);
}

}  // namespace thrust
