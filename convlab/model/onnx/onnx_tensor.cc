// Converts between ONNX's TensorProto and tensors.

#include "convlab/model/onnx/onnx_tensor.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "convlab/base/checked.h"
#include "convlab/base/half.h"
#include "convlab/base/text.h"
#include "convlab/model/graph_limits.h"
#include "convlab/model/onnx/onnx.pb.h"

namespace convlab {
namespace {

static_assert(std::endian::native == std::endian::little, "raw_data is little-endian and copied as it is");

constexpr const char* kInBothFiles = "in the model and in an external file";

Shape shape_of(const onnx::TensorProto& proto) {
  if (static_cast<size_t>(proto.dims_size()) > kMostRank) {
    throw bad_input("the shape has {} dimensions; at most {} are supported", proto.dims_size(), kMostRank);
  }
  return {proto.dims().begin(), proto.dims().end()};
}

/// int32_data holds all integers up to 32 bits, and float16 as bits.
template <class T>
void copy_narrowed(const onnx::TensorProto& proto, Tensor& tensor) {
  const std::span<T> values = tensor.values<T>();
  for (size_t i = 0; i < values.size(); ++i) {
    const int32_t value = proto.int32_data(static_cast<int>(i));
    if (value < int64_t{std::numeric_limits<T>::min()} || value > int64_t{std::numeric_limits<T>::max()}) {
      throw bad_input("element {} ({}) does not fit in {}", i, value, name_of(tensor.type()));
    }
    values[i] = static_cast<T>(value);
  }
}

Tensor read_typed(const onnx::TensorProto& proto, ElementType type, Shape shape) {
  const auto allocate = [&](int count) {
    if (count != element_count(shape)) {
      throw bad_input("shape {} does not match the data ({} elements)", to_text(shape), count);
    }
    return Tensor(type, std::move(shape));
  };
  switch (proto.data_type()) {
    case onnx::TensorProto::FLOAT: {
      Tensor tensor = allocate(proto.float_data_size());
      std::copy(proto.float_data().begin(), proto.float_data().end(), tensor.values<float>().begin());
      return tensor;
    }
    case onnx::TensorProto::DOUBLE: {
      Tensor tensor = allocate(proto.double_data_size());
      std::copy(proto.double_data().begin(), proto.double_data().end(), tensor.values<double>().begin());
      return tensor;
    }
    case onnx::TensorProto::INT64: {
      Tensor tensor = allocate(proto.int64_data_size());
      std::copy(proto.int64_data().begin(), proto.int64_data().end(), tensor.values<int64_t>().begin());
      return tensor;
    }
    default:
      break;
  }
  const int count = proto.int32_data_size();
  if (proto.data_type() == onnx::TensorProto::BFLOAT16) {
    Tensor tensor = allocate(count);
    const std::span<float> values = tensor.values<float>();
    for (int i = 0; i < count; ++i) {
      values[static_cast<size_t>(i)] = std::bit_cast<float>(static_cast<uint32_t>(proto.int32_data(i)) << 16);
    }
    return tensor;
  }
  if (proto.data_type() == onnx::TensorProto::UINT32 || proto.data_type() == onnx::TensorProto::UINT64) {
    Tensor tensor = allocate(proto.uint64_data_size());
    const std::span<int64_t> values = tensor.values<int64_t>();
    for (int i = 0; i < proto.uint64_data_size(); ++i) {
      const uint64_t value = proto.uint64_data(i);
      if (value > uint64_t{INT64_MAX}) throw bad_input("element {} ({}) does not fit in int64", i, value);
      values[static_cast<size_t>(i)] = static_cast<int64_t>(value);
    }
    return tensor;
  }
  Tensor tensor = allocate(count);
  if (type == ElementType::f16) copy_narrowed<uint16_t>(proto, tensor);
  if (type == ElementType::i32) copy_narrowed<int32_t>(proto, tensor);
  if (type == ElementType::u8) copy_narrowed<uint8_t>(proto, tensor);
  if (type == ElementType::i8) copy_narrowed<int8_t>(proto, tensor);
  return tensor;
}

/// An ONNX type that Tensor does not have, and the conversion to the type that it becomes.
struct Stored {
  int bytes;  ///< of an element in the file
  void (*widen)(const uint8_t* from, int64_t count, Tensor& to);
};

template <class From, class To>
void widen(const uint8_t* from, int64_t count, Tensor& to) {
  const std::span<To> values = to.values<To>();
  for (int64_t i = 0; i < count; ++i) {
    From value{};
    std::memcpy(&value, from + static_cast<size_t>(i) * sizeof(From), sizeof(From));
    if constexpr (std::is_same_v<From, uint64_t>) {
      if (value > uint64_t{INT64_MAX}) throw bad_input("element {} ({}) does not fit in int64", i, value);
    }
    values[static_cast<size_t>(i)] = static_cast<To>(value);
  }
}

void widen_brain(const uint8_t* from, int64_t count, Tensor& to) {
  const std::span<float> values = to.values<float>();
  for (int64_t i = 0; i < count; ++i) {
    uint16_t value = 0;
    std::memcpy(&value, from + static_cast<size_t>(i) * sizeof(value), sizeof(value));
    values[static_cast<size_t>(i)] = std::bit_cast<float>(uint32_t{value} << 16);
  }
}

/// Returns how elements of this ONNX type are converted to element_type(), or nullopt if they are the same.
std::optional<Stored> stored_otherwise(int32_t onnx_type) {
  switch (onnx_type) {
    case onnx::TensorProto::BFLOAT16:
      return Stored{2, widen_brain};
    case onnx::TensorProto::UINT16:
      return Stored{2, widen<uint16_t, int32_t>};
    case onnx::TensorProto::INT16:
      return Stored{2, widen<int16_t, int32_t>};
    case onnx::TensorProto::UINT32:
      return Stored{4, widen<uint32_t, int64_t>};
    case onnx::TensorProto::UINT64:
      return Stored{8, widen<uint64_t, int64_t>};
    default:
      return std::nullopt;
  }
}

/// Returns a tensor from its bytes in the file.
Tensor read_bytes(int32_t onnx_type, Shape shape, int64_t bytes, const FillBytes& fill) {
  const std::optional<Stored> stored = stored_otherwise(onnx_type);
  const ElementType type = element_type(onnx_type);
  const int64_t count = element_count(shape), size = stored ? stored->bytes : static_cast<int64_t>(size_of(type));
  if (checked_mul(count, size) != bytes) {
    throw bad_input("shape {} of type {} does not match the data ({} bytes)", to_text(shape), onnx_type_name(onnx_type),
                    bytes);
  }
  Tensor tensor(type, std::move(shape));
  if (!stored) {
    fill(std::span(static_cast<uint8_t*>(tensor.raw()), static_cast<size_t>(bytes)));
    return tensor;
  }
  std::vector<uint8_t> raw(static_cast<size_t>(bytes));
  fill(std::span(raw));
  stored->widen(raw.data(), count, tensor);
  return tensor;
}

Tensor read_raw(const onnx::TensorProto& proto, Shape shape) {
  const std::string& raw = proto.raw_data();
  return read_bytes(proto.data_type(), std::move(shape), static_cast<int64_t>(raw.size()),
                    [&](std::span<uint8_t> into) { std::copy(raw.begin(), raw.end(), into.begin()); });
}

Tensor read_external(const onnx::TensorProto& proto, Shape shape, ExternalFiles& files) {
  std::string location;
  std::optional<int64_t> offset, length;
  for (const onnx::StringStringEntryProto& entry : proto.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = parse_int(entry.value(), "external data offset", 0, INT64_MAX);
    if (entry.key() == "length") length = parse_int(entry.value(), "external data length", 0, INT64_MAX);
  }
  const int64_t begin = offset.value_or(0);
  const int64_t bytes = length ? *length : std::max<int64_t>(files.size(location) - begin, 0);
  files.reserve(location, begin, bytes);
  return read_bytes(proto.data_type(), std::move(shape), bytes,
                    [&](std::span<uint8_t> into) { files.read(location, begin, into); });
}

template <class T, class ToNumber>
void refuse_nan_among(std::span<const T> values, ToNumber to_number) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(to_number(values[i]))) throw bad_input("weights contain NaN (element {})", i);
  }
}

