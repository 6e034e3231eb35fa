// Checks the accesses of kernels to textures and surfaces.

#include "convlab/simt/cuda/image_accesses.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "convlab/simt/worker.h"

namespace convlab::simt::cuda::runtime {
namespace {

// "2 dimensions and layers" or "the faces of a cubemap"
std::string shape_text(const Image& image) {
  const char* const layers = image.is_layered() ? " and layers" : "";
  if (image.is_cubemap()) return fmt::format("the faces of a cubemap{}", layers);
  return fmt::format("{} dimension{}{}", image.dimensions, image.dimensions == 1 ? "" : "s", layers);
}

// An image with size 1 in the dimensions that the call lacks can be read as one with fewer dimensions. A cubemap is a
// layered array of two dimensions, whose layers surfaces can access as such.
bool has_shape(const Image& image, bool is_surface, const ImageShape& shape) {
  if (image.is_cubemap() && !shape.is_cubemap) return is_surface && shape.is_layered && shape.dimensions == 2;
  if (shape.is_cubemap && !image.is_cubemap()) return false;
  if (image.is_layered() != shape.is_layered) return false;
  if (shape.dimensions == image.dimensions) return true;
  return (shape.dimensions > 1 || image.height == 1) && (shape.dimensions > 2 || image.depth == 1);
}

}  // namespace

void check_image_access(const ImageCall& call, const void* address, size_t bytes, bool is_write) {
  internal::Worker* const worker = internal::active_worker;
  if (worker == nullptr) return;
  if (worker->trace != nullptr) {
    worker->trace_access(is_write ? EventKind::write : EventKind::read, call.code, reinterpret_cast<uintptr_t>(address),
                         bytes);
  }
  const internal::HostScope host;
  if (worker->attention) worker->settle_stores();
  worker->check_access(reinterpret_cast<uintptr_t>(address), bytes,
                       is_write ? internal::AccessKind::write : internal::AccessKind::read, call.code, call.where);
}

void fail_image_access(const ImageCall& call, const char* headline, std::string&& why) {
  internal::Worker* const worker = internal::active_worker;
  if (worker == nullptr) {
    std::fprintf(stderr, "%s: %s\n", headline, why.c_str());
    std::abort();  // host code called a device function
  }
  const internal::HostScope host;
  internal::RawFault fault;
  fault.kind = FaultKind::out_of_bounds_global;
  fault.code = call.code;
  fault.location = call.where;
  fault.headline = headline;
  fault.detail = std::move(why);
  worker->fail(std::move(fault));
}

const ImageObject& object_for(const ImageCall& call, unsigned long long handle, bool is_surface,
                              const ImageShape& shape) {
  const char* const what = is_surface ? "surface" : "texture";
  const char* const headline = is_surface ? "invalid surface access" : "invalid texture read";
  const ImageObject* const object = object_of(handle);
  if (object == nullptr) {
    fail_image_access(call, headline,
                      fmt::format("{} gets a {} object that does not exist or was destroyed", call.name, what));
  }
  if (object->is_surface != is_surface) {
    fail_image_access(call, headline,
                      fmt::format("{} gets a {} object", call.name, is_surface ? "texture" : "surface"));
  }
  if (!has_shape(object->image, is_surface, shape)) {
    fail_image_access(call, headline,
                      fmt::format("{} accesses a {} with {}", call.name, what, shape_text(object->image)));
  }
  return *object;
}

}  // namespace convlab::simt::cuda::runtime
