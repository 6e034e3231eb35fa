#pragma once

// Arrays in bf16 nhwc bfloat16 for kernel tests: dense, or with each pixel a part of a joint array.

#include <gtest/gtest.h>

#include <vector>

#include "convlab/base/bf16.h"
#include "convlab/device/device.h"
#include "convlab/tensor/format.h"

namespace convlab {

/// An array that a kernel reads or writes. In a joint array, 8 elements of other arrays precede each pixel's channels,
/// and 16 follow them; those are NaN, and must stay so.
class HalfArray {
 public:
  HalfArray(Device& device, Shape shape, bool joint)
      : shape_(std::move(shape)),
        channels_(static_cast<size_t>(shape_[1])),
        pixels_(static_cast<size_t>(shape_[0] * shape_[2] * shape_[3])),
        before_(joint ? 8 : 0),
        step_(channels_ + (joint ? 24 : 0)),
        buffer_(device.allocate(pixels_ * step_ * sizeof(uint16_t))) {
    std::fill_n(all(), pixels_ * step_, kOther);
  }

  HalfArray(Device& device, const Tensor& images, bool joint) : HalfArray(device, images.shape(), joint) {
    const Tensor halves = pack(images, kNhwcBf16);
    for (size_t i = 0; i < pixels_; ++i) {
      std::copy_n(halves.values<uint16_t>().data() + i * channels_, channels_, pixel(i));
    }
  }

  float* first() const { return reinterpret_cast<float*>(pixel(0)); }
  int64_t step() const { return before_ == 0 ? 0 : static_cast<int64_t>(step_); }

  Tensor images() const {
    std::vector<uint16_t> halves;
    for (size_t i = 0; i < pixels_; ++i) {
      halves.insert(halves.end(), pixel(i), pixel(i) + channels_);
      for (size_t c = channels_; c < step_ - before_; ++c) EXPECT_EQ(pixel(i)[c], kOther) << "written behind a pixel";
      for (size_t c = 1; c <= before_; ++c) EXPECT_EQ(*(pixel(i) - c), kOther) << "written before a pixel";
    }
    return Tensor::of<float>(shape_, unpack(halves.data(), shape_, kNhwcBf16));
  }

 private:
  static constexpr uint16_t kOther = 0xffff;

  uint16_t* all() const { return static_cast<uint16_t*>(buffer_.data()); }
  uint16_t* pixel(size_t i) const { return all() + i * step_ + before_; }

  Shape shape_;
  size_t channels_, pixels_, before_, step_;
  Buffer buffer_;
};

/// Rounds each element to the nearest bf16.
inline Tensor rounded(const Tensor& tensor) {
  Tensor result = tensor.clone();
  for (float& value : result.values<float>()) value = from_bf16(to_bf16(value));
  return result;
}

}  // namespace convlab