void refuse_nan(const Tensor& tensor) {
  if (tensor.type() == ElementType::f32) refuse_nan_among(tensor.values<float>(), [](float value) { return value; });
  if (tensor.type() == ElementType::f64) refuse_nan_among(tensor.values<double>(), [](double value) { return value; });
  if (tensor.type() == ElementType::f16) refuse_nan_among(tensor.values<uint16_t>(), half_to_float);
}

bool is_external(const onnx::TensorProto& proto) {
  return proto.data_location() == onnx::TensorProto::EXTERNAL || proto.external_data_size() > 0;
}

/// Returns the type that stores the tensor. `elsewhere`: its data is not in its typed fields, which must be empty.
ElementType checked_type(const onnx::TensorProto& proto, bool elsewhere) {
  if (proto.has_segment()) throw bad_input("tensors stored in segments are not supported");
  const ElementType type = element_type(proto.data_type());
  const bool typed = proto.float_data_size() + proto.int32_data_size() + proto.int64_data_size() +
                         proto.double_data_size() + proto.uint64_data_size() + proto.string_data_size() >
                     0;
  if (typed && elsewhere) {
    throw bad_input("the data is stored twice: {}",
                    is_external(proto) ? kInBothFiles : "as raw_data and in a typed field");
  }
  return type;
}

}  // namespace

