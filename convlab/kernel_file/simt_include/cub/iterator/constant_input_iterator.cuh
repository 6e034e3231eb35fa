#pragma once

#include "convlab/kernel_file/simt_include/cub/detail/random_access.cuh"

namespace cub {

/// The same value everywhere.
template <class ValueType, class OffsetT = ptrdiff_t>
class ConstantInputIterator
    : public detail::RandomAccess<ConstantInputIterator<ValueType, OffsetT>, ValueType, OffsetT> {
 public:
  explicit ConstantInputIterator(ValueType value, OffsetT offset = 0) : value_(value), offset_(offset) {}
  ValueType operator*() const { return value_; }
  void advance(OffsetT n) { offset_ += n; }
  OffsetT distance_from(const ConstantInputIterator& other) const { return offset_ - other.offset_; }

 private:
  ValueType value_;
  OffsetT offset_;
};

}  // namespace cub
