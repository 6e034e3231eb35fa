#pragma once

#include <type_traits>

#include "convlab/kernel_file/simt_include/thrust/detail/pointers.h"
#include "convlab/kernel_file/simt_include/thrust/iterator/counting_iterator.h"
#include "convlab/kernel_file/simt_include/thrust/iterator/iterator_adaptor.h"

namespace thrust {

namespace detail {

/// What a function gets for an iterator's element: a reference, or a value if the reference is an object of a class.
template <class I>
using argument_of = std::conditional_t<std::is_lvalue_reference_v<typename std::iterator_traits<I>::reference>,
                                       typename std::iterator_traits<I>::reference, value_of<I>&>;

template <class F, class I>
using result_of = std::invoke_result_t<F&, argument_of<I>>;

}  // namespace detail

/// A function's results for another iterator's elements.
template <class F, class I, class Reference = use_default, class Value = use_default>
class transform_iterator
    : public iterator_adaptor<
          transform_iterator<F, I, Reference, Value>, I,
          detail::given_or<Value, std::remove_cvref_t<detail::given_or<Reference, detail::result_of<F, I>>>>,
          use_default, use_default, detail::given_or<Reference, detail::result_of<F, I>>> {
  friend class iterator_core_access;
  using Adaptor = typename transform_iterator::super_t;

 public:
  transform_iterator() = default;
  explicit transform_iterator(const I& base) : Adaptor(base) {}
  transform_iterator(const I& base, F f) : Adaptor(base), f_(f) {}
  F functor() const { return f_; }

  auto convlab_unwrapped() const {
    const auto base = detail::unwrap(this->base());
    return transform_iterator<F, std::remove_const_t<decltype(base)>, Reference, Value>(base, f_);
  }

 private:
  typename transform_iterator::reference dereference() const {
    if constexpr (std::is_lvalue_reference_v<typename std::iterator_traits<I>::reference>) {
      return f_(*this->base());
    } else {
      detail::value_of<I> value = *this->base();
      return f_(value);
    }
  }

  mutable F f_{};
};

template <class F, class I>
transform_iterator<F, I> make_transform_iterator(I base, F f) {
  return transform_iterator<F, I>(base, f);
}

}  // namespace thrust
