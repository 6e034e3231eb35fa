#pragma once

#include <cstddef>
#include <iterator>

/// The operators of a random-access iterator, from its advance(), distance_from() and operator*.
namespace cub::detail {

template <class Self, class Value, class Offset, class Reference = Value>
struct RandomAccess {
  using self_type = Self;
  using iterator_category = std::random_access_iterator_tag;
  using value_type = Value;
  using difference_type = Offset;
  using pointer = Value*;
  using reference = Reference;

  Self& operator++() { return *this += 1; }
  Self& operator--() { return *this += -1; }
  Self operator++(int) {
    Self before = self();
    self().advance(1);
    return before;
  }
  Self operator--(int) {
    Self before = self();
    self().advance(-1);
    return before;
  }
  template <class Distance>
  Self& operator+=(Distance n) {
    self().advance(static_cast<Offset>(n));
    return self();
  }
  template <class Distance>
  Self& operator-=(Distance n) {
    self().advance(-static_cast<Offset>(n));
    return self();
  }
  template <class Distance>
  Self operator+(Distance n) const {
    Self other = self();
    return other += n;
  }
  template <class Distance>
  requires(!std::is_same_v<Distance, Self>) Self operator-(Distance n) const {
    Self other = self();
    return other -= n;
  }
  Offset operator-(const Self& other) const { return self().distance_from(other); }
  template <class Distance>
  Reference operator[](Distance n) const {
    return *(*this + n);
  }
  bool operator==(const Self& other) const { return self().distance_from(other) == 0; }
  bool operator!=(const Self& other) const { return self().distance_from(other) != 0; }

 private:
  Self& self() { return static_cast<Self&>(*this); }
  const Self& self() const { return static_cast<const Self&>(*this); }
};

}  // namespace cub::detail
