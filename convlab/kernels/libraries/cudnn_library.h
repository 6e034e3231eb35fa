#pragma once

#include <cudnn_backend.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "convlab/base/error.h"

namespace convlab::cudnn {

/// The functions of libcudnn's graph API, looked up by name. The constructor loads the library, and throws
/// Error(unavailable) if it is missing.
struct Library {
  Library();

  /// Throws Error(unavailable) with the library's message if a call failed; `doing` is what it did: "finalizing".
  void check(cudnnStatus_t status, const std::string& doing) const;

  decltype(&cudnnGetVersion) version;
  decltype(&cudnnGetErrorString) error_string;
  decltype(&cudnnGetLastErrorString) last_error_string;
  decltype(&cudnnCreate) create;
  decltype(&cudnnDestroy) destroy;
  decltype(&cudnnSetStream) set_stream;
  decltype(&cudnnBackendCreateDescriptor) create_descriptor;
  decltype(&cudnnBackendDestroyDescriptor) destroy_descriptor;
  decltype(&cudnnBackendSetAttribute) set_attribute;
  decltype(&cudnnBackendGetAttribute) get_attribute;
  decltype(&cudnnBackendFinalize) finalize;
  decltype(&cudnnBackendExecute) execute;
};

/// Returns the library's constant for the type of an attribute.
constexpr cudnnBackendAttributeType_t type_of(int64_t) { return CUDNN_TYPE_INT64; }
constexpr cudnnBackendAttributeType_t type_of(bool) { return CUDNN_TYPE_BOOLEAN; }
constexpr cudnnBackendAttributeType_t type_of(float) { return CUDNN_TYPE_FLOAT; }
constexpr cudnnBackendAttributeType_t type_of(double) { return CUDNN_TYPE_DOUBLE; }
constexpr cudnnBackendAttributeType_t type_of(void*) { return CUDNN_TYPE_VOID_PTR; }
constexpr cudnnBackendAttributeType_t type_of(cudnnHandle_t) { return CUDNN_TYPE_HANDLE; }
constexpr cudnnBackendAttributeType_t type_of(cudnnDataType_t) { return CUDNN_TYPE_DATA_TYPE; }
constexpr cudnnBackendAttributeType_t type_of(cudnnConvolutionMode_t) { return CUDNN_TYPE_CONVOLUTION_MODE; }
constexpr cudnnBackendAttributeType_t type_of(cudnnPointwiseMode_t) { return CUDNN_TYPE_POINTWISE_MODE; }
constexpr cudnnBackendAttributeType_t type_of(cudnnNanPropagation_t) { return CUDNN_TYPE_NAN_PROPOGATION; }
constexpr cudnnBackendAttributeType_t type_of(cudnnBackendHeurMode_t) { return CUDNN_TYPE_HEUR_MODE; }
constexpr cudnnBackendAttributeType_t type_of(cudnnBackendNumericalNote_t) { return CUDNN_TYPE_NUMERICAL_NOTE; }
constexpr cudnnBackendAttributeType_t type_of(cudnnBackendBehaviorNote_t) { return CUDNN_TYPE_BEHAVIOR_NOTE; }
constexpr cudnnBackendAttributeType_t type_of(cudnnBackendKnobType_t) { return CUDNN_TYPE_KNOB_TYPE; }

/// A cuDNN descriptor. Set its attributes, then finalize it; after that its attributes can be read, and it can be an
/// attribute of other descriptors, which it must outlive. The library must outlive it.
class Descriptor {
 public:
  Descriptor(const Library& library, cudnnBackendDescriptorType_t type);
  Descriptor(Descriptor&& other) noexcept
      : library_(other.library_), type_(other.type_), pointer_(std::exchange(other.pointer_, nullptr)) {}
  ~Descriptor() {
    if (pointer_ != nullptr) library_->destroy_descriptor(pointer_);
  }

  template <class Value>
  void set(cudnnBackendAttributeName_t name, std::span<const Value> values) {
    set(name, type_of(Value{}), values.size(), values.data());
  }
  template <class Value>
  void set(cudnnBackendAttributeName_t name, const Value& value) {
    set(name, std::span<const Value>(&value, 1));
  }
  void set(cudnnBackendAttributeName_t name, const Descriptor& other) { set_descriptors(name, {{other.pointer_}}); }
  void set_descriptors(cudnnBackendAttributeName_t name, std::span<const cudnnBackendDescriptor_t> others);
  void finalize();

  template <class Value>
  Value get(cudnnBackendAttributeName_t name) const {
    Value value{};
    get(name, type_of(value), 1, &value);
    return value;
  }
  /// Returns all values, up to `most`.
  template <class Value>
  std::vector<Value> get_all(cudnnBackendAttributeName_t name, size_t most) const {
    std::vector<Value> values(most);
    values.resize(get(name, type_of(Value{}), most, values.data()));
    return values;
  }
  std::vector<Descriptor> get_descriptors(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type,
                                          size_t most) const;

  cudnnBackendDescriptor_t pointer() const { return pointer_; }

 private:
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, size_t count, const void* values);
  size_t get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, size_t most, void* values) const;
  void check(cudnnStatus_t status, const std::string& doing) const;

  const Library* library_;
  cudnnBackendDescriptorType_t type_;
  cudnnBackendDescriptor_t pointer_ = nullptr;
};

}  // namespace convlab::cudnn
