// Reads and writes surfaces.

#include "convlab/simt/cuda/surfaces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "convlab/simt/cuda/image_accesses.h"

namespace convlab::simt::cuda::runtime {
namespace {

constexpr const char* kHeadline = "invalid surface access";

// Returns the address of the element; nullptr outside the surface, if the mode lets the kernel go on.
char* element_at(const ImageCall& call, cudaSurfaceObject_t handle, SurfaceAccess access, size_t bytes) {
  const ImageObject& object = object_for(call, handle, true, {access.dimensions, access.is_layered, access.is_cubemap});
  const Image& image = object.image;
  const auto size = static_cast<int64_t>(bytes), row = static_cast<int64_t>(image.pitch);
  if (access.x % size != 0) {
    fail_image_access(call, kHeadline,
                      fmt::format("{} accesses {} bytes at x = {}, which is not a multiple of {}; x is in bytes",
                                  call.name, bytes, access.x, bytes));
  }
  const auto rows = static_cast<int64_t>(image.height), slices = static_cast<int64_t>(image.depth * image.layers);
  const bool is_inside =
      access.x >= 0 && access.x + size <= row && access.y >= 0 && access.y < rows && access.z >= 0 && access.z < slices;
  if (!is_inside) {
    if (access.mode == cudaBoundaryModeZero) return nullptr;
    if (access.mode == cudaBoundaryModeTrap) {
      fail_image_access(call, "out-of-bounds access to a surface",
                        fmt::format("{} accesses {} bytes at ({}, {}, {}); the surface has rows of {} bytes, {} rows "
                                    "and {} slices, layers or faces; x is in bytes",
                                    call.name, bytes, access.x, access.y, access.z, row, rows, slices));
    }
    access.x = static_cast<int>(std::clamp<int64_t>(access.x, 0, std::max<int64_t>(row - size, 0)));
    access.y = static_cast<int>(std::clamp<int64_t>(access.y, 0, rows - 1));
    access.z = static_cast<int>(std::clamp<int64_t>(access.z, 0, slices - 1));
  }
  return image.row(static_cast<size_t>(access.y), static_cast<size_t>(access.z)) + access.x;
}

}  // namespace

void read_surface(void* value, size_t bytes, cudaSurfaceObject_t object, const SurfaceAccess& access,
                  Where where) noexcept {
  const ImageCall call{access.call, where, __builtin_return_address(0)};
  const char* const address = element_at(call, object, access, bytes);
  if (address == nullptr) {
    std::memset(value, 0, bytes);
    return;
  }
  check_image_access(call, address, bytes, false);
  std::memcpy(value, address, bytes);
}

void write_surface(const void* value, size_t bytes, cudaSurfaceObject_t object, const SurfaceAccess& access,
                   Where where) noexcept {
  const ImageCall call{access.call, where, __builtin_return_address(0)};
  char* const address = element_at(call, object, access, bytes);
  if (address == nullptr) return;
  check_image_access(call, address, bytes, true);
  std::memcpy(address, value, bytes);
}

}  // namespace convlab::simt::cuda::runtime
