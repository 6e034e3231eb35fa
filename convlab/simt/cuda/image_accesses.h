#pragma once

#include <cstddef>
#include <string>

#include "convlab/simt/cuda/texture_objects.h"
#include "convlab/simt/where.h"

/// What reads of textures and accesses to surfaces have in common.
namespace convlab::simt::cuda::runtime {

/// A texture function or surface function that a kernel calls.
struct ImageCall {
  const char* name;
  Where where;
  const void* code;  ///< its return address
};

/// What a call accesses. `dimensions` does not count layers or faces.
struct ImageShape {
  int dimensions;
  bool is_layered = false, is_cubemap = false;
};

/// Checks a load or store of the running thread.
void check_image_access(const ImageCall& call, const void* address, size_t bytes, bool is_write);

/// Ends the running thread with a fault: "invalid texture read", "tex2D reads a texture with 3 dimensions".
[[noreturn]] void fail_image_access(const ImageCall& call, const char* headline, std::string&& why);

/// Returns the object of a handle; a fault if there is none, or if it has another shape than the call.
const ImageObject& object_for(const ImageCall& call, unsigned long long handle, bool is_surface,
                              const ImageShape& shape);

}  // namespace convlab::simt::cuda::runtime
