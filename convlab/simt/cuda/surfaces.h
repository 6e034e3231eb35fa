#pragma once

#include <cstddef>
#include <type_traits>

#include "convlab/simt/cuda/texture_objects.h"
#include "convlab/simt/where.h"

/// Reads and writes of surfaces in kernels, checked as loads and stores. x is in bytes. Values are stored as they are,
/// whatever the array's format. Each face of a cubemap is a layer: cubemap i has the layers 6 * i to 6 * i + 5.
namespace convlab::simt::cuda {

inline constexpr int cudaSurfaceType1D = 1, cudaSurfaceType2D = 2, cudaSurfaceType3D = 3, cudaSurfaceTypeCubemap = 0xc,
                     cudaSurfaceType1DLayered = 0xf1, cudaSurfaceType2DLayered = 0xf2,
                     cudaSurfaceTypeCubemapLayered = 0xfc;

/// What an access outside the surface does: reads 0 and writes nothing; goes to the nearest element; ends the kernel.
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };

namespace runtime {

struct SurfaceAccess {
  const char* call;
  int dimensions;
  bool is_layered = false, is_cubemap = false;
  int x, y = 0, z = 0;  ///< z: the slice, layer or face
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
CONVLAB_SIMT_SURFACE(surfCubemap, (int x, int y, int face),
                     (.dimensions = 2, .is_cubemap = true, .x = x, .y = y, .z = face), (x, y, face))
CONVLAB_SIMT_SURFACE(surfCubemapLayered, (int x, int y, int layer_face),
                     (.dimensions = 2, .is_layered = true, .is_cubemap = true, .x = x, .y = y, .z = layer_face),
                     (x, y, layer_face))
#undef CONVLAB_SIMT_SURFACE
#undef CONVLAB_SIMT_LIST

}  // namespace convlab::simt::cuda
