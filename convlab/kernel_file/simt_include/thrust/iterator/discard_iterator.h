#pragma once

#include <type_traits>

#include "convlab/kernel_file/simt_include/thrust/iterator/iterator_facade.h"
#include "convlab/kernel_file/simt_include/thrust/tuple.h"

namespace thrust {

/// An output that keeps nothing.
template <class System = use_default>
class discard_iterator
    : public iterator_facade<discard_iterator<System>, void,
                             std::conditional_t<std::is_same_v<System, use_default>, any_system_tag, System>,
                             random_access_traversal_tag, detail::Ignore> {
  friend class iterator_core_access;

 public:
  discard_iterator(ptrdiff_t at = 0) : at_(at) {}
  ptrdiff_t base() const { return at_; }

 private:
  detail::Ignore dereference() const { return {}; }
  void increment() { ++at_; }
  void decrement() { --at_; }
  void advance(ptrdiff_t n) { at_ += n; }
  bool equal(const discard_iterator& other) const { return at_ == other.at_; }
  ptrdiff_t distance_to(const discard_iterator& other) const { return other.at_ - at_; }

  ptrdiff_t at_;
};

inline discard_iterator<> make_discard_iterator(ptrdiff_t at = 0) { return {at}; }

}  // namespace thrust
