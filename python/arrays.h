#pragma once

#include <convlab/convlab.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <string>

namespace convlab::python {

/// Somebody's array in the words of the C table, and what keeps it alive.
struct Array {
  convlab_array array{};
  int gpu = -1;  ///< in whose memory it is; -1: in the host's
  nanobind::ndarray<nanobind::ro> owner;
};

/// An object with __dlpack__ or a buffer, as it lies; a strided one on the host is copied. Error where it is neither,
/// where convlab does not know its type, or where it is strided on a GPU. `role` and `name` are for the message:
/// "input", "x".
Array read_array(nanobind::handle object, const char* role, const std::string& name);

/// The same to write into: dense, and not read-only.
Array written_array(nanobind::handle object, const char* role, const std::string& name);

bool is_torch(nanobind::handle object);

bool overlap(const convlab_array& one, const convlab_array& other);

/// NumPy's and PyTorch's word for a convlab_type, and ONNX Runtime's: "float32", "tensor(float)".
const char* type_name(int32_t type);
const char* onnx_type_name(int32_t type);

}  // namespace convlab::python
