#include "convlab/model/onnx_tensor.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "convlab/base/checked.h"
#include "convlab/base/half.h"
#include "convlab/model/limits.h"
#include "convlab/model/onnx.pb.h"

namespace convlab {
namespace {

static_assert(std::endian::native == std::endian::little, "raw_data is little-endian and copied as it is");

Shape shape_of(const onnx::TensorProto& proto) {
  if (static_cast<size_t>(proto.dims_size()) > kMostRank) {
    throw bad_input("{} dimensions are too many", proto.dims_size());
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
      throw bad_input("element {} is {}, which {} cannot hold", i, value, name_of(tensor.type()));
    }
    values[i] = static_cast<T>(value);
  }
}

Tensor read_typed(const onnx::TensorProto& proto, ElementType type, Shape shape) {
  const auto allocate = [&](int count) {
    if (count != element_count(shape)) {
      throw bad_input("its shape {} does not fit its data of {} elements", to_text(shape), count);
    }
    return Tensor(type, std::move(shape));
  };
  switch (type) {
    case ElementType::f32: {
      Tensor tensor = allocate(proto.float_data_size());
      std::copy(proto.float_data().begin(), proto.float_data().end(), tensor.values<float>().begin());
      return tensor;
    }
    case ElementType::f64: {
      Tensor tensor = allocate(proto.double_data_size());
      std::copy(proto.double_data().begin(), proto.double_data().end(), tensor.values<double>().begin());
      return tensor;
    }
    case ElementType::i64: {
      Tensor tensor = allocate(proto.int64_data_size());
      std::copy(proto.int64_data().begin(), proto.int64_data().end(), tensor.values<int64_t>().begin());
      return tensor;
    }
    default:
      break;
  }
  Tensor tensor = allocate(proto.int32_data_size());
  if (type == ElementType::f16) copy_narrowed<uint16_t>(proto, tensor);
  if (type == ElementType::i32) copy_narrowed<int32_t>(proto, tensor);
  if (type == ElementType::u8) copy_narrowed<uint8_t>(proto, tensor);
  if (type == ElementType::i8) copy_narrowed<int8_t>(proto, tensor);
  return tensor;
}

Tensor read_raw(const onnx::TensorProto& proto, ElementType type, Shape shape) {
  const std::string& raw = proto.raw_data();
  const int64_t size = static_cast<int64_t>(size_of(type)), bytes = static_cast<int64_t>(raw.size());
  if (checked_mul(element_count(shape), size) != bytes) {
    throw bad_input("its shape {} of {} does not fit its data of {} bytes", to_text(shape), name_of(type), bytes);
  }
  Tensor tensor(type, std::move(shape));
  if (bytes > 0) std::memcpy(tensor.raw(), raw.data(), raw.size());
  return tensor;
}

template <class T, class ToNumber>
void refuse_nan(const Tensor& tensor, ToNumber to_number) {
  const std::span<const T> values = tensor.values<T>();
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(to_number(values[i]))) throw bad_input("weights hold NaN (element {})", i);
  }
}

}  // namespace

Tensor read_tensor(const onnx::TensorProto& proto) {
  if (proto.data_location() == onnx::TensorProto::EXTERNAL || proto.external_data_size() > 0) {
    throw bad_input(
        "its data is in another file, which is not supported; save the model as one file "
        "(onnx.save_model with save_as_external_data=False)");
  }
  if (proto.has_segment()) throw bad_input("it is stored in segments, which is not supported");
  const ElementType type = element_type(proto.data_type());
  const bool typed = proto.float_data_size() + proto.int32_data_size() + proto.int64_data_size() +
                         proto.double_data_size() + proto.uint64_data_size() + proto.string_data_size() >
                     0;
  if (proto.has_raw_data() && typed) throw bad_input("its data is given twice, raw and typed");
  Shape shape = shape_of(proto);
  Tensor tensor =
      proto.has_raw_data() ? read_raw(proto, type, std::move(shape)) : read_typed(proto, type, std::move(shape));
  if (type == ElementType::f32) refuse_nan<float>(tensor, [](float value) { return value; });
  if (type == ElementType::f64) refuse_nan<double>(tensor, [](double value) { return value; });
  if (type == ElementType::f16) refuse_nan<uint16_t>(tensor, half_to_float);
  return tensor;
}

ElementType element_type(int32_t onnx_type) {
  switch (onnx_type) {
    case onnx::TensorProto::FLOAT:
      return ElementType::f32;
    case onnx::TensorProto::FLOAT16:
      return ElementType::f16;
    case onnx::TensorProto::DOUBLE:
      return ElementType::f64;
    case onnx::TensorProto::INT64:
      return ElementType::i64;
    case onnx::TensorProto::INT32:
      return ElementType::i32;
    case onnx::TensorProto::UINT8:
    case onnx::TensorProto::BOOL:
      return ElementType::u8;
    case onnx::TensorProto::INT8:
      return ElementType::i8;
    default:
      throw bad_input(
          "its element type {} is not supported; float32, float16, float64, int64, int32, uint8 and int8 are",
          onnx_type_name(onnx_type));
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
