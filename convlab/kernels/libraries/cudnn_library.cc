// Loads libcudnn and wraps its descriptors.

#include "convlab/kernels/libraries/cudnn_library.h"

#include <dlfcn.h>

#include <algorithm>

namespace convlab::cudnn {
namespace {

template <class Function>
void look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) throw unavailable("libcudnn.so.9: symbol {} not found; install cuDNN 9", name);
}

}  // namespace

Library::Library() {
  // It loads its component libraries itself. Never closed: its threads and handlers may outlive any point at which
  // closing it would be safe.
  void* library = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw unavailable("kernel cudnn: {}; install cuDNN 9 or choose another kernel", dlerror());
  look_up(library, "cudnnGetVersion", version);
  look_up(library, "cudnnGetErrorString", error_string);
  look_up(library, "cudnnGetLastErrorString", last_error_string);
  look_up(library, "cudnnCreate", create);
  look_up(library, "cudnnDestroy", destroy);
  look_up(library, "cudnnSetStream", set_stream);
  look_up(library, "cudnnBackendCreateDescriptor", create_descriptor);
  look_up(library, "cudnnBackendDestroyDescriptor", destroy_descriptor);
  look_up(library, "cudnnBackendSetAttribute", set_attribute);
  look_up(library, "cudnnBackendGetAttribute", get_attribute);
  look_up(library, "cudnnBackendFinalize", finalize);
  look_up(library, "cudnnBackendExecute", execute);
}

void Library::check(cudnnStatus_t status, const std::string& doing) const {
  if (status == CUDNN_STATUS_SUCCESS) return;
  std::array<char, 1024> reason{};
  last_error_string(reason.data(), reason.size());
  throw unavailable("cuDNN error while {}: {}{}{}", doing, error_string(status), reason[0] == '\0' ? "" : ": ",
                    reason.data());
}

Descriptor::Descriptor(const Library& library, cudnnBackendDescriptorType_t type) : library_(&library), type_(type) {
  check(library.create_descriptor(type, &pointer_), "creating");
}

void Descriptor::set_descriptors(cudnnBackendAttributeName_t name, std::span<const cudnnBackendDescriptor_t> others) {
  set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, others.size(), others.data());
}

void Descriptor::finalize() { check(library_->finalize(pointer_), "finalizing"); }

std::vector<Descriptor> Descriptor::get_descriptors(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type,
                                                    size_t most) const {
  std::vector<Descriptor> descriptors;  // the library fills in descriptors that the caller has created
  std::vector<cudnnBackendDescriptor_t> pointers;
  for (size_t i = 0; i < most; ++i) pointers.push_back(descriptors.emplace_back(*library_, type).pointer_);
  const size_t count = get(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most, pointers.data());
  while (descriptors.size() > count) descriptors.pop_back();
  return descriptors;
}

void Descriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, size_t count,
                     const void* values) {
  check(library_->set_attribute(pointer_, name, type, static_cast<int64_t>(count), values),
        fmt::format("setting attribute {} of", static_cast<int>(name)));
}

size_t Descriptor::get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, size_t most,
                       void* values) const {
  int64_t count = 0;
  check(library_->get_attribute(pointer_, name, type, static_cast<int64_t>(most), &count, values),
        fmt::format("reading attribute {} of", static_cast<int>(name)));
  return std::min(static_cast<size_t>(count), most);
}

void Descriptor::check(cudnnStatus_t status, const std::string& doing) const {
  if (status == CUDNN_STATUS_SUCCESS) return;
  library_->check(status, fmt::format("{} a descriptor of type {}", doing, static_cast<int>(type_)));
}

}  // namespace convlab::cudnn
