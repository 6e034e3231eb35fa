#pragma once

#include <type_traits>

#include "convlab/kernel_file/simt_include/thrust/detail/pointers.h"
#include "convlab/kernel_file/simt_include/thrust/iterator/iterator_adaptor.h"

namespace thrust {

namespace detail {

/// Sets an element to a function's result for what is assigned.
template <class F, class I>
class TransformedElement {
 public:
  TransformedElement(const I& at, const F& f) : at_(at), f_(f) {}
  template <class T>
  const TransformedElement& operator=(const T& value) const {
    *at_ = f_(value);
    return *this;
  }

 private:
  I at_;
  F f_;
};

}  // namespace detail

/// An output that applies a function before it writes.
template <class F, class I>
class transform_output_iterator : public iterator_adaptor<transform_output_iterator<F, I>, I, void, use_default,
                                                          use_default, detail::TransformedElement<F, I>> {
  friend class iterator_core_access;
  using Adaptor = typename transform_output_iterator::super_t;

 public:
  transform_output_iterator(const I& base, F f) : Adaptor(base), f_(f) {}

  auto convlab_unwrapped() const {
    const auto base = detail::unwrap(this->base());
    return transform_output_iterator<F, std::remove_const_t<decltype(base)>>(base, f_);
  }

 private:
  detail::TransformedElement<F, I> dereference() const { return {this->base(), f_}; }

  F f_;
};

template <class F, class I>
transform_output_iterator<F, I> make_transform_output_iterator(I base, F f) {
  return {base, f};
}

}  // namespace thrust
