// convlab's C++20 API: runs ONNX models on CPUs and GPUs.
//
//     convlab::Session session("net.onnx", {.device = "cuda:0", .math = convlab::Math::fp16});
//     convlab::Tensor y = session.run(x);
//
// This header is a wrapper of the table of functions in convlab.h and needs nothing else from the library, so a program
// compiled against one version runs with every later library.
#ifndef CONVLAB_CONVLAB_HPP
#define CONVLAB_CONVLAB_HPP

#include <convlab/convlab.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace convlab {

/// The sizes of an array, outermost first. Images are NCHW: batch size, channels, height, width.
using Shape = std::vector<int64_t>;

/// The only exception that convlab throws. what() says what is wrong, where, and what to do.
class Error : public std::runtime_error {
 public:
  Error(convlab_status status, const std::string& text) : std::runtime_error(text), status_(status) {}
  convlab_status status() const { return status_; }

 private:
  convlab_status status_;
};

/// The minimum precision of convolutions. fp32 has a relative L2 error of at most 1e-6.
enum class Math { fp32, tf32, bf16x2, bf16, fp16 };

/// layers: one step per operator. fused: one step for a convolution with its bias, pooling and activation. folded: as
/// fused, and chains of linear operators are folded into one operator.
enum class Plan { fused, layers, folded };

/// An element of a CONVLAB_FLOAT16 array: IEEE binary16. Compute with float.
struct Float16 {
  uint16_t bits = 0;

  Float16() = default;

  /// Rounds to nearest even; overflow becomes infinity.
  explicit Float16(float value) {
    const uint32_t of_float = std::bit_cast<uint32_t>(value), magnitude = of_float & 0x7fffffffu;
    uint32_t half = 0;
    if (magnitude > 0x7f800000u) {
      half = 0x7e00u;  // NaN
    } else if (magnitude >= 0x47800000u) {
      half = 0x7c00u;  // 2^16 and above: infinity
    } else if (magnitude < 0x38800000u) {
      // Below 2^-14 the result is subnormal; adding 0.5 puts the unit in the last place at 2^-24.
      half = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
    } else {
      half = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
    }
    bits = static_cast<uint16_t>(half | ((of_float >> 16) & 0x8000u));
  }

  /// Exact.
  explicit operator float() const {
    const uint32_t exponent = (bits >> 10) & 0x1fu, mantissa = bits & 0x3ffu;
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
    if (exponent == 0) {
      return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(static_cast<float>(mantissa) * 0x1p-24f));
    }
    const uint32_t of_float = exponent == 0x1fu ? 0x7f800000u : (exponent + 112u) << 23;
    return std::bit_cast<float>(sign | of_float | (mantissa << 13));
  }
};

struct Options {
  std::string device;        ///< "auto" (default: a GPU if there is one, otherwise the CPU), "cpu", "cuda", "cuda:1"
  std::optional<Math> math;  ///< default: fp32
  std::optional<Plan> plan;  ///< default: fused
  int threads = 0;           ///< CPU threads; 0: all that this process may use

  /// If above 0, calls with few images from several threads are batched; each call waits at most this long for others.
  /// 0: no batching across calls.
  std::chrono::microseconds batch_wait{0};
  int batch_images = 64;  ///< the maximum number of images in such a batch
};

namespace detail {

inline const convlab_api& api() {
  const convlab_api* table = convlab_get_api(CONVLAB_API_VERSION);
  if (table == nullptr) throw Error(CONVLAB_FAILED, "libconvlab is older than the header that this was compiled with");
  return *table;
}

inline void check(convlab_status status) {
  if (status != CONVLAB_OK) throw Error(status, api().last_error());
}

template <class T>
constexpr convlab_type type_of() {
  using Element = std::remove_const_t<T>;
  if constexpr (std::is_same_v<Element, float>)
    return CONVLAB_FLOAT32;
  else if constexpr (std::is_same_v<Element, double>)
    return CONVLAB_FLOAT64;
  else if constexpr (std::is_same_v<Element, Float16>)
    return CONVLAB_FLOAT16;
  else if constexpr (std::is_same_v<Element, uint8_t>)
    return CONVLAB_UINT8;
  else if constexpr (std::is_same_v<Element, int8_t>)
    return CONVLAB_INT8;
  else if constexpr (std::is_same_v<Element, int32_t>)
    return CONVLAB_INT32;
  else {
    static_assert(std::is_same_v<Element, int64_t>,
                  "arrays are of float, double, Float16, uint8_t, int8_t, int32_t or int64_t");
    return CONVLAB_INT64;
  }
}

inline size_t size_of(convlab_type type) {
  switch (type) {
    case CONVLAB_FLOAT64:
    case CONVLAB_INT64:
      return 8;
    case CONVLAB_FLOAT16:
      return 2;
    case CONVLAB_UINT8:
    case CONVLAB_INT8:
      return 1;
    default:
      return 4;
  }
}

/// Returns the number of elements, the product of the sizes. Throws Error if a size is negative or the product
/// overflows.
inline size_t count_of(std::span<const int64_t> shape) {
  int64_t count = 1;
  for (const int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(count, size, &count)) {
      throw Error(CONVLAB_BAD_INPUT, "a shape has a size below 0, or more elements than there are numbers for");
    }
  }
  return static_cast<size_t>(count);
}

