// Converts Python arrays (DLPack or the buffer protocol) to arrays of the C API.

#include "python_arrays.h"

#include <cstring>
#include <functional>
#include <iterator>
#include <utility>

#include "python_errors.h"

namespace convlab::python {

namespace nb = nanobind;

namespace {

struct Type {
  const char *name, *onnx_name;
  nb::dlpack::dtype_code code;
  int bits;
};

/// In the order of convlab_type.
constexpr Type kTypes[] = {{"float32", "tensor(float)", nb::dlpack::dtype_code::Float, 32},
                           {"float16", "tensor(float16)", nb::dlpack::dtype_code::Float, 16},
                           {"float64", "tensor(double)", nb::dlpack::dtype_code::Float, 64},
                           {"uint8", "tensor(uint8)", nb::dlpack::dtype_code::UInt, 8},
                           {"int8", "tensor(int8)", nb::dlpack::dtype_code::Int, 8},
                           {"int32", "tensor(int32)", nb::dlpack::dtype_code::Int, 32},
                           {"int64", "tensor(int64)", nb::dlpack::dtype_code::Int, 64}};

[[noreturn]] void refuse(const char* role, const std::string& name, const std::string& reason) {
  fail(CONVLAB_BAD_INPUT, std::string(role) + " '" + name + "' " + reason);
}

/// Returns why an object cannot be read as an array, with the exception's own text if there is one.
std::string reason_of(nb::handle object) {
  const std::string type = nb::type_name(object.type()).c_str();
  try {
    if (nb::hasattr(object, "__dlpack__")) {
      object.attr("__dlpack__")();
    } else {
      nb::module_::import_("builtins").attr("memoryview")(object);
    }
  } catch (nb::python_error& error) {
    return "is a " + type + " that gives no array: " + nb::str(error.value()).c_str();
  }
  return "is a " + type + " whose elements convlab does not know";
}

/// NumPy's dates export buffers without strides, but nanobind reads strides without a check.
bool lacks_strides(nb::handle object) {
  if (nb::hasattr(object.type(), "__dlpack__") || PyObject_CheckBuffer(object.ptr()) == 0) return false;
  Py_buffer buffer;
  if (PyObject_GetBuffer(object.ptr(), &buffer, PyBUF_RECORDS_RO) != 0) {
    PyErr_Clear();
    return false;
  }
  const bool lacks = buffer.ndim > 0 && buffer.strides == nullptr;
  PyBuffer_Release(&buffer);
  return lacks;
}

template <class Owner>
bool imported(nb::handle object, Owner& owner) {
  return !lacks_strides(object) && nb::try_cast(object, owner, false);
}

int32_t type_of(const nb::ndarray<nb::ro>& array, const char* role, const std::string& name) {
  const nb::dlpack::dtype type = array.dtype();
  int32_t index = 0;
  for (const Type& each : kTypes) {
    if (type.code == static_cast<uint8_t>(each.code) && type.bits == each.bits && type.lanes == 1) return index;
    ++index;
  }
  static constexpr const char* kCodes[] = {"int", "uint", "float", "handle", "bfloat", "complex", "bool"};
  const std::string code =
      type.code < std::size(kCodes) ? kCodes[type.code] : "type " + std::to_string(type.code) + ", ";
  std::string known;
  for (const Type& each : kTypes) known += (known.empty() ? "" : ", ") + std::string(each.name);
  refuse(role, name,
         "has elements of " + code + (code == "bool" ? "" : std::to_string(type.bits)) + "; convlab takes " + known);
}

/// Returns the GPU's index, or -1 for host memory.
int gpu_of(const nb::ndarray<nb::ro>& array, const char* role, const std::string& name) {
  constexpr int kManaged = 13;
  switch (array.device_type()) {
    case nb::device::cpu::value:
    case nb::device::cuda_host::value:
      return -1;
    case nb::device::cuda::value:
    case kManaged:
      return array.device_id();
    default:
      refuse(role, name, "is in the memory of a device that convlab does not know");
  }
}

bool is_dense(const nb::ndarray<nb::ro>& array) {
  int64_t elements = 1;
  for (size_t i = array.ndim(); i-- > 0;) {
    const auto size = static_cast<int64_t>(array.shape(i));
    if (size == 0) return true;
    if (size != 1 && array.stride(i) != elements) elements = -1;
    if (elements >= 0) elements *= size;
  }
  return elements >= 0;
}

Array array_of(nb::ndarray<nb::ro>&& owner, const char* role, const std::string& name) {
  if (owner.ndim() > CONVLAB_MAX_RANK) {
    refuse(role, name,
           "has " + std::to_string(owner.ndim()) + " sizes; convlab takes " + std::to_string(CONVLAB_MAX_RANK));
  }
  Array result;
  result.gpu = gpu_of(owner, role, name);
  result.array.data = const_cast<void*>(owner.data());
  result.array.type = type_of(owner, role, name);
  result.array.memory = result.gpu < 0 ? CONVLAB_HOST : CONVLAB_DEVICE;
  result.array.rank = static_cast<int32_t>(owner.ndim());
  for (size_t i = 0; i < owner.ndim(); ++i) result.array.shape[i] = static_cast<int64_t>(owner.shape(i));
  result.owner = std::move(owner);
  return result;
}

}  // namespace

Array read_array(nb::handle object, const char* role, const std::string& name) {
  nb::ndarray<nb::ro> owner;
  if (!imported(object, owner)) refuse(role, name, reason_of(object));
  Array result = array_of(std::move(owner), role, name);
  if (is_dense(result.owner)) return result;
  if (result.gpu >= 0) refuse(role, name, "is strided: give .contiguous()");
  const nb::object dense =
      is_torch(object) ? object.attr("contiguous")() : nb::module_::import_("numpy").attr("ascontiguousarray")(object);
  return read_array(dense, role, name);
}

Array written_array(nb::handle object, const char* role, const std::string& name) {
  nb::ndarray<> owner;
  if (!imported(object, owner)) {
    nb::ndarray<nb::ro> unwritable;
    const bool readable = imported(object, unwritable);
    refuse(role, name, readable ? "is read-only" : reason_of(object));
  }
  Array result = array_of(nb::ndarray<nb::ro>(owner), role, name);
  if (!is_dense(result.owner)) refuse(role, name, "is strided: outputs are written to dense arrays");
  return result;
}

bool is_torch(nb::handle object) {
  const nb::object module = nb::getattr(object.type(), "__module__", nb::none());
  return nb::isinstance<nb::str>(module) && std::strncmp(nb::borrow<nb::str>(module).c_str(), "torch", 5) == 0;
}

bool overlap(const convlab_array& one, const convlab_array& other) {
  const auto end = [](const convlab_array& array) {
    int64_t bytes = kTypes[array.type].bits / 8;
    for (int32_t i = 0; i < array.rank; ++i) bytes *= array.shape[i];
    return static_cast<const char*>(array.data) + bytes;
  };
  const std::less<const void*> before;
  return one.memory == other.memory && before(one.data, end(other)) && before(other.data, end(one));
}

const char* type_name(int32_t type) { return kTypes[type].name; }

const char* onnx_type_name(int32_t type) { return kTypes[type].onnx_name; }

}  // namespace convlab::python
