#pragma once

#include <type_traits>

#include "convlab/kernel_file/simt_include/thrust/iterator/iterator_facade.h"

namespace thrust {

/// The values start, start + 1 and so on, without memory.
template <class Incrementable, class System = use_default, class Traversal = use_default,
          class Difference = use_default>
class counting_iterator
    : public iterator_facade<counting_iterator<Incrementable, System, Traversal, Difference>, Incrementable,
                             std::conditional_t<std::is_same_v<System, use_default>, any_system_tag, System>,
                             random_access_traversal_tag, Incrementable,
                             std::conditional_t<std::is_same_v<Difference, use_default>, ptrdiff_t, Difference>> {
  friend class iterator_core_access;

 public:
  counting_iterator() = default;
  explicit counting_iterator(Incrementable start) : at_(start) {}
  const Incrementable& base() const { return at_; }

 private:
  Incrementable dereference() const { return at_; }
  void increment() { ++at_; }
  void decrement() { --at_; }
  void advance(typename counting_iterator::difference_type n) { at_ = static_cast<Incrementable>(at_ + n); }
  bool equal(const counting_iterator& other) const { return at_ == other.at_; }
  auto distance_to(const counting_iterator& other) const {
    if constexpr (std::is_arithmetic_v<Incrementable>) {
      return static_cast<ptrdiff_t>(other.at_) - static_cast<ptrdiff_t>(at_);
    } else {
      return other.at_ - at_;
    }
  }

  Incrementable at_{};
};

template <class Incrementable>
counting_iterator<Incrementable> make_counting_iterator(Incrementable start) {
  return counting_iterator<Incrementable>(start);
}

}  // namespace thrust
