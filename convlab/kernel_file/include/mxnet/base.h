#pragma once

/// Replaces the MXNet and mshadow headers that the course's kernel files include: tensors, streams and checks, for
/// nvcc, simt and CPUs.

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#if defined(__CUDACC__) || defined(CONVLAB_SIMT)
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#define CONVLAB_ON_GPU 1
#define CONVLAB_BOTH_SIDES __host__ __device__
#else
#define CONVLAB_ON_GPU 0
#define CONVLAB_BOTH_SIDES
#endif

namespace dmlc {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Collects a message; LOG(FATAL) and a failed CHECK throw it, others print it.
class Message {
 public:
  Message(bool fatal, const char* file, int line) : fatal_(fatal) { text_ << file << ":" << line << ": "; }
  ~Message() noexcept(false) {
    if (fatal_) throw Error(text_.str());
    std::fprintf(stderr, "%s\n", text_.str().c_str());
  }
  std::ostream& stream() { return text_; }

 private:
  bool fatal_;
  std::ostringstream text_;
};

}  // namespace dmlc

#define CONVLAB_LOG_INFO false
#define CONVLAB_LOG_WARNING false
#define CONVLAB_LOG_ERROR false
#define CONVLAB_LOG_FATAL true
#define LOG(severity) ::dmlc::Message(CONVLAB_LOG_##severity, __FILE__, __LINE__).stream()
#define CHECK(condition) \
  if (!(condition)) ::dmlc::Message(true, __FILE__, __LINE__).stream() << "Check failed: " #condition " "
#define CHECK_EQ(a, b) CHECK((a) == (b))
#define CHECK_NE(a, b) CHECK((a) != (b))
#define CHECK_LT(a, b) CHECK((a) < (b))
#define CHECK_LE(a, b) CHECK((a) <= (b))
#define CHECK_GT(a, b) CHECK((a) > (b))
#define CHECK_GE(a, b) CHECK((a) >= (b))
#define DCHECK_EQ CHECK_EQ

#define MSHADOW_CUDA_CALL(call)                                                                      \
  do {                                                                                               \
    const cudaError_t convlab_error = (call);                                                        \
    if (convlab_error != cudaSuccess) LOG(FATAL) << #call ": " << cudaGetErrorString(convlab_error); \
  } while (0)
#define CUDA_CALL(call) MSHADOW_CUDA_CALL(call)
#define MSHADOW_XINLINE inline CONVLAB_BOTH_SIDES

namespace mshadow {

using index_t = unsigned;

struct cpu {
  static const bool kDevCPU = true;
};
struct gpu {
  static const bool kDevCPU = false;
};

template <int dimension>
struct Shape {
  index_t shape_[dimension];
  CONVLAB_BOTH_SIDES index_t& operator[](index_t i) { return shape_[i]; }
  CONVLAB_BOTH_SIDES const index_t& operator[](index_t i) const { return shape_[i]; }
  CONVLAB_BOTH_SIDES index_t Size() const {
    index_t size = 1;
    for (int i = 0; i < dimension; ++i) size *= shape_[i];
    return size;
  }
};

inline Shape<1> Shape1(index_t a) { return {{a}}; }
inline Shape<2> Shape2(index_t a, index_t b) { return {{a, b}}; }
inline Shape<3> Shape3(index_t a, index_t b, index_t c) { return {{a, b, c}}; }
inline Shape<4> Shape4(index_t a, index_t b, index_t c, index_t d) { return {{a, b, c, d}}; }

template <class Device>
struct Stream {};
#if CONVLAB_ON_GPU
template <>
struct Stream<gpu> {
  cudaStream_t stream_ = nullptr;  // the default stream
  static cudaStream_t GetStream(Stream* stream) { return stream == nullptr ? nullptr : stream->stream_; }
  void Wait() { cudaStreamSynchronize(stream_); }
};
#endif

template <class Device, int dimension, class DType = float>
struct Tensor {
  DType* dptr_ = nullptr;
  Shape<dimension> shape_;
  index_t stride_ = 0;
  Stream<Device>* stream_ = nullptr;

  CONVLAB_BOTH_SIDES Tensor() {}
  CONVLAB_BOTH_SIDES Tensor(DType* data, const Shape<dimension>& shape, Stream<Device>* stream = nullptr)
      : dptr_(data), shape_(shape), stride_(shape[dimension - 1]), stream_(stream) {}
  CONVLAB_BOTH_SIDES index_t size(int i) const { return shape_[i]; }
  CONVLAB_BOTH_SIDES size_t MSize() const { return shape_.Size(); }

  /// Returns the i-th subtensor, with one dimension less.
  CONVLAB_BOTH_SIDES Tensor<Device, dimension - 1, DType> operator[](index_t i) const {
    Shape<dimension - 1> rest;
    for (int d = 1; d < dimension; ++d) rest[d - 1] = shape_[d];
    return {dptr_ + static_cast<size_t>(i) * rest.Size(), rest, stream_};
  }
};

template <class Device, class DType>
struct Tensor<Device, 1, DType> {
  DType* dptr_ = nullptr;
  Shape<1> shape_;
  index_t stride_ = 0;
  Stream<Device>* stream_ = nullptr;

  CONVLAB_BOTH_SIDES Tensor() {}
  CONVLAB_BOTH_SIDES Tensor(DType* data, const Shape<1>& shape, Stream<Device>* stream = nullptr)
      : dptr_(data), shape_(shape), stride_(shape[0]), stream_(stream) {}
  CONVLAB_BOTH_SIDES index_t size(int i) const { return shape_[i]; }
  CONVLAB_BOTH_SIDES DType& operator[](index_t i) const { return dptr_[i]; }
};

}  // namespace mshadow

namespace mxnet {

using mshadow::cpu;
using mshadow::gpu;
using mshadow::index_t;

namespace op {

using namespace mshadow;

/// Defined or specialized by a kernel file.
template <class Device, class DType>
void forward(mshadow::Tensor<Device, 4, DType>& y, const mshadow::Tensor<Device, 4, DType>& x,
             const mshadow::Tensor<Device, 4, DType>& w);

}  // namespace op

}  // namespace mxnet
