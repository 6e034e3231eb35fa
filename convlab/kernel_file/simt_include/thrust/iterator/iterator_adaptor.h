#pragma once

#include "convlab/kernel_file/simt_include/thrust/iterator/iterator_facade.h"
#include "convlab/kernel_file/simt_include/thrust/iterator/iterator_traits.h"

namespace thrust {

namespace detail {

template <class Given, class Otherwise>
using given_or = std::conditional_t<std::is_same_v<Given, use_default>, Otherwise, Given>;

}  // namespace detail

/// An iterator that behaves as another one does, except in the functions that it defines itself.
template <class Derived, class Base, class Value = use_default, class System = use_default,
          class Traversal = use_default, class Reference = use_default, class Difference = use_default>
class iterator_adaptor
    : public iterator_facade<
          Derived, detail::given_or<Value, typename std::iterator_traits<Base>::value_type>,
          detail::given_or<System, typename iterator_system<Base>::type>,
          detail::given_or<Traversal, typename std::iterator_traits<Base>::iterator_category>,
          detail::given_or<Reference, std::conditional_t<std::is_same_v<Value, use_default>,
                                                         typename std::iterator_traits<Base>::reference,
                                                         std::add_lvalue_reference_t<Value>>>,
          detail::given_or<Difference, typename std::iterator_traits<Base>::difference_type>> {
  friend class iterator_core_access;

 public:
  using base_type = Base;
  /// For derived classes, which inherit constructors from it.
  using super_t = iterator_adaptor;

  iterator_adaptor() = default;
  explicit iterator_adaptor(const Base& base) : base_(base) {}
  const Base& base() const { return base_; }

 protected:
  const Base& base_reference() const { return base_; }
  Base& base_reference() { return base_; }

 private:
  typename iterator_adaptor::reference dereference() const { return *base_; }
  void increment() { ++base_; }
  void decrement() { --base_; }
  void advance(typename iterator_adaptor::difference_type n) { base_ += n; }
  template <class Other>
  bool equal(const Other& other) const {
    return base_ == other.base();
  }
  template <class Other>
  auto distance_to(const Other& other) const {
    return other.base() - base_;
  }

  Base base_{};
};

}  // namespace thrust
