#pragma once

#include <type_traits>

#include "convlab/kernel_file/simt_include/thrust/iterator/iterator_facade.h"

namespace thrust {

/// One value again and again, without memory.
template <class Value, class Incrementable = use_default, class System = use_default>
class constant_iterator
    : public iterator_facade<constant_iterator<Value, Incrementable, System>, Value,
                             std::conditional_t<std::is_same_v<System, use_default>, any_system_tag, System>,
                             random_access_traversal_tag, Value> {
  friend class iterator_core_access;

 public:
  constant_iterator() = default;
  template <class Index = ptrdiff_t>
  explicit constant_iterator(const Value& value, Index at = 0) : value_(value), at_(static_cast<ptrdiff_t>(at)) {}
  const Value& value() const { return value_; }
  ptrdiff_t base() const { return at_; }

 private:
  Value dereference() const { return value_; }
  void increment() { ++at_; }
  void decrement() { --at_; }
  void advance(ptrdiff_t n) { at_ += n; }
  bool equal(const constant_iterator& other) const { return at_ == other.at_; }
  ptrdiff_t distance_to(const constant_iterator& other) const { return other.at_ - at_; }

  Value value_{};
  ptrdiff_t at_ = 0;
};

template <class Value, class Index = ptrdiff_t>
constant_iterator<Value> make_constant_iterator(Value value, Index at = 0) {
  return constant_iterator<Value>(value, at);
}

}  // namespace thrust
