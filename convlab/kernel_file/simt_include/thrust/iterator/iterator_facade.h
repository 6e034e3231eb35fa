#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>

#include "convlab/kernel_file/simt_include/thrust/detail/policies.h"

namespace thrust {

struct use_default {};

struct incrementable_traversal_tag {};
struct single_pass_traversal_tag : incrementable_traversal_tag {};
struct forward_traversal_tag : single_pass_traversal_tag {};
struct bidirectional_traversal_tag : forward_traversal_tag {};
struct random_access_traversal_tag : bidirectional_traversal_tag {};

/// Calls the private functions of an iterator that is built on iterator_facade, which names this class its friend.
class iterator_core_access {
 public:
  template <class I>
  static decltype(auto) dereference(const I& i) {
    return i.dereference();
  }
  template <class I>
  static void increment(I& i) {
    i.increment();
  }
  template <class I>
  static void decrement(I& i) {
    i.decrement();
  }
  template <class I>
  static void advance(I& i, typename I::difference_type n) {
    i.advance(n);
  }
  template <class I, class Other>
  static bool equal(const I& i, const Other& other) {
    return i.equal(other);
  }
  template <class I, class Other>
  static auto distance_to(const I& i, const Other& other) {
    return i.distance_to(other);
  }
};

namespace detail {

template <class Traversal>
using category_of_traversal =
    std::conditional_t<std::is_base_of_v<random_access_traversal_tag, Traversal> ||
                           std::is_base_of_v<std::random_access_iterator_tag, Traversal>,
                       std::random_access_iterator_tag,
                       std::conditional_t<std::is_base_of_v<bidirectional_traversal_tag, Traversal> ||
                                              std::is_base_of_v<std::bidirectional_iterator_tag, Traversal>,
                                          std::bidirectional_iterator_tag, std::forward_iterator_tag>>;

}  // namespace detail

/// The operators of an iterator, from its functions dereference(), increment(), decrement(), advance(n), equal(other)
/// and distance_to(other).
template <class Derived, class Value, class System, class Traversal, class Reference, class Difference = ptrdiff_t>
class iterator_facade {
 public:
  using value_type = std::remove_const_t<Value>;
  using reference = Reference;
  using difference_type = Difference;
  using pointer = std::add_pointer_t<Value>;
  using iterator_category = detail::category_of_traversal<Traversal>;
  static constexpr detail::System kSystem = detail::system_of_tag<System>;

  reference operator*() const { return iterator_core_access::dereference(self()); }
  template <class N>
  requires std::is_convertible_v<N, Difference> reference operator[](N n) const {
    return *(self() + static_cast<Difference>(n));
  }
  pointer operator->() const requires std::is_lvalue_reference_v<Reference> { return &**this; }

  Derived& operator++() {
    iterator_core_access::increment(self());
    return self();
  }
  Derived operator++(int) {
    Derived before = self();
    ++*this;
    return before;
  }
  Derived& operator--() {
    iterator_core_access::decrement(self());
    return self();
  }
  Derived operator--(int) {
    Derived before = self();
    --*this;
    return before;
  }
  Derived& operator+=(Difference n) {
    iterator_core_access::advance(self(), n);
    return self();
  }
  Derived& operator-=(Difference n) { return *this += -n; }
  friend Derived operator+(Derived i, Difference n) { return i += n; }
  friend Derived operator+(Difference n, Derived i) { return i += n; }
  friend Derived operator-(Derived i, Difference n) { return i -= n; }
  friend Difference operator-(const Derived& a, const Derived& b) {
    return static_cast<Difference>(iterator_core_access::distance_to(b, a));
  }
  friend bool operator==(const Derived& a, const Derived& b) { return iterator_core_access::equal(a, b); }
  friend bool operator!=(const Derived& a, const Derived& b) { return !iterator_core_access::equal(a, b); }
  friend bool operator<(const Derived& a, const Derived& b) { return b - a > 0; }
  friend bool operator>(const Derived& a, const Derived& b) { return b < a; }
  friend bool operator<=(const Derived& a, const Derived& b) { return !(b < a); }
  friend bool operator>=(const Derived& a, const Derived& b) { return !(a < b); }

 private:
  Derived& self() { return static_cast<Derived&>(*this); }
  const Derived& self() const { return static_cast<const Derived&>(*this); }
};

}  // namespace thrust
