#pragma once

// Arrays in Layout::channels_last for kernels' tests, in the memory of a device: dense, or each pixel a part of a joint one.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "convlab/base/half.h"
#include "convlab/device/device.h"
#include "convlab/device/simt.h"
#include "convlab/tensor/pixel_rows.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// The device that executes CUDA kernels on the host, with a stream.
class SimtDevice {
 public:
  Device& device() const { return *device_; }
  Stream& stream() const { return *stream_; }

  /// Memory in which all bits are set.
  Buffer poisoned(size_t bytes) const {
    Buffer buffer = device_->allocate(std::max<size_t>(bytes, 1));
    stream_->fill(buffer.data(), 0xff, buffer.bytes());
    return buffer;
  }

  Buffer copy_of(const Tensor& tensor) const {
    Buffer buffer = device_->allocate(tensor.bytes());
    stream_->upload(buffer.data(), tensor.raw(), tensor.bytes());
    return buffer;
  }

 private:
  std::unique_ptr<Device> device_ = open_simt({});
  std::unique_ptr<Stream> stream_ = device_->make_stream();
};

/// An array that a kernel reads or writes. If joint, 8 elements of others come before each pixel's channels, and 16 after
/// them; those are NaN, and must stay so.
class PixelArray {
 public:
  PixelArray(const SimtDevice& simt, Shape shape, bool joint)
      : simt_(simt),
        shape_(std::move(shape)),
        channels_(static_cast<size_t>(shape_[1])),
        pixels_(static_cast<size_t>(shape_[0] * shape_[2] * shape_[3])),
        before_(joint ? 8 : 0),
        step_(channels_ + (joint ? 24 : 0)),
        buffer_(simt.poisoned(pixels_ * step_ * sizeof(uint16_t))) {}

  PixelArray(const SimtDevice& simt, const Tensor& images, bool joint) : PixelArray(simt, images.shape(), joint) {
    const Tensor rows = to_pixel_rows(images, Layout::channels_last);
    std::vector<uint16_t> all(pixels_ * step_, kOther);
    for (size_t i = 0; i < pixels_; ++i) {
      std::copy_n(rows.values<uint16_t>().data() + i * channels_, channels_, all.data() + i * step_ + before_);
    }
    simt.stream().upload(buffer_.data(), all.data(), all.size() * sizeof(uint16_t));
  }

  float* first() const { return reinterpret_cast<float*>(static_cast<uint16_t*>(buffer_.data()) + before_); }
  int64_t step() const { return before_ == 0 ? 0 : static_cast<int64_t>(step_); }

  Tensor images() const {
    std::vector<uint16_t> all(pixels_ * step_), rows;
    simt_.stream().download(all.data(), buffer_.data(), all.size() * sizeof(uint16_t));
    simt_.stream().synchronize();
    for (size_t i = 0; i < pixels_; ++i) {
      const uint16_t* const pixel = all.data() + i * step_;
      rows.insert(rows.end(), pixel + before_, pixel + before_ + channels_);
      for (size_t c = 0; c < step_; ++c) {
        const bool own = c >= before_ && c < before_ + channels_;
        EXPECT_TRUE(own || pixel[c] == kOther) << "written beside a pixel";
      }
    }
    return Tensor::of<float>(shape_, from_pixel_rows(rows, shape_, Layout::channels_last));
  }

 private:
  static constexpr uint16_t kOther = 0xffff;

  const SimtDevice& simt_;
  Shape shape_;
  size_t channels_, pixels_, before_, step_;
  Buffer buffer_;
};

/// The nearest float16 of each element.
inline Tensor rounded_to_half(const Tensor& tensor) {
  Tensor result = tensor.clone();
  for (float& value : result.values<float>()) value = half_to_float(float_to_half(value));
  return result;
}

}  // namespace convlab
