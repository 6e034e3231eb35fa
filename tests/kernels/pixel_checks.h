#pragma once

// Arrays in fp16 and fp32 nhwc for kernel tests, in device memory:
// dense, or with each pixel a part of a joint array.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convlab/base/half.h"
#include "convlab/device/device.h"
#include "convlab/device/simt.h"
#include "convlab/kernels/kernel.h"
#include "convlab/tensor/format.h"
#include "convlab/tensor/tensor.h"

namespace convlab {

/// The device that executes CUDA kernels on the host, with a stream.
class SimtDevice {
 public:
  Device& device() const { return *device_; }
  Stream& stream() const { return *stream_; }

  /// Returns memory with all bits set.
  Buffer uninitialized(size_t bytes) const {
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

/// An array that a kernel reads or writes. In a joint array, 8 elements of other arrays precede each pixel's channels,
/// and 16 follow them; those are NaN, and must stay so.
class PixelArray {
 public:
  PixelArray(const SimtDevice& simt, Format format, Shape shape, bool joint)
      : simt_(simt),
        format_(format),
        shape_(std::move(shape)),
        size_(size_of(format.type)),
        channels_(static_cast<size_t>(shape_[1]) * size_),
        pixels_(static_cast<size_t>(shape_[0] * shape_[2] * shape_[3])),
        before_(joint ? 8 * size_ : 0),
        step_(channels_ + (joint ? 24 * size_ : 0)),
        buffer_(simt.uninitialized(pixels_ * step_)) {}

  PixelArray(const SimtDevice& simt, Format format, const Tensor& images, bool joint)
      : PixelArray(simt, format, images.shape(), joint) {
    const Tensor rows = pack(images, format);
    std::vector<unsigned char> all(pixels_ * step_, kOther);
    for (size_t i = 0; i < pixels_; ++i) {
      std::copy_n(static_cast<const unsigned char*>(rows.raw()) + i * channels_, channels_,
                  all.data() + i * step_ + before_);
    }
    simt.stream().upload(buffer_.data(), all.data(), all.size());
  }

  float* first() const { return reinterpret_cast<float*>(static_cast<unsigned char*>(buffer_.data()) + before_); }
  int64_t step() const { return before_ == 0 ? 0 : static_cast<int64_t>(step_ / size_); }  ///< in elements

  Tensor images() const {
    std::vector<unsigned char> all(pixels_ * step_), rows;
    simt_.stream().download(all.data(), buffer_.data(), all.size());
    simt_.stream().synchronize();
    for (size_t i = 0; i < pixels_; ++i) {
      const unsigned char* const pixel = all.data() + i * step_;
      rows.insert(rows.end(), pixel + before_, pixel + before_ + channels_);
      for (size_t c = 0; c < step_; ++c) {
        const bool own = c >= before_ && c < before_ + channels_;
        EXPECT_TRUE(own || pixel[c] == kOther) << "written beside a pixel";
      }
    }
    return Tensor::of<float>(shape_, unpack(rows.data(), shape_, format_));
  }

 private:
  static constexpr unsigned char kOther = 0xff;

  const SimtDevice& simt_;
  Format format_;
  Shape shape_;
  size_t size_, channels_, pixels_, before_, step_;  // in bytes, except pixels_
  Buffer buffer_;
};

/// Tests kernels of both layouts in the same way.
class PixelTest : public testing::TestWithParam<Format> {
 protected:
  void SetUp() override {
    if (!simt_present()) GTEST_SKIP() << how_to_get_simt();
    simt_.emplace();
  }

  static bool of_floats() { return GetParam() == kNhwc; }
  static Math math() { return of_floats() ? Math::fp32 : Math::fp16; }
  static std::string named(std::string name) { return of_floats() ? name + "_fp32" : name; }
  static double unit() { return of_floats() ? 0x1p-19 : 0x1p-11; }  ///< relative error of a result

  /// Rounds to the nearest elements that the layout can hold.
  static Tensor rounded(const Tensor& tensor) {
    Tensor result = tensor.clone();
    if (of_floats()) return result;
    for (float& value : result.values<float>()) value = half_to_float(float_to_half(value));
    return result;
  }

  PixelArray array(Shape shape, bool joint) const { return {*simt_, GetParam(), std::move(shape), joint}; }
  PixelArray array(const Tensor& images, bool joint) const { return {*simt_, GetParam(), images, joint}; }

  std::optional<SimtDevice> simt_;
};

inline std::string format_in_name(const testing::TestParamInfo<Format>& format) {
  return format.param == kNhwcF16 ? "Halves" : "Floats";
}
inline const auto kPixelFormats = testing::Values(kNhwcF16, kNhwc);

}  // namespace convlab
