#pragma once

#include "convlab/kernel_file/simt_include/cub/detail/random_access.cuh"

namespace cub {

/// Takes any value and keeps none.
struct DiscardedValue {
  template <class T>
  const DiscardedValue& operator=(const T&) const {
    return *this;
  }
};

template <class OffsetT = ptrdiff_t>
class DiscardOutputIterator
    : public detail::RandomAccess<DiscardOutputIterator<OffsetT>, void, OffsetT, DiscardedValue> {
 public:
  explicit DiscardOutputIterator(OffsetT offset = 0) : offset_(offset) {}
  DiscardedValue operator*() const { return {}; }
  void advance(OffsetT n) { offset_ += n; }
  OffsetT distance_from(const DiscardOutputIterator& other) const { return offset_ - other.offset_; }

 private:
  OffsetT offset_;
};

}  // namespace cub
