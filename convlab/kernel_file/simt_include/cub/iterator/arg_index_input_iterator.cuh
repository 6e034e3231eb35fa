#pragma once

#include "convlab/kernel_file/simt_include/cub/detail/random_access.cuh"
#include "convlab/kernel_file/simt_include/cub/util_type.cuh"

namespace cub {

/// Pairs of an index and another iterator's value.
template <class InputIteratorT, class OffsetT = ptrdiff_t, class OutputValueT = detail::value_of<InputIteratorT>>
class ArgIndexInputIterator : public detail::RandomAccess<ArgIndexInputIterator<InputIteratorT, OffsetT, OutputValueT>,
                                                          KeyValuePair<OffsetT, OutputValueT>, OffsetT> {
 public:
  explicit ArgIndexInputIterator(InputIteratorT input, OffsetT offset = 0) : input_(input), offset_(offset) {}
  KeyValuePair<OffsetT, OutputValueT> operator*() const {
    return {offset_, static_cast<OutputValueT>(input_[offset_])};
  }
  void advance(OffsetT n) { offset_ += n; }
  OffsetT distance_from(const ArgIndexInputIterator& other) const { return offset_ - other.offset_; }
  void normalize() {
    input_ += offset_;
    offset_ = 0;
  }

 private:
  InputIteratorT input_;
  OffsetT offset_;
};

}  // namespace cub
