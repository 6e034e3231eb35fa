#pragma once

#include "convlab/kernel_file/simt_include/cub/detail/random_access.cuh"

namespace cub {

/// The values of an operator for another iterator's values.
template <class ValueType, class ConversionOp, class InputIteratorT, class OffsetT = ptrdiff_t>
class TransformInputIterator
    : public detail::RandomAccess<TransformInputIterator<ValueType, ConversionOp, InputIteratorT, OffsetT>, ValueType,
                                  OffsetT> {
 public:
  TransformInputIterator(InputIteratorT input, ConversionOp op) : op_(op), input_(input) {}
  ValueType operator*() const { return static_cast<ValueType>(ConversionOp(op_)(*input_)); }
  void advance(OffsetT n) { input_ += n; }
  OffsetT distance_from(const TransformInputIterator& other) const {
    return static_cast<OffsetT>(input_ - other.input_);
  }

 private:
  ConversionOp op_;
  InputIteratorT input_;
};

}  // namespace cub
