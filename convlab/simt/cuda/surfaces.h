#pragma once

#include <cstddef>
#include <type_traits>

#include "convlab/simt/cuda/texture_objects.h"
#include "convlab/simt/where.h"

/// Reads and writes of surfaces in kernels, checked as loads and stores. x is in bytes. Values are stored as they are,
/// whatever the array's format. Cubemaps are not supported.
namespace convlab::simt::cuda {

/// What an access outside the surface does: reads 0 and writes nothing; goes to the nearest element; ends the kernel.
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };

namespace runtime {

struct SurfaceAccess {
  const char* call;
  int dimensions;
  bool is_layered = false;
  int x, y = 0, z = 0;  ///< z: the slice or layer
  cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap;
};

void read_surface(void* value, size_t bytes, cudaSurfaceObject_t object, const SurfaceAccess& access,
                  Where where) noexcept;
void write_surface(const void* value, size_t bytes, cudaSurfaceObject_t object, const SurfaceAccess& access,
                   Where where) noexcept;

template <class T>
constexpr void check_surface_type() {
  static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) & (sizeof(T) - 1)) == 0 && sizeof(T) <= 16,
                "surfaces are accessed with values of 1, 2, 4, 8 or 16 bytes");
}

}  // namespace runtime

// The three functions of each kind. In parentheses: parameters, fields of the access, arguments.
#define CONVLAB_SIMT_LIST(...) __VA_ARGS__
#define CONVLAB_SIMT_SURFACE(name, parameters, fields, arguments)                                                      \
  template <class T>                                                                                                   \
  T name##read(cudaSurfaceObject_t object, CONVLAB_SIMT_LIST parameters,                                               \
               cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, Where where = Where::current()) {                  \
    runtime::check_surface_type<T>();                                                                                  \
    T value;                                                                                                           \
    runtime::read_surface(&value, sizeof(T), object, {.call = #name "read", CONVLAB_SIMT_LIST fields, .mode = mode},   \
                          where);                                                                                      \
    return value;                                                                                                      \
  }                                                                                                                    \
  template <class T>                                                                                                   \
  void name##read(T* result, cudaSurfaceObject_t object, CONVLAB_SIMT_LIST parameters,                                 \
                  cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, Where where = Where::current()) {               \
    *result = name##read<T>(object, CONVLAB_SIMT_LIST arguments, mode, where);                                         \
  }                                                                                                                    \
  template <class T>                                                                                                   \
  void name##write(T value, cudaSurfaceObject_t object, CONVLAB_SIMT_LIST parameters,                                  \
                   cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, Where where = Where::current()) {              \
    runtime::check_surface_type<T>();                                                                                  \
    runtime::write_surface(&value, sizeof(T), object, {.call = #name "write", CONVLAB_SIMT_LIST fields, .mode = mode}, \
                           where);                                                                                     \
  }

CONVLAB_SIMT_SURFACE(surf1D, (int x), (.dimensions = 1, .x = x), (x))
CONVLAB_SIMT_SURFACE(surf2D, (int x, int y), (.dimensions = 2, .x = x, .y = y), (x, y))
CONVLAB_SIMT_SURFACE(surf3D, (int x, int y, int z), (.dimensions = 3, .x = x, .y = y, .z = z), (x, y, z))
CONVLAB_SIMT_SURFACE(surf1DLayered, (int x, int layer), (.dimensions = 1, .is_layered = true, .x = x, .z = layer),
                     (x, layer))
CONVLAB_SIMT_SURFACE(surf2DLayered, (int x, int y, int layer),
                     (.dimensions = 2, .is_layered = true, .x = x, .y = y, .z = layer), (x, y, layer))
#undef CONVLAB_SIMT_SURFACE
#undef CONVLAB_SIMT_LIST

template <class T>
T surfCubemapread(cudaSurfaceObject_t object, int x, int y, int face) = delete;
template <class T>
void surfCubemapwrite(T value, cudaSurfaceObject_t object, int x, int y, int face) = delete;

}  // namespace convlab::simt::cuda
