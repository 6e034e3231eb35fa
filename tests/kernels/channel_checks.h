#pragma once

// Arrays in nchw8c for kernel tests: dense, or with each image a part of a joint array.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "convlab/device/device.h"
#include "convlab/tensor/format.h"

namespace convlab {

/// An array that a kernel reads or writes. In a joint array, 8 elements of other arrays precede each image, and 16
/// follow it; those are NaN, and must stay so.
class LaneArray {
 public:
  LaneArray(Device& device, Shape shape, bool joint)
      : shape_(std::move(shape)),
        size_(static_cast<size_t>(shape_[1] * shape_[2] * shape_[3])),
        before_(joint ? 8 : 0),
        step_(size_ + (joint ? 24 : 0)),
        buffer_(device.allocate(static_cast<size_t>(shape_[0]) * step_ * sizeof(float))) {
    std::fill_n(all(), static_cast<size_t>(shape_[0]) * step_, std::numeric_limits<float>::quiet_NaN());
  }

  LaneArray(Device& device, const Tensor& images, bool joint) : LaneArray(device, images.shape(), joint) {
    const Tensor lanes = pack(images, kNchw8c);
    for (size_t n = 0; n < static_cast<size_t>(shape_[0]); ++n) {
      std::copy_n(lanes.values<float>().data() + n * size_, size_, first() + n * step_);
    }
  }

  float* first() const { return all() + before_; }
  int64_t step() const { return before_ == 0 ? 0 : static_cast<int64_t>(step_); }

  Tensor images() const {
    std::vector<float> lanes;
    for (size_t n = 0; n < static_cast<size_t>(shape_[0]); ++n) {
      const float* image = first() + n * step_;
      lanes.insert(lanes.end(), image, image + size_);
      for (size_t i = size_; i < step_ - before_; ++i) EXPECT_TRUE(std::isnan(image[i])) << "written behind an image";
      for (size_t i = 1; i <= before_; ++i) EXPECT_TRUE(std::isnan(*(image - i))) << "written before an image";
    }
    return Tensor::of<float>(shape_, unpack(lanes.data(), shape_, kNchw8c));
  }

 private:
  float* all() const { return static_cast<float*>(buffer_.data()); }

  Shape shape_;
  size_t size_, before_, step_;
  Buffer buffer_;
};

inline void expect_same_bits(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  EXPECT_EQ(std::memcmp(a.raw(), b.raw(), a.bytes()), 0);
}

/// Returns one image of a batch.
inline Tensor image_of(const Tensor& batch, int64_t n) {
  Shape shape = batch.shape();
  const auto size = static_cast<size_t>(element_count(shape) / shape[0]);
  shape[0] = 1;
  return Tensor::of<float>(shape, batch.values<float>().subspan(static_cast<size_t>(n) * size, size));
}

}  // namespace convlab