inline convlab_array array_of(void* data, convlab_type type, convlab_memory memory, std::span<const int64_t> shape) {
  if (shape.size() > CONVLAB_MAX_RANK) throw Error(CONVLAB_BAD_INPUT, "a shape has more sizes than CONVLAB_MAX_RANK");
  convlab_array array{};
  array.data = data;
  array.type = type;
  array.memory = memory;
  array.rank = static_cast<int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), array.shape);
  return array;
}

/// Throws Error unless `count`, the number of elements at `data`, is the shape's.
inline convlab_array host_array(void* data, convlab_type type, size_t count, std::span<const int64_t> shape) {
  if (count != count_of(shape)) {
    throw Error(CONVLAB_BAD_INPUT,
                std::to_string(count) + " values are given for a shape of " + std::to_string(count_of(shape)));
  }
  return array_of(data, type, CONVLAB_HOST, shape);
}

inline Shape shape_of(const convlab_array& array) { return Shape(array.shape, array.shape + array.rank); }

}  // namespace detail

/// A dense, row-major array that owns its memory, on the host. Copying copies the elements; moving does not.
class Tensor {
 public:
  Tensor() = default;

  /// Allocates uninitialized elements, aligned to 64 bytes.
  Tensor(convlab_type type, Shape shape) : type_(type), shape_(std::move(shape)), count_(detail::count_of(shape_)) {
    elements_.reset(static_cast<std::byte*>(::operator new(std::max<size_t>(bytes(), 1), kAlignment)));
  }
  template <class T>
  static Tensor of(Shape shape) {
    return Tensor(detail::type_of<T>(), std::move(shape));
  }

  Tensor(const Tensor& other) : Tensor(other.type_, other.shape_) {
    std::copy_n(other.elements_.get(), bytes(), elements_.get());
  }
  Tensor(Tensor&& other) noexcept { swap(other); }
  Tensor& operator=(Tensor other) noexcept {
    swap(other);
    return *this;
  }

  convlab_type type() const { return type_; }
  const Shape& shape() const { return shape_; }
  size_t count() const { return count_; }
  size_t bytes() const { return count_ * detail::size_of(type_); }
  void* data() { return elements_.get(); }
  const void* data() const { return elements_.get(); }

  /// Returns all elements. Throws Error if T does not match type().
  template <class T>
  std::span<T> values() {
    require(detail::type_of<T>());
    return {reinterpret_cast<T*>(elements_.get()), count_};
  }
  template <class T>
  std::span<const T> values() const {
    require(detail::type_of<T>());
    return {reinterpret_cast<const T*>(elements_.get()), count_};
  }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete(memory, kAlignment); }
  };

  void swap(Tensor& other) noexcept {
    std::swap(type_, other.type_);
    std::swap(shape_, other.shape_);
    std::swap(count_, other.count_);
    std::swap(elements_, other.elements_);
  }

  void require(convlab_type wanted) const {
    if (wanted != type_)
      throw Error(CONVLAB_BAD_INPUT, "a tensor's elements are asked for as another type than theirs");
  }

  convlab_type type_ = CONVLAB_FLOAT32;
  Shape shape_;
  size_t count_ = 0;
  std::unique_ptr<std::byte, Free> elements_;
};