Tensor read_tensor(const onnx::TensorProto& proto, ExternalFiles& files) {
  const bool external = is_external(proto);
  const ElementType type = checked_type(proto, external || proto.has_raw_data());
  if (external && proto.has_raw_data()) throw bad_input("the data is stored twice: {}", kInBothFiles);
  Shape shape = shape_of(proto);
  Tensor tensor = external               ? read_external(proto, std::move(shape), files)
                  : proto.has_raw_data() ? read_raw(proto, std::move(shape))
                                         : read_typed(proto, type, std::move(shape));
  refuse_nan(tensor);
  return tensor;
}

Tensor read_raw_tensor(const onnx::TensorProto& proto, int64_t bytes, const FillBytes& fill) {
  if (is_external(proto)) throw bad_input("the data is stored twice: {}", kInBothFiles);
  checked_type(proto, true);
  Tensor tensor = read_bytes(proto.data_type(), shape_of(proto), bytes, fill);
  refuse_nan(tensor);
  return tensor;
}

onnx::TensorProto written_tensor(const std::string& name, int32_t onnx_type, const Tensor& tensor) {
  Tensor elements = converted(tensor, element_type(onnx_type));
  if (elements.type() == ElementType::f32) refuse_nan(elements);
  onnx::TensorProto proto;
  proto.set_name(name);
  proto.set_data_type(onnx_type);
  for (const int64_t size : tensor.shape()) proto.add_dims(size);
  if (onnx_type == onnx::TensorProto::INT64) {  // usually short lists, which take fewer bytes as varints
    for (const int64_t value : elements.values<int64_t>()) proto.add_int64_data(value);
  } else if (onnx_type == onnx::TensorProto::BOOL) {
    const Tensor numbers = converted(tensor, ElementType::f32);
    for (const float value : numbers.values<float>()) proto.add_int32_data(value != 0 ? 1 : 0);
  } else if (onnx_type == onnx::TensorProto::UINT16 || onnx_type == onnx::TensorProto::INT16) {
    for (const int32_t value : elements.values<int32_t>()) proto.add_int32_data(value);
  } else {
    proto.set_raw_data(elements.raw(), elements.bytes());
  }
  return proto;
}

int32_t onnx_type(ElementType type) {
  switch (type) {
    case ElementType::f16:
      return onnx::TensorProto::FLOAT16;
    case ElementType::f64:
      return onnx::TensorProto::DOUBLE;
    case ElementType::u8:
      return onnx::TensorProto::UINT8;
    case ElementType::i8:
      return onnx::TensorProto::INT8;
    case ElementType::i32:
      return onnx::TensorProto::INT32;
    case ElementType::i64:
      return onnx::TensorProto::INT64;
    case ElementType::f32:
    case ElementType::bf16:  // element_type() reads BFLOAT16 as float32, too
    case ElementType::bf16x2:
      break;
  }
  return onnx::TensorProto::FLOAT;
}

ElementType element_type(int32_t onnx_type) {
  switch (onnx_type) {
    case onnx::TensorProto::FLOAT:
    case onnx::TensorProto::BFLOAT16:
      return ElementType::f32;
    case onnx::TensorProto::FLOAT16:
      return ElementType::f16;
    case onnx::TensorProto::DOUBLE:
      return ElementType::f64;
    case onnx::TensorProto::INT64:
    case onnx::TensorProto::UINT32:
    case onnx::TensorProto::UINT64:
      return ElementType::i64;
    case onnx::TensorProto::INT32:
    case onnx::TensorProto::INT16:
    case onnx::TensorProto::UINT16:
      return ElementType::i32;
    case onnx::TensorProto::UINT8:
    case onnx::TensorProto::BOOL:
      return ElementType::u8;
    case onnx::TensorProto::INT8:
      return ElementType::i8;
    default:
      throw bad_input("element type {} is not supported; use floats of 16 to 64 bits, integers of 8 to 64 bits or bool",
                      onnx_type_name(onnx_type));
  }
}

std::optional<WholeRange> whole_range(int32_t onnx_type) {
  switch (onnx_type) {
    case onnx::TensorProto::UINT8:
      return WholeRange{0, 255};
    case onnx::TensorProto::INT8:
      return WholeRange{-128, 127};
    case onnx::TensorProto::UINT16:
      return WholeRange{0, 65535};
    case onnx::TensorProto::INT16:
      return WholeRange{-32768, 32767};
    default:
      return std::nullopt;
  }
}

std::string onnx_type_name(int32_t onnx_type) {
  static constexpr const char* kNames[] = {"undefined", "float32", "uint8",     "int8",       "uint16",  "int16",
                                           "int32",     "int64",   "string",    "bool",       "float16", "float64",
                                           "uint32",    "uint64",  "complex64", "complex128", "bfloat16"};
  if (onnx_type >= 0 && onnx_type < static_cast<int32_t>(std::size(kNames))) return kNames[onnx_type];
  return fmt::format("number {}", onnx_type);
}

}  // namespace convlab
