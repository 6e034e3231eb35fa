// Allocates CUDA arrays and copies to and from them.

#include "convlab/simt/cuda/cuda_arrays.h"

#include <fmt/format.h>

#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "convlab/simt/cuda/call_errors.h"
#include "convlab/simt/cuda/runtime.h"

namespace convlab::simt::cuda {

struct cudaArray {
  runtime::Image image;
  cudaExtent extent;  // as the program passed it
};

namespace {

struct State {
  std::mutex mutex;
  std::unordered_map<const cudaArray*, std::unique_ptr<cudaArray>> arrays;
};

State& state() {
  static State& one = *new State;  // never destroyed: a file's static objects may still free arrays at exit
  return one;
}

cudaError_t fail(std::string_view call, const Where& where, std::string_view why) {
  return failed(cudaErrorInvalidValue, call, where, why);
}

cudaError_t fail_no_array(std::string_view call, const Where& where) {
  return failed(cudaErrorInvalidResourceHandle, call, where, "this is not an array, or it was freed");
}

// Returns why an array cannot have this extent; "" if it can.
std::string_view extent_error(const cudaExtent& extent, unsigned flags) {
  constexpr unsigned kKnown = cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather;
  if ((flags & ~kKnown) != 0) return "simt does not support this flag";
  if (extent.width == 0) return "the width is 0";
  const bool is_layered = (flags & cudaArrayLayered) != 0;
  if (is_layered && extent.depth == 0) return "a layered array needs its number of layers as depth";
  if (!is_layered && extent.height == 0 && extent.depth != 0) return "an array with depth needs a height";
  if ((flags & cudaArrayCubemap) == 0) return "";
  if (extent.width != extent.height) return "the faces of a cubemap need the same width and height";
  if (!is_layered && extent.depth != runtime::kFaces) return "a cubemap needs a depth of 6, one for each face";
  if (extent.depth % runtime::kFaces != 0) return "a layered cubemap needs a multiple of 6 as depth";
  return "";
}

runtime::Image image_with(const cudaChannelFormatDesc& format, const cudaExtent& extent, unsigned flags) {
  runtime::Image image{.format = format, .width = extent.width, .flags = flags};
  if (extent.height > 0) image.height = extent.height;
  const bool has_layers = image.is_layered() || image.is_cubemap();
  if (extent.depth > 0) (has_layers ? image.layers : image.depth) = extent.depth;
  image.dimensions = extent.height == 0 ? 1 : (extent.depth == 0 || has_layers ? 2 : 3);
  image.pitch = image.width * runtime::texel_bytes(format);
  image.slice = image.pitch * image.height;
  return image;
}

// One side of a copy: an array's memory or the program's, from the copy's first byte.
struct Box {
  char* memory;
  size_t pitch, slice;
};

// Where a copy begins in an array, with x in bytes.
Box box_in(const runtime::Image& image, size_t x, size_t y, size_t z) {
  return {image.row(y, z) + x, image.pitch, image.slice};
}

bool contains(const runtime::Image& image, const cudaPos& at, size_t width, size_t height, size_t depth) {
  const size_t slices = image.depth * image.layers;
  return at.x <= image.pitch && width <= image.pitch - at.x && at.y <= image.height && height <= image.height - at.y &&
         at.z <= slices && depth <= slices - at.z;
}

std::string outside(const runtime::Image& image, const cudaPos& at, size_t width, size_t height, size_t depth) {
  return fmt::format("the copy of {}x{}x{} from ({}, {}, {}) is outside the array of {}x{}x{}, with x in bytes", width,
                     height, depth, at.x, at.y, at.z, image.pitch, image.height, image.depth * image.layers);
}

cudaError_t copy_boxes(const Box& to, const Box& from, size_t width, size_t height, size_t depth, cudaMemcpyKind kind,
                       const Where& where) {
  const bool is_dense = width == to.pitch && width == from.pitch;
  for (size_t z = 0; z < depth; ++z) {
    char *target = to.memory + z * to.slice, *source = from.memory + z * from.slice;
    if (is_dense) {
      if (const cudaError_t error = cudaMemcpy(target, source, width * height, kind, where); error != cudaSuccess) {
        return error;
      }
      continue;
    }
    for (size_t y = 0; y < height; ++y) {
      const cudaError_t error = cudaMemcpy(target + y * to.pitch, source + y * from.pitch, width, kind, where);
      if (error != cudaSuccess) return error;
    }
  }
  return cudaSuccess;
}

// An array is device memory, whatever the direction says of it.
cudaMemcpyKind kind_with(cudaMemcpyKind kind, bool to_array, bool from_array) {
  if (kind == cudaMemcpyDefault) return kind;
  const bool to_device = to_array || kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = from_array || kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (to_device) return from_device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice;
  return from_device ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost;
}

char* bytes_at(const void* memory) { return static_cast<char*>(const_cast<void*>(memory)); }

}  // namespace

namespace runtime {

const Image* image_of(cudaArray_const_t array) noexcept {
  std::lock_guard lock(state().mutex);
  return state().arrays.contains(array) ? &array->image : nullptr;
}

}  // namespace runtime

cudaError_t convlab_malloc_3d_array(const char* name, cudaArray_t* array, const cudaChannelFormatDesc* format,
                                    cudaExtent extent, unsigned flags, Where where) noexcept {
  const std::string_view call = extent.depth > 0 ? "cudaMalloc3DArray" : "cudaMallocArray";
  if (array == nullptr || format == nullptr) return fail(call, where, "a pointer is null");
  if (!runtime::is_texel_format(*format)) {
    return fail(call, where, "the format needs 1, 2 or 4 channels of 8, 16 or 32 bits");
  }
  if (const std::string_view why = extent_error(extent, flags); !why.empty()) return fail(call, where, why);
  auto made = std::make_unique<cudaArray>(cudaArray{image_with(*format, extent, flags), extent});
  runtime::Image& image = made->image;
  void* memory = nullptr;
  const cudaError_t error = runtime::allocate(&memory, image.slice * image.depth * image.layers, name, where);
  if (error != cudaSuccess) return error;
  image.memory = static_cast<char*>(memory);
  *array = made.get();
  std::lock_guard lock(state().mutex);
  state().arrays.emplace(*array, std::move(made));
  return cudaSuccess;
}

cudaError_t cudaFreeArray(cudaArray_t array, Where where) noexcept {
  if (array == nullptr) return cudaSuccess;
  void* memory = nullptr;
  {
    std::lock_guard lock(state().mutex);
    const auto found = state().arrays.find(array);
    if (found == state().arrays.end()) return fail_no_array("cudaFreeArray", where);
    memory = array->image.memory;
    state().arrays.erase(found);
  }
  return cudaFree(memory, where);
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array, Where where) noexcept {
  const runtime::Image* const image = runtime::image_of(array);
  if (image == nullptr) return fail_no_array("cudaGetChannelDesc", where);
  *format = image->format;
  return cudaSuccess;
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags, cudaArray_t array,
                             Where where) noexcept {
  const runtime::Image* const image = runtime::image_of(array);
  if (image == nullptr) return fail_no_array("cudaArrayGetInfo", where);
  if (format != nullptr) *format = image->format;
  if (extent != nullptr) *extent = array->extent;
  if (flags != nullptr) *flags = image->flags;
  return cudaSuccess;
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                size_t height, cudaMemcpyKind kind, Where where) noexcept {
  const runtime::Image* const image = runtime::image_of(to);
  if (image == nullptr) return fail_no_array("cudaMemcpy2DToArray", where);
  if (width > pitch) return fail("cudaMemcpy2DToArray", where, "a row is longer than its pitch");
  if (!contains(*image, {x, y, 0}, width, height, 1)) {
    return fail("cudaMemcpy2DToArray", where, outside(*image, {x, y, 0}, width, height, 1));
  }
  return copy_boxes(box_in(*image, x, y, 0), {bytes_at(from), pitch, 0}, width, height, 1, kind_with(kind, true, false),
                    where);
}

cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                  size_t height, cudaMemcpyKind kind, Where where) noexcept {
  const runtime::Image* const image = runtime::image_of(from);
  if (image == nullptr) return fail_no_array("cudaMemcpy2DFromArray", where);
  if (width > pitch) return fail("cudaMemcpy2DFromArray", where, "a row is longer than its pitch");
  if (!contains(*image, {x, y, 0}, width, height, 1)) {
    return fail("cudaMemcpy2DFromArray", where, outside(*image, {x, y, 0}, width, height, 1));
  }
  return copy_boxes({bytes_at(to), pitch, 0}, box_in(*image, x, y, 0), width, height, 1, kind_with(kind, false, true),
                    where);
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                                     size_t from_y, size_t width, size_t height, cudaMemcpyKind, Where where) noexcept {
  const runtime::Image *const target = runtime::image_of(to), *const source = runtime::image_of(from);
  if (target == nullptr || source == nullptr) return fail_no_array("cudaMemcpy2DArrayToArray", where);
  if (!contains(*target, {to_x, to_y, 0}, width, height, 1)) {
    return fail("cudaMemcpy2DArrayToArray", where, outside(*target, {to_x, to_y, 0}, width, height, 1));
  }
  if (!contains(*source, {from_x, from_y, 0}, width, height, 1)) {
    return fail("cudaMemcpy2DArrayToArray", where, outside(*source, {from_x, from_y, 0}, width, height, 1));
  }
  return copy_boxes(box_in(*target, to_x, to_y, 0), box_in(*source, from_x, from_y, 0), width, height, 1,
                    cudaMemcpyDeviceToDevice, where);
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes, cudaMemcpyKind kind,
                              Where where) noexcept {
  const runtime::Image* const image = runtime::image_of(to);
  if (image == nullptr) return fail_no_array("cudaMemcpyToArray", where);
  if (x > image->pitch || y > image->height || y * image->pitch + x + bytes > image->slice) {
    return fail("cudaMemcpyToArray", where, "the copy goes past the end of the array");
  }
  return cudaMemcpy(image->row(y, 0) + x, from, bytes, kind_with(kind, true, false), where);
}

cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes, cudaMemcpyKind kind,
                                Where where) noexcept {
  const runtime::Image* const image = runtime::image_of(from);
  if (image == nullptr) return fail_no_array("cudaMemcpyFromArray", where);
  if (x > image->pitch || y > image->height || y * image->pitch + x + bytes > image->slice) {
    return fail("cudaMemcpyFromArray", where, "the copy goes past the end of the array");
  }
  return cudaMemcpy(to, image->row(y, 0) + x, bytes, kind_with(kind, false, true), where);
}

namespace {

// One side of a cudaMemcpy3D, whose extent has the width in bytes. Returns an error, or sets `box`.
cudaError_t side_of_copy(cudaArray_t array, const cudaPitchedPtr& pointer, cudaPos at, const cudaExtent& extent,
                         Box* box, const Where& where) {
  if ((array != nullptr) == (pointer.ptr != nullptr)) {
    return fail("cudaMemcpy3D", where, "each side of the copy is either an array or a pointer");
  }
  if (array != nullptr) {
    const runtime::Image* const image = runtime::image_of(array);
    if (image == nullptr) return fail_no_array("cudaMemcpy3D", where);
    at.x *= runtime::texel_bytes(image->format);
    if (!contains(*image, at, extent.width, extent.height, extent.depth)) {
      return fail("cudaMemcpy3D", where, outside(*image, at, extent.width, extent.height, extent.depth));
    }
    *box = box_in(*image, at.x, at.y, at.z);
    return cudaSuccess;
  }
  if (at.x + extent.width > pointer.pitch) return fail("cudaMemcpy3D", where, "a row is longer than its pitch");
  if (extent.depth > 1 && at.y + extent.height > pointer.ysize) {
    return fail("cudaMemcpy3D", where, "a slice has more rows than the ysize of its cudaPitchedPtr");
  }
  const size_t slice = pointer.pitch * pointer.ysize;
  *box = {bytes_at(pointer.ptr) + at.z * slice + at.y * pointer.pitch + at.x, pointer.pitch, slice};
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* copy, Where where) noexcept {
  if (copy == nullptr) return fail("cudaMemcpy3D", where, "the parameters are null");
  const runtime::Image *const target = runtime::image_of(copy->dstArray), *const source =
                                                                              runtime::image_of(copy->srcArray);
  const size_t to_bytes = target != nullptr ? runtime::texel_bytes(target->format) : 0;
  const size_t from_bytes = source != nullptr ? runtime::texel_bytes(source->format) : 0;
  if (to_bytes != 0 && from_bytes != 0 && to_bytes != from_bytes) {
    return fail("cudaMemcpy3D", where, "the arrays have elements of different sizes");
  }
  cudaExtent extent = copy->extent;
  if (target != nullptr || source != nullptr) extent.width *= target != nullptr ? to_bytes : from_bytes;
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return cudaSuccess;
  Box to{}, from{};
  if (const cudaError_t error = side_of_copy(copy->dstArray, copy->dstPtr, copy->dstPos, extent, &to, where);
      error != cudaSuccess) {
    return error;
  }
  if (const cudaError_t error = side_of_copy(copy->srcArray, copy->srcPtr, copy->srcPos, extent, &from, where);
      error != cudaSuccess) {
    return error;
  }
  return copy_boxes(to, from, extent.width, extent.height, extent.depth,
                    kind_with(copy->kind, copy->dstArray != nullptr, copy->srcArray != nullptr), where);
}

}  // namespace convlab::simt::cuda