/// A dense, row-major array that convlab reads and does not own. The memory must stay valid until the run completes.
class View {
 public:
  /// Throws Error if the number of values is not the shape's.
  template <class T>
  View(std::span<T> values, std::span<const int64_t> shape)
      : array_(detail::host_array(const_cast<std::remove_const_t<T>*>(values.data()), detail::type_of<T>(),
                                  values.size(), shape)) {}
  View(const Tensor& tensor)  // NOLINT: implicit conversion is intended
      : array_(detail::host_array(const_cast<void*>(tensor.data()), tensor.type(), tensor.count(), tensor.shape())) {}

  /// Returns a view of an array in the memory of the session's GPU.
  template <class T>
  static View on_device(const T* data, std::span<const int64_t> shape) {
    return View(detail::array_of(const_cast<T*>(data), detail::type_of<T>(), CONVLAB_DEVICE, shape));
  }

  const convlab_array& array() const { return array_; }

 private:
  explicit View(const convlab_array& array) : array_(array) {}

  convlab_array array_;
};

/// Same as View, for an array that convlab writes.
class MutableView {
 public:
  template <class T>
  MutableView(std::span<T> values, std::span<const int64_t> shape)
      : array_(detail::host_array(values.data(), detail::type_of<T>(), values.size(), shape)) {}
  MutableView(Tensor& tensor)  // NOLINT: implicit conversion is intended
      : array_(detail::host_array(tensor.data(), tensor.type(), tensor.count(), tensor.shape())) {}
  template <class T>
  static MutableView on_device(T* data, std::span<const int64_t> shape) {
    return MutableView(detail::array_of(data, detail::type_of<T>(), CONVLAB_DEVICE, shape));
  }

  const convlab_array& array() const { return array_; }

 private:
  explicit MutableView(const convlab_array& array) : array_(array) {}

  convlab_array array_;
};

/// An input or an output of a model.
struct Value {
  std::string name;
  convlab_type type;
  Shape shape;  ///< -1 for a size that the model leaves open; empty for outputs, whose shapes depend on the inputs
};

/// A model on a device. Thread-safe: any thread may use it at any time; runs from several threads are serialized. A
/// child process created by fork() cannot use its parent's sessions. All methods may throw Error; the session stays
/// usable.
class Session {
 public:
  /// `model`: an .onnx file, an MXNet .params file with its -symbol.json file in the same folder, or the name of a
  /// shipped model such as "fa19".
  explicit Session(const std::string& model, const Options& options = {})
      : session_(opened(options, [&](const convlab_options* wanted, convlab_session** session) {
          return detail::api().open(model.c_str(), wanted, session);
        })) {}

  /// Returns another session of the same model, on any device. Weights that both sessions use in the same form are in
  /// memory once. Options that do not set device, math or plan inherit them from this session. Runs of the two sessions
  /// are not serialized with each other, and either may be destroyed first.
  Session clone(const Options& options = {}) const {
    return Session(opened(options, [&](const convlab_options* wanted, convlab_session** session) {
      return detail::api().clone(session_.get(), wanted, session);
    }));
  }

  /// Returns a description of the device: "NVIDIA H200, ...".
  std::string device() const { return detail::api().device(session_.get()); }

  /// Returns the device name as Options accepts it, with the GPU's index: "cuda:0".
  std::string device_name() const { return detail::api().device_name(session_.get()); }

  /// The model's inputs and outputs, in the model's order.
  std::vector<Value> inputs() const { return values(detail::api().input_count, detail::api().input); }
  std::vector<Value> outputs() const { return values(detail::api().output_count, detail::api().output); }

  /// Runs a model with one input and one output and returns the output, a new tensor. Inputs are used as they are if
  /// they are all float or all uint8_t; otherwise they are converted to float.
  Tensor run(const View& input) {
    std::vector<Tensor> outputs = run(std::span(&input, 1));
    if (outputs.size() != 1) throw Error(CONVLAB_BAD_INPUT, "the model has several outputs: pass a list of inputs");
    return std::move(outputs.front());
  }

