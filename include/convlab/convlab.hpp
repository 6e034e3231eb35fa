// convlab for C++20: models in ONNX's format, run on CPUs and GPUs.
//
//     convlab::Session session("net.onnx", {.device = "cuda:0", .math = convlab::Math::fp16});
//     convlab::Tensor y = session.run(x);
//
// All of it stands on the table of functions in convlab.h, and in this header alone: a program that was compiled with
// one version runs with every later library.
#ifndef CONVLAB_CONVLAB_HPP
#define CONVLAB_CONVLAB_HPP

#include <convlab/convlab.h>

#include <algorithm>
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

/// Sizes, outermost first; of images their number, channels, height, width.
using Shape = std::vector<int64_t>;

/// The only exception that convlab throws. The text says what is wrong, where, and what to do.
class Error : public std::runtime_error {
 public:
  Error(convlab_status status, const std::string& text) : std::runtime_error(text), status_(status) {}
  convlab_status status() const { return status_; }

 private:
  convlab_status status_;
};

/// The arithmetic of convolutions, never less precise than asked: fp32 has a relative L2 error of at most 1e-6.
enum class Math { fp32, tf32, bf16x2, bf16, fp16 };

/// layers: each operator by itself. fused: a convolution with its bias, pooling and activation in one step. folded:
/// chains of linear operators become one, too.
enum class Plan { fused, layers, folded };

struct Options {
  std::string device;        ///< "auto" (default: a GPU where there is one), "cpu", "cuda", "cuda:1"
  std::optional<Math> math;  ///< default fp32
  std::optional<Plan> plan;  ///< default fused
  int threads = 0;           ///< of the processor; 0: as many as this process may use

  /// Above 0: calls of few images that come from several threads are computed together, and each waits at most so long
  /// for others to come.
  std::chrono::microseconds batch_wait{0};
  int batch_images = 64;  ///< the most that are computed together
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
  else if constexpr (std::is_same_v<Element, uint8_t>)
    return CONVLAB_UINT8;
  else if constexpr (std::is_same_v<Element, int8_t>)
    return CONVLAB_INT8;
  else if constexpr (std::is_same_v<Element, int32_t>)
    return CONVLAB_INT32;
  else {
    static_assert(std::is_same_v<Element, int64_t>, "arrays are of float, double, uint8_t, int8_t, int32_t or int64_t");
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

/// The product of the sizes.
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

/// `count`: how many elements are there, which must be the shape's.
inline convlab_array host_array(void* data, convlab_type type, size_t count, std::span<const int64_t> shape) {
  if (count != count_of(shape)) {
    throw Error(CONVLAB_BAD_INPUT,
                std::to_string(count) + " values are given for a shape of " + std::to_string(count_of(shape)));
  }
  return array_of(data, type, CONVLAB_HOST, shape);
}

inline Shape shape_of(const convlab_array& array) { return Shape(array.shape, array.shape + array.rank); }

}  // namespace detail

/// A dense array in memory of its own, row-major. Copying copies the elements; moving is cheap.
class Tensor {
 public:
  Tensor() = default;

  /// Uninitialized elements, at an address that is a multiple of 64 bytes.
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

  /// All elements. Error where T is not the type.
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

/// Somebody's array that convlab reads: dense, row-major. It must outlive the call that it is given to.
class View {
 public:
  /// Error where the number of values is not the shape's.
  template <class T>
  View(std::span<T> values, std::span<const int64_t> shape)
      : array_(detail::host_array(const_cast<std::remove_const_t<T>*>(values.data()), detail::type_of<T>(),
                                  values.size(), shape)) {}
  View(const Tensor& tensor)  // NOLINT: a tensor is an array
      : array_(detail::host_array(const_cast<void*>(tensor.data()), tensor.type(), tensor.count(), tensor.shape())) {}

  /// An array in the memory of the session's GPU.
  template <class T>
  static View on_device(const T* data, std::span<const int64_t> shape) {
    return View(detail::array_of(const_cast<T*>(data), detail::type_of<T>(), CONVLAB_DEVICE, shape));
  }

  const convlab_array& array() const { return array_; }

 private:
  explicit View(const convlab_array& array) : array_(array) {}

  convlab_array array_;
};

/// The same of one that convlab writes.
class MutableView {
 public:
  template <class T>
  MutableView(std::span<T> values, std::span<const int64_t> shape)
      : array_(detail::host_array(values.data(), detail::type_of<T>(), values.size(), shape)) {}
  MutableView(Tensor& tensor)  // NOLINT: likewise
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

/// An input or an output of a model. -1 in a shape: a size that the model leaves open; outputs' shapes follow from the
/// inputs'.
struct Value {
  std::string name;
  convlab_type type;
  Shape shape;
};

/// A model on a device. Any thread may use it at any time; runs of several threads take turns.
class Session {
 public:
  /// `model`: an .onnx file, an MXNet .params file with its symbol beside it, or a shipped model's name such as "fa19".
  explicit Session(const std::string& model, const Options& options = {})
      : session_(opened(options, [&](const convlab_options* wanted, convlab_session** session) {
          return detail::api().open(model.c_str(), wanted, session);
        })) {}

  /// A session of the same model, on any device, which shares with this one what both have in memory of its weights.
  /// What the options do not say of device, math and plan is as here. Runs of the two do not take turns, and either may
  /// end first.
  Session clone(const Options& options = {}) const {
    return Session(opened(options, [&](const convlab_options* wanted, convlab_session** session) {
      return detail::api().clone(session_.get(), wanted, session);
    }));
  }

  /// Where it computes, in words.
  std::string device() const { return detail::api().device(session_.get()); }

  /// As Options has it, with a GPU's number: "cuda:0".
  std::string device_name() const { return detail::api().device_name(session_.get()); }

  std::vector<Value> inputs() const { return values(detail::api().input_count, detail::api().input); }
  std::vector<Value> outputs() const { return values(detail::api().output_count, detail::api().output); }

  /// The output of a model with one input and one output.
  Tensor run(const View& input) {
    std::vector<Tensor> outputs = run(std::span(&input, 1));
    if (outputs.size() != 1) throw Error(CONVLAB_BAD_INPUT, "the model has several outputs: pass a list of inputs");
    return std::move(outputs.front());
  }

  /// All outputs, for all inputs, in the model's order.
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

  /// Into arrays that the program has, of the shapes that run() would give. With `stream`, a cudaStream_t of the
  /// session's GPU, all arrays must be on_device(): the work takes its place in that stream, and run() may return
  /// before it is done.
  void run(std::span<const View> inputs, std::span<const MutableView> outputs, void* stream = nullptr) {
    const std::vector<convlab_array> given = arrays(inputs), wanted = arrays(outputs);
    detail::check(detail::api().run(session_.get(), given.data(), given.size(), wanted.data(), wanted.size(), stream));
  }
  void run(const View& input, const MutableView& output, void* stream = nullptr) {
    detail::check(detail::api().run(session_.get(), &input.array(), 1, &output.array(), 1, stream));
  }

  /// How such inputs are computed, as JSON: a list of steps with "name", "op", "kernel" and "flops".
  std::string plan(std::span<const View> inputs) const {
    const std::vector<convlab_array> given = arrays(inputs);
    char* json = nullptr;
    detail::check(detail::api().plan(session_.get(), given.data(), given.size(), &json));
    return taken(json);
  }
  std::string plan(const View& input) const { return plan(std::span(&input, 1)); }

  /// The same with "seconds": medians of `repeat` runs after one that warms up.
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

  /// What open(options, &session) opens.
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
