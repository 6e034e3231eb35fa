#pragma once

#include "convlab/kernel_file/simt_include/cub/detail/random_access.cuh"

namespace cub {

/// n, n + 1, n + 2, ...
template <class ValueType, class OffsetT = ptrdiff_t>
class CountingInputIterator
    : public detail::RandomAccess<CountingInputIterator<ValueType, OffsetT>, ValueType, OffsetT> {
 public:
  explicit CountingInputIterator(const ValueType& value) : value_(value) {}
  ValueType operator*() const { return value_; }
  void advance(OffsetT n) { value_ = static_cast<ValueType>(value_ + static_cast<ValueType>(n)); }
  OffsetT distance_from(const CountingInputIterator& other) const {
    return static_cast<OffsetT>(value_) - static_cast<OffsetT>(other.value_);
  }

 private:
  ValueType value_;
};

}  // namespace cub