  /// Returns all outputs for all inputs, both in the model's order. Inputs are in host memory.
  std::vector<Tensor> run(std::span<const View> inputs) {
    const std::vector<convlab_array> given = arrays(inputs);
    std::vector<convlab_array> wanted(detail::api().output_count(session_.get()));
    detail::check(
        detail::api().output_shapes(session_.get(), given.data(), given.size(), wanted.data(), wanted.size()));
    std::vector<Tensor> outputs;
    for (convlab_array& each : wanted) {
      each.data = outputs.emplace_back(static_cast<convlab_type>(each.type), detail::shape_of(each)).data();
    }
    detail::check(detail::api().run(session_.get(), given.data(), given.size(), wanted.data(), wanted.size(), nullptr));
    return outputs;
  }

  /// Writes to arrays of the caller, of the types and shapes that run() would return. On a CPU, a model with one float
  /// or uint8_t input and one float output reads and writes these arrays directly. All arrays are in host memory, or
  /// all are on_device(). Only the latter allows a `stream`, a cudaStream_t of the session's GPU: the run is enqueued
  /// in that stream, and run() may return before it completes.
  void run(std::span<const View> inputs, std::span<const MutableView> outputs, void* stream = nullptr) {
    const std::vector<convlab_array> given = arrays(inputs), wanted = arrays(outputs);
    detail::check(detail::api().run(session_.get(), given.data(), given.size(), wanted.data(), wanted.size(), stream));
  }
  void run(const View& input, const MutableView& output, void* stream = nullptr) {
    detail::check(detail::api().run(session_.get(), &input.array(), 1, &output.array(), 1, stream));
  }

  /// Returns the plan for inputs of these shapes as JSON: a list of steps with "name" (the model's nodes), "op",
  /// "kernel", "flops" (floating-point operations per run) and "seconds" (0).
  std::string plan(std::span<const View> inputs) const {
    const std::vector<convlab_array> given = arrays(inputs);
    char* json = nullptr;
    detail::check(detail::api().plan(session_.get(), given.data(), given.size(), &json));
    return taken(json);
  }
  std::string plan(const View& input) const { return plan(std::span(&input, 1)); }

  /// Same as plan(), with measured "seconds": the median of `repeat` runs (at least 1) after one warm-up run. Inputs
  /// are in host memory.
  std::string profile(std::span<const View> inputs, int repeat = 10) const {
    const std::vector<convlab_array> given = arrays(inputs);
    char* json = nullptr;
    detail::check(detail::api().profile(session_.get(), given.data(), given.size(), repeat, &json));
    return taken(json);
  }
  std::string profile(const View& input, int repeat = 10) const { return profile(std::span(&input, 1), repeat); }

 private:
  struct Close {
    void operator()(convlab_session* session) const { detail::api().close(session); }
  };
  using Handle = std::unique_ptr<convlab_session, Close>;

  explicit Session(Handle session) : session_(std::move(session)) {}

  /// Returns the session that open(options, &session) opens.
  template <class Open>
  static Handle opened(const Options& options, Open open) {
    static constexpr const char* kMaths[] = {"fp32", "tf32", "bf16x2", "bf16", "fp16"};
    static constexpr const char* kPlans[] = {"fused", "layers", "folded"};
    const convlab_options wanted{.device = options.device.empty() ? nullptr : options.device.c_str(),
                                 .math = options.math ? kMaths[static_cast<size_t>(*options.math)] : nullptr,
                                 .plan = options.plan ? kPlans[static_cast<size_t>(*options.plan)] : nullptr,
                                 .threads = options.threads,
                                 .batch_wait_us = static_cast<int32_t>(options.batch_wait.count()),
                                 .batch_images = options.batch_images};
    convlab_session* session = nullptr;
    detail::check(open(&wanted, &session));
    return Handle(session);
  }

  template <class Count, class Get>
  std::vector<Value> values(Count count, Get get) const {
    std::vector<Value> all;
    for (size_t i = 0; i < count(session_.get()); ++i) {
      convlab_value value{};
      detail::check(get(session_.get(), i, &value));
      all.push_back({value.name, static_cast<convlab_type>(value.type), Shape(value.shape, value.shape + value.rank)});
    }
    return all;
  }

  template <class AView>
  static std::vector<convlab_array> arrays(std::span<const AView> views) {
    std::vector<convlab_array> all;
    for (const AView& view : views) all.push_back(view.array());
    return all;
  }

  static std::string taken(char* json) {
    const std::unique_ptr<char, void (*)(char*)> text(json, detail::api().free_text);
    return text.get();
  }

  Handle session_;
};

}  // namespace convlab

#endif
