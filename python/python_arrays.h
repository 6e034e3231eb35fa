#pragma once

#include <convlab/convlab.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <string>

namespace convlab::python {

/// A Python array as a convlab_array, with the reference that keeps it alive.
struct Array {
  convlab_array array{};
  int gpu = -1;  ///< index of the GPU whose memory holds it; -1: host memory
  nanobind::ndarray<nanobind::ro> owner;
};

/// Returns a view of an object that supports __dlpack__ or the buffer protocol; a strided array on the host is copied.
/// Raises convlab.Error if the object supports neither, has an element type that convlab does not support, or is
/// strided on a GPU. `role` and `name` are for the message: "input", "x".
Array read_array(nanobind::handle object, const char* role, const std::string& name);

/// Same as read_array(), for an array to write to: it must be dense and writable.
Array written_array(nanobind::handle object, const char* role, const std::string& name);

bool is_torch(nanobind::handle object);

bool overlap(const convlab_array& one, const convlab_array& other);

/// The name of a convlab_type in NumPy and PyTorch ("float32"), and in ONNX Runtime ("tensor(float)").
const char* type_name(int32_t type);
const char* onnx_type_name(int32_t type);

}  // namespace convlab::python
