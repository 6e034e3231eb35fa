#include "convlab/model/onnx_tensor.h"

#include <cstring>
#include <optional>

#include "convlab/base/checked.h"
#include "onnx/onnx.pb.h"

namespace convlab {
namespace {

std::optional<ElementType> element_type(int onnx_type) {
  switch (onnx_type) {
    case onnx::TensorProto::FLOAT:
      return ElementType::f32;
    case onnx::TensorProto::FLOAT16:
      return ElementType::f16;
    case onnx::TensorProto::DOUBLE:
      return ElementType::f64;
    case onnx::TensorProto::UINT8:
    case onnx::TensorProto::BOOL:
      return ElementType::u8;
    case onnx::TensorProto::INT8:
      return ElementType::i8;
    case onnx::TensorProto::INT32:
      return ElementType::i32;
    case onnx::TensorProto::INT64:
      return ElementType::i64;
    default:
      return std::nullopt;
  }
}

/// Copies a typed field, as long as the tensor, each value narrowed to the element's type.
template <class Element, class Field>
void copy_field(const Field& field, Tensor& tensor) {
  auto* to = static_cast<Element*>(tensor.raw());
  for (const auto& value : field) *to++ = static_cast<Element>(value);
}

/// Values that the proto holds in its typed field of this type, so that nothing is allocated for a shape without data.
int64_t typed_count(const onnx::TensorProto& proto, ElementType type) {
  switch (type) {
    case ElementType::f32:
      return proto.float_data_size();
    case ElementType::f64:
      return proto.double_data_size();
    case ElementType::i64:
      return proto.int64_data_size();
    default:
      return proto.int32_data_size();
  }
}

}  // namespace

Tensor onnx_tensor(const onnx::TensorProto& proto, std::string_view name) {
  const std::optional<ElementType> type = element_type(proto.data_type());
  if (!type) {
    const std::string type_name = onnx::TensorProto::DataType_IsValid(proto.data_type())
                                      ? onnx::TensorProto::DataType_Name(onnx::TensorProto::DataType(proto.data_type()))
                                      : std::to_string(proto.data_type());
    throw bad_input("tensor '{}' is of type {}, which is not supported; use float32, float16, float64 or integers",
                    name, type_name);
  }
  if (proto.data_location() == onnx::TensorProto::EXTERNAL || proto.external_data_size() > 0) {
    throw bad_input("tensor '{}' keeps its data in another file; save the model with all data in one file", name);
  }
  if (proto.has_segment()) throw bad_input("tensor '{}' is stored in segments, which is not supported", name);

  const Shape shape(proto.dims().begin(), proto.dims().end());
  int64_t count = 0, wanted = 0;
  try {
    count = element_count(shape);
    wanted = checked_mul(count, static_cast<int64_t>(size_of(*type)));
  } catch (const Error& error) {
    throw bad_input("tensor '{}': {}", name, error.what());
  }
  const bool raw = proto.has_raw_data();
  const int64_t present = raw ? static_cast<int64_t>(proto.raw_data().size())
                              : typed_count(proto, *type) * static_cast<int64_t>(size_of(*type));
  if (wanted != present) {
    throw bad_input("tensor '{}': shape {} of {} wants {} bytes, the file has {}", name, to_text(shape), name_of(*type),
                    wanted, present);
  }
  Tensor tensor(*type, shape);
  if (raw) {
    std::memcpy(tensor.raw(), proto.raw_data().data(), tensor.bytes());
    return tensor;
  }
  switch (*type) {
    case ElementType::f32:
      copy_field<float>(proto.float_data(), tensor);
      break;
    case ElementType::f64:
      copy_field<double>(proto.double_data(), tensor);
      break;
    case ElementType::i64:
      copy_field<int64_t>(proto.int64_data(), tensor);
      break;
    case ElementType::f16:  // the bits, in the lower half of an int32
      copy_field<uint16_t>(proto.int32_data(), tensor);
      break;
    case ElementType::u8:
      copy_field<uint8_t>(proto.int32_data(), tensor);
      break;
    case ElementType::i8:
      copy_field<int8_t>(proto.int32_data(), tensor);
      break;
    case ElementType::i32:
      copy_field<int32_t>(proto.int32_data(), tensor);
      break;
  }
  return tensor;
}

}  // namespace convlab
